// Following a transfer or an address: what changes is told by notification and by the tab's title and icon, while the
// tab is open, also where nobody looks at it.

const UNSEEN = "● ";
const LOOK_EVERY = 30_000;
const LONGEST_PAUSE = 600_000;
const MOST_TOLD = 100;
const NOTE_STAYS = 10_000;

const subject = pageShown(); // of the pages with a switch: an intent or an address
const isIntent = subject.path.startsWith("/intent/");
const iconLink = document.querySelector("link[rel=icon]");
const ownIcon = iconLink.href;

let followed = book.page("followed", subject.path); // here too, because the browser may keep nothing
let heard = new Set(followed?.told);
let ownTitle = document.title;
let unseen = ""; // in words: what has changed since the tab was last looked at
let stream;
let timer;
let noteTimer;
let turn; // its end
let isSpeaking = !navigator.locks;
let failures = 0;

const switchShown = () => document.querySelector("[data-follow]");
const isLookedAt = () => !document.hidden && document.hasFocus();

function note(words) {
  document.querySelector("[data-follow-note]").textContent = words;
  hideNote();
}

// A note that was written where nobody looked stays until somebody does.
function hideNote() {
  clearTimeout(noteTimer);
  if (isLookedAt()) noteTimer = setTimeout(() => (document.querySelector("[data-follow-note]").textContent = ""), NOTE_STAYS);
}

function showTab() {
  if (!document.title.startsWith(UNSEEN)) ownTitle = document.title;
  document.title = unseen ? UNSEEN + unseen : ownTitle;
  const icon = switchShown()?.dataset.newsIcon;
  if (icon) iconLink.href = unseen ? icon : ownIcon;
}

function showFollowing() {
  switchShown()?.setAttribute("aria-pressed", Boolean(followed));
  document.documentElement.toggleAttribute("data-followed", Boolean(followed)); // live.js then goes on in a hidden tab
  showTab();
}

// Of several tabs one sends the notifications; the next one does when that is closed.
function takeTurn() {
  turn?.abort();
  turn = new AbortController();
  const { signal } = turn;
  const isOver = new Promise((over) => signal.addEventListener("abort", over));
  const speak = () => {
    isSpeaking = true;
    return isOver;
  };
  navigator.locks?.request(`follow ${subject.path}`, { signal }, speak).catch(() => {}); // ended before it came
}

function notify(words) {
  try {
    const sent = new Notification(words, { body: ownTitle, tag: subject.path, renotify: true, icon: iconLink.href });
    sent.onclick = () => {
      window.focus();
      sent.close();
    };
  } catch {
    // Unknown here, or only allowed to a service worker: the title and the icon say it.
  }
}

// `news`: what is so now, newest first; `key` names a state, which is told once, in whichever tab.
function hear(news) {
  const { told } = book.page("followed", subject.path) ?? followed;
  const fresh = news.filter(({ key }) => !heard.has(key));
  const untold = fresh.filter(({ key }) => !told?.includes(key));
  for (const { key } of fresh) heard.add(key);
  if (!told || untold.length) {
    followed.told = [...untold.map(({ key }) => key), ...(told ?? [])].slice(0, MOST_TOLD);
    const others = book.pages("followed").filter(({ path }) => path !== subject.path);
    kept.write("followed", [followed, ...others].slice(0, MOST.followed));
  }
  if (!told || !fresh.length || isLookedAt()) return;
  unseen = fresh[0].words + (fresh.length > 1 ? `, and ${fresh.length - 1} more` : "");
  if (untold.length && isSpeaking) notify(unseen);
}

function hearState() {
  if (!isIntent || !followed) return;
  const { state, words } = document.querySelector("[data-state]").dataset;
  hear([{ key: state, words }]);
  if (!switchShown()) stopFollowing(`No longer followed, because it is over: ${words}`);
}

// An address has no stream: its feed is asked for.
async function look() {
  clearTimeout(timer);
  try {
    const answer = await fetch(switchShown().dataset.feed);
    if (!answer.ok) throw new Error(answer.status);
    const { items } = await answer.json();
    failures = 0;
    if (followed) hear(items.map(({ url, title }) => ({ key: `${new URL(url).pathname} ${title}`, words: title })));
  } catch {
    failures += 1;
  }
  if (!followed) return;
  showFollowing();
  clearTimeout(timer);
  timer = setTimeout(look, Math.min(LOOK_EVERY * 2 ** failures, LONGEST_PAUSE));
}

function goOn() {
  heard = new Set(followed.told);
  takeTurn();
  // Whether it is this tab's turn is known in a moment; what begins now has nothing to tell.
  if (!isIntent) look();
  else if (followed.told) timer = setTimeout(hearState, 300);
  else hearState();
  showFollowing();
}

function goOff() {
  followed = undefined;
  clearTimeout(timer);
  turn?.abort();
  isSpeaking = !navigator.locks;
}

async function startFollowing() {
  const here = globalThis.Notification;
  followed = subject;
  const problem = book.add("followed", subject);
  goOn();
  const told = "Followed while this tab is open: its title and icon tell what changes";
  if (here?.permission === "default") {
    note(`${told}. May a notification tell it too? Your browser asks.`);
    await here.requestPermission();
  }
  if (!followed) return;
  const isAllowed = here?.permission === "granted";
  note(`${told}, ${isAllowed ? "and a notification does" : "and no notification: this browser refuses them"}. ${problem}`);
}

function stopFollowing(words) {
  goOff();
  book.remove("followed", subject.path);
  note(words);
  showFollowing();
}

function lookedAt() {
  if (!isLookedAt()) return;
  unseen = "";
  hideNote();
  showTab();
}

document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-follow]")) return;
  if (followed) stopFollowing("No longer followed");
  else startFollowing();
});

// hx-sse lets go of the stream when nobody looks at the tab; that of a followed transfer is held.
document.addEventListener("htmx:sse:before:connection", ({ detail: { connection } }) => {
  const pause = connection.visibilityHandler;
  if (!pause || pause === stream) return;
  document.removeEventListener("visibilitychange", pause);
  stream = connection.visibilityHandler = () => {
    if (!followed || !document.hidden) pause();
  };
  document.addEventListener("visibilitychange", stream);
});

// htmx gives the page its own title between these two.
document.addEventListener("htmx:after:swap", showFollowing);
document.addEventListener("htmx:finally:swap", () => {
  hearState();
  showTab();
});

document.addEventListener("visibilitychange", lookedAt);
addEventListener("focus", lookedAt);

// In another tab it was begun, ended or wiped.
addEventListener("storage", (event) => {
  if (event.key !== "followed" && event.key !== null) return;
  const page = book.page("followed", subject.path);
  if (Boolean(page) === Boolean(followed)) return;
  if (page) {
    followed = page;
    return goOn();
  }
  goOff();
  note("No longer followed");
  showFollowing();
  if (document.hidden) stream?.();
});

if (followed) goOn();
showFollowing();
