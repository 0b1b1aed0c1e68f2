// The action bar of a transfer's page, and what its buttons do.

function copyReport(id, words) {
  const text = document.getElementById(id)?.value;
  if (text) copyText(text, words);
  else toast("Couldn't copy. The receipt couldn't be loaded.");
}

const ACTIONS = {
  reply: () => copyReport("reply-plain", "Copied customer reply"),
  escalation: () => copyReport("escalation-plain", "Copied escalation"),
  link: copyLink,
  print: () => print(),
};

on("click", ".action-bar [data-action]", (control, event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return; // a link opens in another tab
  event.preventDefault();
  if (control.closest("details")) closeMenu(control.closest("details"));
  ACTIONS[control.dataset.action]();
});

// The texts end with the page's link. Those of a stream don't know the host.
keepShown(() => {
  for (const text of document.querySelectorAll("#reply textarea")) text.value = text.defaultValue.replace(/\S+\s*$/, `${pageLink()}\n`);
});

// The bar repeats the status once the answer is above it.
const actionBar = document.getElementById("bar");
if (actionBar) {
  const showAnswer = () => {
    const answer = document.querySelector(".answer h1");
    const isAbove = answer && answer.getBoundingClientRect().bottom < actionBar.getBoundingClientRect().bottom;
    actionBar.toggleAttribute("data-stuck", Boolean(isAbove));
  };
  addEventListener("scroll", showAnswer, { passive: true });
}

// Filter of a transfer's fields. Folds that it opens are closed once it is empty again.

const FACTS = "[data-field], .arguments tbody tr";
const GROUPS = ".fold, .record, .chapter, .calls > li, .calls > li > details";
const openedByFilter = new Set();

const comparable = (text) => text.toLowerCase().replaceAll(",", "").trim();

// The visible text, and the full values of what is shortened.
function contentOf(fact) {
  const copy = fact.cloneNode(true);
  for (const each of copy.querySelectorAll(".visually-hidden, button")) each.remove();
  const titles = Array.from(copy.querySelectorAll("[title]"), (each) => each.title);
  return comparable([copy.textContent, ...titles].join(" "));
}

function openMatching(group, isMatching) {
  if (isMatching && !group.open) {
    openedByFilter.add(group);
    group.open = true;
  } else if (!isMatching && openedByFilter.delete(group)) {
    group.open = false;
  }
}

function filterFields() {
  const fields = document.getElementById("fields");
  const query = comparable(document.getElementById("field-filter").value);
  const facts = Array.from(fields.querySelectorAll(FACTS));
  for (const fact of facts) fact.hidden = !contentOf(fact).includes(query);
  for (const group of fields.querySelectorAll(GROUPS)) {
    const isMatching = query && group.querySelector(`:is(${FACTS}):not([hidden])`);
    group.hidden = query && !isMatching;
    if (group.localName === "details") openMatching(group, isMatching);
  }
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
document.addEventListener("htmx:before:request", (event) => {
  const fold = event.target;
  if (fold.matches?.("#proof, #fields .fold") && (!fold.open || openedByFilter.has(fold))) event.preventDefault();
});

// Follow a transfer or an address: report changes by notification and by the tab's title and icon while the tab is
// open, even in the background.
if (document.querySelector("[data-follow-note]")) {
  const UNSEEN = "● ";
  const POLL_EVERY = 30_000;
  const LONGEST_PAUSE = 600_000;
  const MAX_REPORTED = 100;
  const NOTE_STAYS = 10_000;

  const subject = pageShown(); // the transfer or address of this page
  const isIntent = subject.path.startsWith("/intent/");
  const iconLink = document.querySelector("link[rel=icon]");
  const ownIcon = iconLink.href;
  const place = () => document.querySelector("[data-follow-note]");

  let followed = savedItems.page("followed", subject.path); // a copy, because storage may be unavailable
  let reported = new Set(followed?.told);
  let ownTitle = document.title;
  let unseen = ""; // text: changes since the tab was last focused
  let stream, timer, noteTimer;
  let turn; // AbortController that ends it
  let isSpeaking = !navigator.locks;
  let failures = 0;

  const switchShown = () => document.querySelector("[data-follow]");
  const isLookedAt = () => !document.hidden && document.hasFocus();

  function note(words) {
    place().textContent = words;
    hideNote();
  }

  // A note written in a background tab stays until the tab is focused.
  function hideNote() {
    clearTimeout(noteTimer);
    if (isLookedAt()) noteTimer = setTimeout(() => (place().textContent = ""), NOTE_STAYS);
  }

  function showFollowing() {
    switchShown()?.setAttribute("aria-pressed", Boolean(followed));
    document.documentElement.toggleAttribute("data-followed", Boolean(followed)); // live.js then keeps updating in a hidden tab
    if (!document.title.startsWith(UNSEEN)) ownTitle = document.title;
    document.title = unseen ? UNSEEN + unseen : ownTitle;
    const icon = switchShown()?.dataset.newsIcon;
    if (icon) iconLink.href = unseen ? icon : ownIcon;
  }

  // Only one of several tabs sends notifications. When it closes, the next takes over.
  function takeTurn() {
    turn?.abort();
    turn = new AbortController();
    const { signal } = turn;
    const isOver = new Promise((over) => signal.addEventListener("abort", over));
    const speak = () => {
      isSpeaking = true;
      return isOver;
    };
    navigator.locks?.request(`follow ${subject.path}`, { signal }, speak).catch(() => {}); // aborted before the lock was granted
  }

  function notify(words) {
    try {
      const sent = new Notification(words, { body: ownTitle, tag: subject.path, renotify: true, icon: iconLink.href });
      sent.onclick = () => {
        window.focus();
        sent.close();
      };
    } catch {
      // Unsupported, or allowed in service workers only. The title and the icon still show it.
    }
  }

  // `news`: current items, newest first. Each `key` is reported once across tabs.
  function onNews(news) {
    const { told } = savedItems.page("followed", subject.path) ?? followed;
    const fresh = news.filter(({ key }) => !reported.has(key));
    // Only the tab that notifies records what was reported, or another tab's record would keep it silent.
    const unreported = told && !isSpeaking ? [] : fresh.filter(({ key }) => !told?.includes(key));
    for (const { key } of fresh) reported.add(key);
    if (!told || unreported.length) {
      followed.told = [...unreported.map(({ key }) => key), ...(told ?? [])].slice(0, MAX_REPORTED);
      storage.write("followed", [followed, ...savedItems.others("followed", subject.path)].slice(0, MOST.followed));
    }
    if (!told || !fresh.length || isLookedAt()) return;
    unseen = fresh[0].words + (fresh.length > 1 ? `, and ${fresh.length - 1} more` : "");
    if (unreported.length) notify(unseen);
  }

  function onStateChange() {
    if (!isIntent || !followed) return;
    const { state, words } = document.querySelector("[data-state]").dataset;
    onNews([{ key: state, words }]);
    if (!switchShown()) stopFollowing(`Stopped following: transfer closed (${words})`);
  }

  async function readFeed() {
    const answer = await fetch(switchShown().dataset.feed);
    if (!answer.ok) throw new Error(answer.status);
    const feed = new DOMParser().parseFromString(await answer.text(), "application/xml").querySelector("feed");
    return [...feed.querySelectorAll("entry")].map((entry) => {
      const words = entry.querySelector("title").textContent;
      return { key: `${new URL(entry.querySelector("link").getAttribute("href")).pathname} ${words}`, words };
    });
  }

  // An address has no event stream, so poll its feed.
  async function pollFeed() {
    clearTimeout(timer);
    try {
      const news = await readFeed();
      failures = 0;
      if (followed) onNews(news);
    } catch {
      failures += 1;
    }
    if (!followed) return;
    showFollowing();
    clearTimeout(timer);
    timer = setTimeout(pollFeed, Math.min(POLL_EVERY * 2 ** failures, LONGEST_PAUSE));
  }

  function resume() {
    reported = new Set(followed.told);
    takeTurn();
    // Wait briefly for the lock. A newly followed transfer has nothing to report yet.
    if (!isIntent) pollFeed();
    else if (followed.told) timer = setTimeout(onStateChange, 300);
    else onStateChange();
    showFollowing();
  }

  function stop(words) {
    followed = undefined;
    clearTimeout(timer);
    turn?.abort();
    isSpeaking = !navigator.locks;
    note(words);
    showFollowing();
  }

  function stopFollowing(words) {
    stop(words);
    savedItems.remove("followed", subject.path);
  }

  async function startFollowing() {
    const here = globalThis.Notification;
    followed = subject;
    const problem = savedItems.add("followed", subject);
    resume();
    const told = "Following while this tab is open. The tab title and icon show changes.";
    if (here?.permission === "default") {
      note(`${told} Allow notifications when your browser asks.`);
      await here.requestPermission();
    }
    const isAllowed = here?.permission === "granted";
    if (followed) note(`${told} ${isAllowed ? "You'll also get notifications." : "Notifications are blocked."} ${problem}`);
  }

  function lookedAt() {
    if (!isLookedAt()) return;
    unseen = "";
    hideNote();
    showFollowing();
  }

  on("click", "[data-follow]", () => (followed ? stopFollowing("Unfollowed") : startFollowing()));

  // hx-sse closes the stream in a hidden tab. Keep it open for a followed transfer.
  document.addEventListener("htmx:sse:before:connection", ({ detail: { connection } }) => {
    const pause = connection.visibilityHandler;
    if (!pause || pause === stream) return;
    document.removeEventListener("visibilitychange", pause);
    stream = connection.visibilityHandler = () => {
      if (!followed || !document.hidden) pause();
    };
    document.addEventListener("visibilitychange", stream);
  });

  // htmx sets the page's title between these two events.
  document.addEventListener("htmx:after:swap", showFollowing);
  document.addEventListener("htmx:finally:swap", () => {
    onStateChange();
    showFollowing();
  });

  document.addEventListener("visibilitychange", lookedAt);
  addEventListener("focus", lookedAt);

  // Followed, unfollowed or cleared in another tab.
  addEventListener("storage", (event) => {
    if (event.key !== "followed" && event.key !== null) return;
    const page = savedItems.page("followed", subject.path);
    if (Boolean(page) === Boolean(followed)) return;
    followed = page;
    if (page) return resume();
    stop("Unfollowed");
    if (document.hidden) stream?.();
  });

  if (followed) resume();
  showFollowing();
}
