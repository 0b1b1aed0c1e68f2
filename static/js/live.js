// Times in the viewer's zone, and what changes while a page is open.

// The server's clock. The device's may be wrong, so ages, countdowns and refreshes follow the time of the response.
// `ahead`: of the device's clock, in milliseconds.
const serverClock = { ahead: storage.read("clock", 0, () => sessionStorage), now: () => Date.now() + serverClock.ahead };
const [load] = performance.getEntriesByType("navigation");
const isFromCache = load?.transferSize < load?.encodedBodySize;
if (!isFromCache) {
  const received = Date.now() - performance.now() + (load?.responseStart ?? 0);
  serverClock.ahead = Date.parse(document.documentElement.dataset.made) - received;
  storage.write("clock", serverClock.ahead, () => sessionStorage);
}

// Show times in the viewer's zone, in UTC or as Unix seconds. The server renders UTC.

const ownClock = new Intl.DateTimeFormat("sv", { dateStyle: "short", timeStyle: "medium" }); // 2026-11-30 16:05:09
// Only the viewer's own locale knows zone abbreviations such as EST.
const ownZone = new Intl.DateTimeFormat(undefined, { timeZoneName: "short" });
const { timeZone: ZONE } = ownZone.resolvedOptions();

const howTimesAreShown = () => ["utc", "unix"].find((way) => way === storage.read("times")) ?? "local";

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

// In the server's format: the largest unit, and the next one unless it is 0.
function unitsOf(seconds) {
  const counts = UNITS.map(([word, size], at) => [Math.floor((seconds % (UNITS[at - 1]?.[1] ?? Infinity)) / size), word]);
  const first = counts.findIndex(([count]) => count);
  return counts.slice(first, first + 2).flatMap(([count, word]) => (count ? `${count} ${word}` : []));
}

const duration = (seconds) => unitsOf(seconds).join(" ") || "0 s";
const ago = (seconds) => (seconds < 1 ? "just now" : `${unitsOf(seconds)[0]} ago`);
const since = (moment) => Math.max(0, Math.floor((serverClock.now() - Date.parse(moment)) / 1000));

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
keepShown(() => {
  const favicon = document.querySelector("[data-favicon]");
  if (favicon) document.querySelector("link[rel=icon]").href = favicon.dataset.favicon;
  tick();
});

// While polls and the stream bring nothing, the page says since when.
let heardAt = serverClock.now();
let stream = null; // while it should be open

const showStream = (state) => (document.documentElement.dataset.stream = state);

function noteContact() {
  heardAt = serverClock.now();
  document.getElementById("connection")?.replaceChildren();
}

function showLoss() {
  const place = document.getElementById("connection");
  if (!place || place.firstChild) return;
  place.append(document.getElementById("connection-lost").content.cloneNode(true));
  const time = place.querySelector("time");
  time.dateTime = new Date(heardAt).toISOString();
  time.textContent = `${time.dateTime.slice(11, 16)} UTC`;
  showTimes();
}

function showFailure(source) {
  if (source?.matches("#live, #due, [hx-trigger*=every]")) showLoss();
  else toast("Couldn't load. Check your connection and try again.");
}

document.addEventListener("htmx:sse:after:connection", ({ detail }) => {
  stream = detail.connection;
  showStream("open");
  noteContact();
});
document.addEventListener("htmx:sse:after:message", noteContact);
document.addEventListener("htmx:sse:close", () => (stream = null));
document.addEventListener("htmx:sse:error", () => showStream("lost"));
document.addEventListener("htmx:error", ({ detail: { ctx } }) => ctx && showFailure(ctx.sourceElement));
document.addEventListener("htmx:after:request", (event) => {
  const { response, sourceElement } = event.detail.ctx;
  if (response.status < 500 || response.headers.has("X-Request-ID")) return noteContact();
  event.preventDefault(); // the error page of a proxy
  showFailure(sourceElement);
});
document.addEventListener("visibilitychange", () => (heardAt = serverClock.now())); // a hidden tab hears nothing

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
  if (!stream || serverClock.now() - heardAt < 35_000) return;
  // After two heartbeats (stream.py), open a connection that hangs again.
  showLoss();
  showStream("lost");
  stream.reader?.cancel();
}, 1000);
