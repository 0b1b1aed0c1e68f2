// The page of a transfer, and following it or an address.

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
    if (query) {
      fold.dataset.wasOpen ??= fold.open;
      fold.open = Boolean(fold.querySelector(":is([data-field], .arguments tbody tr):not([hidden])"));
    } else if (fold.dataset.wasOpen) {
      fold.open = fold.dataset.wasOpen === "true";
      delete fold.dataset.wasOpen;
    }
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

// Follow a transfer or an address while its tab is open, even in the background: changes since the tab was last looked at
// are a notification, and the tab's title and icon.
if (document.querySelector("[data-star]")) {
  const UNSEEN = "● ";

  const subject = pageShown();
  const iconLink = document.querySelector("link[rel=icon]");
  const ownIcon = iconLink.href;
  const switchShown = () => document.querySelector("[data-follow]");
  const stateShown = () => document.querySelector("[data-state][data-words]")?.dataset;
  const isLookedAt = () => !document.hidden && document.hasFocus();

  let isFollowed = Boolean(savedItems.page("followed", subject.path)); // storage may be unavailable
  let ownTitle = document.title;
  let unseen = "";
  let state = stateShown()?.state;
  let known; // the entries of an address's feed
  let pollTimer;

  const note = (words) => toast(words, 10_000);

  function show() {
    switchShown()?.setAttribute("aria-pressed", isFollowed);
    document.documentElement.toggleAttribute("data-followed", isFollowed); // live.js then keeps updating in a hidden tab
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
      const sent = new Notification(words, { body: ownTitle, tag: `${subject.path} ${words}`, icon: iconLink.href });
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
    if (isFollowed && shown && shown.state !== state) report(shown.words);
    state = shown?.state;
    if (isFollowed && shown && !switchShown()) stopFollowing(`Stopped following: transfer closed (${shown.words})`);
    show();
  }

  async function readFeed(url) {
    const response = await fetch(url);
    if (!response.ok) throw new Error(response.status);
    const feed = new DOMParser().parseFromString(await response.text(), "application/xml");
    return Array.from(feed.querySelectorAll("entry"), (entry) => {
      const words = entry.querySelector("title").textContent;
      return { key: entry.querySelector("link").getAttribute("href") + words, words };
    });
  }

  // An address has no event stream, so poll its feed, whose newest entries are first.
  async function pollFeed() {
    clearTimeout(pollTimer);
    try {
      const entries = await readFeed(switchShown().dataset.feed);
      const fresh = entries.filter(({ key }) => known && !known.has(key));
      known = new Set(entries.map(({ key }) => key));
      if (isFollowed && fresh.length) report(fresh[0].words + (fresh.length > 1 ? `, and ${fresh.length - 1} more` : ""));
    } catch {
      // The next poll may succeed.
    }
    show();
    clearTimeout(pollTimer);
    if (isFollowed) pollTimer = setTimeout(pollFeed, 30_000);
  }

  function setFollowed(isOn) {
    isFollowed = isOn;
    known = undefined;
    if (isOn && switchShown()?.dataset.feed) pollFeed();
    show();
  }

  function stopFollowing(words) {
    savedItems.remove("followed", subject.path);
    setFollowed(false);
    note(words);
  }

  async function startFollowing() {
    const problem = savedItems.add("followed", subject);
    setFollowed(true);
    const here = globalThis.Notification;
    const told = "Following while this tab is open. The tab title and icon show changes.";
    if (here?.permission === "default") {
      note(`${told} Allow notifications when your browser asks.`);
      await here.requestPermission();
    }
    const isAllowed = here?.permission === "granted";
    if (isFollowed) note(`${told} ${isAllowed ? "You'll also get notifications." : "Notifications are blocked."} ${problem}`);
  }

  on("click", "[data-follow]", () => (isFollowed ? stopFollowing("Unfollowed") : startFollowing()));

  // hx-sse closes the stream of a tab that is hidden. Before it hears of that, keep the stream of a followed transfer.
  document.addEventListener("visibilitychange", (event) => isFollowed && document.hidden && event.stopImmediatePropagation());

  // htmx sets the page's title between these two events.
  document.addEventListener("htmx:after:swap", show);
  document.addEventListener("htmx:finally:swap", checkState);

  function lookedAt() {
    if (!isLookedAt()) return;
    unseen = "";
    show();
  }

  document.addEventListener("visibilitychange", lookedAt);
  addEventListener("focus", lookedAt);

  // Followed, unfollowed or cleared in another tab.
  addEventListener("storage", () => {
    const isSaved = Boolean(savedItems.page("followed", subject.path));
    if (isSaved !== isFollowed) setFollowed(isSaved);
  });

  setFollowed(isFollowed);
  checkState();
}
