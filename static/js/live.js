// Times in the viewer's zone, and what changes while a page is open.

// The server's clock. The device's may be wrong, so ages, countdowns and refreshes follow the time of the response.
const serverClock = {
  ahead: 0, // of the device's clock, in milliseconds
  now: () => Date.now() + serverClock.ahead,
};

{
  const [load] = performance.getEntriesByType("navigation");
  const received = Date.now() - performance.now() + (load?.responseStart ?? 0);
  const isOld = load?.transferSize < load?.encodedBodySize; // from the browser's cache
  const measured = Date.parse(document.documentElement.dataset.made) - received;
  serverClock.ahead = isOld ? storage.read("clock", 0, () => sessionStorage) : measured;
  storage.write("clock", serverClock.ahead, () => sessionStorage);
}

// Show times in the viewer's zone, in UTC or as Unix seconds. The server renders UTC.

const ownClock = new Intl.DateTimeFormat("sv", { dateStyle: "short", timeStyle: "medium" }); // 2026-11-30 16:05:09
// Only the viewer's own locale knows zone abbreviations such as EST.
const ownZone = new Intl.DateTimeFormat(undefined, { timeZoneName: "short" });
const { timeZone: ZONE } = ownZone.resolvedOptions();

function howTimesAreShown() {
  const way = storage.read("times");
  return ["utc", "unix"].includes(way) ? way : "local";
}

// In the server's format: with the date unless it's today.
function inOwnZone(at, isRough) {
  const [date, time] = ownClock.format(at).split(" ");
  const [today] = ownClock.format(serverClock.now()).split(" ");
  const zone = ownZone.formatToParts(at).find(({ type }) => type === "timeZoneName").value;
  return `${date === today ? "" : `${date} `}${isRough ? time.slice(0, 5) : time} ${zone}`;
}

function showTimes() {
  const way = howTimesAreShown();
  for (const time of document.querySelectorAll("time[data-at]")) {
    // Keep the server's text. Any other text was written by this script.
    if (time.textContent.endsWith(" UTC")) time.dataset.utc = time.textContent;
    const at = new Date(time.dateTime);
    if (way === "utc" || isNaN(at)) time.textContent = time.dataset.utc;
    else if (way === "unix") time.textContent = `${Math.floor(at / 1000)} Unix`;
    else time.textContent = inOwnZone(at, time.dataset.at === "minute");
  }
  for (const place of document.querySelectorAll("[data-zone-name]"))
    place.textContent = { utc: "UTC", unix: "Unix seconds", local: ZONE }[way];
  for (const choice of document.querySelectorAll("input[name=times]")) choice.checked = choice.value === way;
  askInZone();
}

// Convert date-time fields from UTC to the viewer's zone, except those the user has edited.
function askInZone() {
  const zone = document.querySelector("input[data-zone]");
  if (!zone) return;
  zone.value = (howTimesAreShown() === "local" && ZONE) || "UTC";
  for (const field of zone.form.querySelectorAll("input[data-seconds]")) {
    field.dataset.written ??= field.value;
    if (field.value !== field.dataset.written) continue;
    const at = new Date(field.dataset.seconds * 1000);
    const own = new Date(at - at.getTimezoneOffset() * 60_000);
    field.value = (zone.value === "UTC" ? at : own).toISOString().slice(0, 19);
    field.dataset.written = field.value;
  }
}

on("change", "input[name=times]", ({ value }) => storage.write("times", value) || showTimes());
keepShown(showTimes);

// Ages, countdowns and bars of an open transfer, each second.

const UNITS = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];

// In the server's format: the two largest units.
function duration(seconds) {
  const first = UNITS.findIndex(([, size]) => seconds >= size);
  if (first < 0) return "0 s";
  const [word, size] = UNITS[first];
  const [smaller, step] = UNITS[first + 1] ?? ["", Infinity];
  const rest = Math.floor((seconds % size) / step);
  return `${Math.floor(seconds / size)} ${word}` + (rest ? ` ${rest} ${smaller}` : "");
}

function ago(seconds) {
  const [word, size] = UNITS.find(([, size]) => seconds >= size) ?? ["s", 1];
  return seconds < 1 ? "just now" : `${Math.floor(seconds / size)} ${word} ago`;
}

function since(moment) {
  return Math.max(0, Math.floor((serverClock.now() - Date.parse(moment)) / 1000));
}

function tick() {
  for (const time of document.querySelectorAll("time[data-since]")) time.textContent = duration(since(time.dateTime));
  for (const time of document.querySelectorAll("time[data-until]")) {
    const left = (Date.parse(time.dateTime) - serverClock.now()) / 1000 - (time.dataset.ahead ?? 0);
    time.textContent = duration(Math.max(0, Math.floor(left)));
  }
  for (const words of document.querySelectorAll("[data-ago]"))
    words.textContent = ago(since(words.dataset.ago || words.nextElementSibling?.dateTime));
  for (const bar of document.querySelectorAll("rect[data-of]"))
    bar.setAttribute("width", Math.min(100, (since(bar.dataset.since) * 100) / bar.dataset.of));
}

// Some content changes with time alone: a quote expires, an estimate passes. Spread the requests of many viewers.
function askWhenDue() {
  const due = document.getElementById("due");
  if (!due || serverClock.now() < Date.parse(due.dataset.at) + 1000 + 4000 * Math.random()) return;
  due.dataset.at = "9999-12-31";
  htmx.trigger(due, "due");
}

// A slow response may be older than what the stream has brought meanwhile. A transfer never goes back to it.
document.addEventListener("htmx:before:swap", (event) => {
  const { sourceElement, text } = event.detail.ctx;
  const shown = document.querySelector("[data-now]")?.dataset.now;
  const [, given] = /data-now="([^"]+)"/.exec(text) ?? [];
  if (Date.parse(given) < Date.parse(shown) && sourceElement?.id !== "live") event.preventDefault();
});

// The tab's icon follows the status.
document.addEventListener("htmx:after:swap", () => {
  const favicon = document.querySelector("[data-favicon]");
  if (favicon) document.querySelector("link[rel=icon]").href = favicon.dataset.favicon;
  tick();
});

// While polls and the stream bring nothing, the page says since when.
const contact = {
  at: serverClock.now(),
  stream: null, // while it should be open

  show: (state) => (document.documentElement.dataset.stream = state),

  note() {
    contact.at = serverClock.now();
    document.getElementById("connection")?.replaceChildren();
  },

  lose() {
    const place = document.getElementById("connection");
    if (!place || place.firstChild) return;
    place.append(document.getElementById("connection-lost").content.cloneNode(true));
    const time = place.querySelector("time");
    time.dateTime = new Date(contact.at).toISOString();
    time.textContent = `${time.dateTime.slice(11, 16)} UTC`;
    showTimes();
  },

  // After two heartbeats (stream.py), open a connection that hangs again.
  check() {
    if (!contact.stream || serverClock.now() - contact.at < 35_000) return;
    contact.lose();
    contact.show("lost");
    contact.stream.reader?.cancel();
  },

  fail(source) {
    if (source?.matches("#live, #due, [hx-trigger*=every]")) contact.lose();
    else toast("Couldn't load. Check your connection and try again.");
  },
};

document.addEventListener("htmx:sse:after:connection", ({ detail }) => {
  contact.stream = detail.connection;
  contact.show("open");
  contact.note();
});
document.addEventListener("htmx:sse:after:message", contact.note);
document.addEventListener("htmx:sse:close", () => (contact.stream = null));
document.addEventListener("htmx:sse:error", () => contact.show("lost"));
document.addEventListener("htmx:error", ({ detail: { ctx } }) => ctx && contact.fail(ctx.sourceElement));
document.addEventListener("htmx:after:request", (event) => {
  const { response, sourceElement } = event.detail.ctx;
  if (response.status < 500 || response.headers.has("X-Request-ID")) return contact.note();
  event.preventDefault(); // the error page of a proxy
  contact.fail(sourceElement);
});
document.addEventListener("visibilitychange", () => (contact.at = serverClock.now())); // a hidden tab hears nothing

// A hidden tab sends no requests, unless its transfer is followed (details.js).
const isAsleep = () => document.hidden && !document.documentElement.hasAttribute("data-followed");

on("htmx:before:request", "#live, [hx-trigger*=every]:not(.export-run *)", (asking, event) => {
  if (!isAsleep()) return;
  event.preventDefault();
  if (asking.id === "live") document.addEventListener("visibilitychange", () => htmx.trigger(asking, "shown"), { once: true });
});

setInterval(() => {
  if (isAsleep()) return;
  tick();
  askWhenDue();
  contact.check();
}, 1000);
