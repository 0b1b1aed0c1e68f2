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

const comparable = (text) => text.toLowerCase().replaceAll(",", "").trim();

// With the full values of what is shortened.
function contentOf(fact) {
  const titles = Array.from(fact.querySelectorAll("[title]:not(button)"), (each) => each.title);
  return comparable([fact.textContent, fact.title, ...titles].join(" "));
}

function filterFields() {
  const fields = document.getElementById("fields");
  const query = comparable(document.getElementById("field-filter").value);
  const facts = Array.from(fields.querySelectorAll("[data-field], .arguments tbody tr"));
  for (const fact of facts) fact.hidden = !contentOf(fact).includes(query);
  for (const fold of fields.querySelectorAll("details")) {
    fold.dataset.wasOpen ??= fold.open;
    const hasMatch = Boolean(fold.querySelector(":is([data-field], .arguments tbody tr):not([hidden])"));
    fold.open = query ? hasMatch : fold.dataset.wasOpen === "true";
    if (!query) delete fold.dataset.wasOpen;
  }
  fields.toggleAttribute("data-filtered", Boolean(query));
  const count = facts.filter((fact) => !fact.hidden).length;
  document.getElementById("fields-found").textContent = query ? `${count} of ${facts.length} fields` : "";
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
const placeInList = paths.indexOf(location.pathname);
const neighbors = document.getElementById("neighbors");
if (neighbors && placeInList >= 0) {
  const [previous, list, next] = neighbors.children;
  Object.assign(list, { href: url, textContent: `${placeInList + 1} of ${paths.length} in the list` });
  for (const [link, path] of [[previous, paths[placeInList - 1]], [next, paths[placeInList + 1]]])
    if (path) link.href = path;
    else link.dataset.off = "";
}

// The height of rows.

const isCompact = () => document.documentElement.dataset.density === "compact";

keepShown(() => {
  for (const button of document.querySelectorAll("[data-action=density]")) button.setAttribute("aria-pressed", isCompact());
});

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

function finish(form, problem, words) {
  form.querySelector("#view-problem").textContent = problem;
  if (problem) return;
  closeMenu(form.closest("details"));
  toast(words);
}

on("submit", "[data-view]", (form, event) => {
  event.preventDefault();
  const name = form.elements.name.value.trim();
  finish(form, savedItems.add("views", { path: form.dataset.view, name, at: serverClock.now() }), "View saved (in this browser)");
});

on("click", "[data-remove-view]", ({ form }) => finish(form, savedItems.remove("views", form.dataset.view), "View removed"));

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
  const stateShown = () => document.querySelector("[data-state][data-words]")?.dataset;
  const isFollowed = () => Boolean(savedItems.page("followed", path));
  const isLookedAt = () => !document.hidden && document.hasFocus();

  let ownTitle = document.title;
  let unseen = "";
  let state = stateShown()?.state;
  let known; // the entries of an address's feed

  const note = (words) => toast(words, 10_000);

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
    if (isLookedAt()) return;
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

  function checkState() {
    const shown = stateShown();
    if (isFollowed() && shown && shown.state !== state) report(shown.words);
    state = shown?.state;
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
    if (isFollowed() && fresh.length) report(fresh[0].words + (fresh.length > 1 ? `, and ${fresh.length - 1} more` : ""));
    show();
  }

  function stopFollowing(words) {
    savedItems.remove("followed", path);
    note(words);
  }

  async function startFollowing() {
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
  }

  on("click", "[data-follow]", () => (isFollowed() ? stopFollowing("Unfollowed") : startFollowing()));

  // hx-sse closes the stream of a tab that is hidden. Before it hears of that, keep the stream of a followed transfer.
  document.addEventListener("visibilitychange", (event) => isFollowed() && document.hidden && event.stopImmediatePropagation());

  document.addEventListener("visibilitychange", show);
  addEventListener("focus", show);
  keepShown(show);
  document.addEventListener("htmx:finally:swap", checkState); // after htmx has set the page's title
  checkState();
  readFeed();
  setInterval(readFeed, 30_000);
}
