// What every page but the start page has: transfers, lists, saved items, and following a transfer or an address.

on("click", "[data-action=link]", copyLink);
on("click", "[data-action=print]", () => print());

// The texts end with the page's link. Those of a stream don't know the host.
keepShown(() => {
  for (const text of document.querySelectorAll("#reply textarea")) text.value = text.defaultValue.replace(/\S+\s*$/, `${pageLink()}\n`);
});

// The bar repeats the status once the answer is above it.
const answer = document.querySelector(".answer h1");
const actionBar = document.getElementById("bar");
if (answer && actionBar) {
  const showAnswer = ([{ isIntersecting, boundingClientRect }]) =>
    actionBar.toggleAttribute("data-stuck", !isIntersecting && boundingClientRect.top < innerHeight / 2);
  new IntersectionObserver(showAnswer, { rootMargin: `-${actionBar.offsetHeight}px 0px 0px` }).observe(answer);
}

// Filter of a transfer's fields: while there is one, the folds with matching fields are open (transfer.css hides the others).

const FACT = ":is([data-field], .arguments tbody tr)";
const comparable = (text) => text.toLowerCase().replaceAll(",", "").trim();

function filterFields() {
  const fields = document.getElementById("fields");
  const query = comparable(document.getElementById("field-filter").value);
  const facts = fields.querySelectorAll(FACT);
  for (const fact of facts) {
    const titles = Array.from(fact.querySelectorAll("[title]:not(button)"), (each) => each.title); // of what is shortened
    fact.hidden = !comparable([fact.textContent, fact.title, ...titles].join(" ")).includes(query);
  }
  const found = fields.querySelectorAll(`${FACT}:not([hidden])`);
  for (const fold of fields.querySelectorAll("details")) {
    fold.dataset.wasOpen ??= fold.open;
    fold.open = query ? Array.from(found).some((fact) => fold.contains(fact)) : fold.dataset.wasOpen === "true";
    if (!query) delete fold.dataset.wasOpen;
  }
  fields.toggleAttribute("data-filtered", Boolean(query));
  document.getElementById("fields-found").textContent = query ? `${found.length} of ${facts.length} fields` : "";
}

on("input", "#field-filter", filterFields);
on("keydown", "#field-filter", (field, event) => {
  if (event.key !== "Escape") return;
  field.value = "";
  filterFields();
});
document.addEventListener("htmx:after:swap", (event) => event.detail?.ctx?.target?.id === "fields" && filterFields());

// Only unfolding by the user loads the current values.
on("htmx:before:request", "#proof, #fields .fold", (fold, event) => {
  if (!fold.open || fold.dataset.wasOpen) event.preventDefault();
});

// The transfers before and after this one, in the list from which this tab opened it.

const { url, paths } = openedList();
const place = paths.indexOf(location.pathname);
const neighbors = document.getElementById("neighbors");
if (neighbors && place >= 0) {
  for (const [at, href] of [paths[place - 1], url, paths[place + 1]].entries()) if (href) neighbors.children[at].href = href;
  neighbors.children[1].textContent = `${place + 1} of ${paths.length} in the list`;
}

// The height of rows (head.js).
on("click", "[data-action=density]", () => {
  if (!storage.write("density", isCompact() ? "comfortable" : "compact")) toast(REFUSED);
});

// Saved views: the filters of the history under a name. saved.js shows them above the list.

keepShown(() => {
  const form = document.querySelector("[data-view]");
  if (!form) return;
  const saved = savedItems.page("views", form.dataset.view);
  form.elements.name.value = saved?.name ?? "";
  form.querySelector("[data-remove-view]").hidden = !saved;
  form.closest("details").querySelector("summary").textContent = saved ? "Saved view" : "Save view";
});

on("submit", "[data-view]", (form, event) => {
  event.preventDefault();
  const view = { path: form.dataset.view, name: form.elements.name.value.trim(), at: serverClock.now() };
  const isRemoved = event.submitter.matches("[data-remove-view]");
  const problem = isRemoved ? savedItems.remove("views", view.path) : savedItems.add("views", view);
  form.querySelector("#view-problem").textContent = problem;
  if (problem) return;
  closeMenu(form.closest("details"));
  toast(isRemoved ? "View removed" : "View saved (in this browser)");
});

// The page of saved items: remove and clear.
const forgetful = document.getElementById("forgetful");
if (forgetful) {
  // Remove the row, then focus the row that takes its place, or the list's heading.
  on("click", "[data-remove]", (button) => {
    const section = button.closest("section");
    const at = Array.from(section.querySelectorAll("li")).indexOf(button.closest("li"));
    announce(savedItems.remove(section.dataset.savedList, button.dataset.remove) || "Removed");
    const rest = section.querySelectorAll("li button");
    (rest[Math.min(at, rest.length - 1)] ?? section.querySelector("h2")).focus();
  });

  on("click", "[data-wipe]", () => {
    localStorage.clear();
    sessionStorage.clear();
    document.cookie = "columns=; path=/; max-age=0";
    location.reload();
  });

  forgetful.addEventListener("change", () => {
    const problem = savedItems.save("keep-looked-up", !forgetful.checked);
    if (forgetful.checked) savedItems.save("looked-up", []);
    announce(problem || (forgetful.checked ? "Search history cleared" : "Search history is on"));
  });

  const isAllowed = storage.write("asked", "");
  if (isAllowed) localStorage.removeItem("asked");
  document.querySelector("[data-refused]").hidden = isAllowed;
  keepShown(() => (forgetful.checked = !storage.read("keep-looked-up", true)));
}

// Follow a transfer or an address while its tab is open, even in the background: changes since the tab was last looked at
// are a notification, and the tab's title and icon.
if (document.querySelector("[data-star]")) {
  const UNSEEN = "● ";

  const { path } = pageShown();
  const iconLink = document.querySelector("link[rel=icon]");
  const ownIcon = iconLink.href;
  const switchShown = () => document.querySelector("[data-follow]");
  const isFollowed = () => Boolean(savedItems.page("followed", path));
  const isLookedAt = () => !document.hidden && document.hasFocus();
  const note = (words) => toast(words, 10_000);

  let ownTitle = document.title;
  let unseen = "";
  let state; // of a transfer
  let known; // the entries of an address's feed

  function show() {
    if (isLookedAt()) unseen = "";
    switchShown()?.setAttribute("aria-pressed", isFollowed());
    document.documentElement.toggleAttribute("data-followed", isFollowed()); // live.js then keeps updating in a hidden tab
    if (!document.title.startsWith(UNSEEN)) ownTitle = document.title;
    document.title = unseen ? UNSEEN + unseen : ownTitle;
    const icon = switchShown()?.dataset.newsIcon;
    if (icon) iconLink.href = unseen ? icon : ownIcon;
  }

  // Of several tabs that send a notification with the same tag, the browser shows one.
  function report(words) {
    if (!isFollowed() || isLookedAt()) return;
    unseen = words;
    try {
      const sent = new Notification(words, { body: ownTitle, tag: `${path} ${words}`, icon: iconLink.href });
      sent.onclick = () => {
        window.focus();
        sent.close();
      };
    } catch {
      // Unsupported, or allowed in service workers only. The title and the icon still show it.
    }
  }

  function stopFollowing(words) {
    savedItems.remove("followed", path);
    note(words);
  }

  function checkState() {
    const shown = document.querySelector("[data-state][data-words]")?.dataset;
    if (state && shown && shown.state !== state) report(shown.words);
    state = shown?.state ?? state;
    if (isFollowed() && shown && !switchShown()) stopFollowing(`Stopped following: transfer closed (${shown.words})`);
    show();
  }

  // An address has no event stream, so read its feed, whose newest entries are first.
  async function readFeed() {
    const url = isFollowed() && switchShown()?.dataset.feed;
    if (!url) return (known = undefined);
    const response = await fetch(url).catch(() => null);
    if (!response?.ok) return; // the next one may succeed
    const feed = new DOMParser().parseFromString(await response.text(), "application/xml");
    const entries = Array.from(feed.querySelectorAll("entry"), (entry) => {
      const words = entry.querySelector("title").textContent;
      return { key: entry.querySelector("link").getAttribute("href") + words, words };
    });
    const fresh = entries.filter(({ key }) => known && !known.has(key));
    known = new Set(entries.map(({ key }) => key));
    if (fresh.length) report(fresh[0].words + (fresh.length > 1 ? `, and ${fresh.length - 1} more` : ""));
    show();
  }

  on("click", "[data-follow]", async () => {
    if (isFollowed()) return stopFollowing("Unfollowed");
    const problem = savedItems.add("followed", pageShown());
    if (problem) return note(problem);
    readFeed();
    const browser = globalThis.Notification;
    const told = "Following while this tab is open. The tab title and icon show changes.";
    if (browser?.permission === "default") {
      note(`${told} Allow notifications when your browser asks.`);
      await browser.requestPermission();
    }
    const isAllowed = browser?.permission === "granted";
    if (isFollowed()) note(`${told} ${isAllowed ? "You'll also get notifications." : "Notifications are blocked."}`);
  });

  // hx-sse closes the stream of a tab that is hidden. Before it hears of that, keep the stream of a followed transfer.
  document.addEventListener("visibilitychange", (event) => {
    if (isFollowed() && document.hidden) event.stopImmediatePropagation();
    show();
  });
  addEventListener("focus", show);
  keepShown(show);
  document.addEventListener("htmx:finally:swap", checkState); // after htmx has set the page's title
  checkState();
  readFeed();
  setInterval(readFeed, 30_000);
}
