// Show times in the viewer's zone, in UTC or as Unix seconds. The server renders UTC.

const ownClock = new Intl.DateTimeFormat("en-GB", {
  year: "numeric",
  month: "2-digit",
  day: "2-digit",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
});
// Only the viewer's own locale knows zone abbreviations such as EST.
const ownZone = new Intl.DateTimeFormat(undefined, { timeZoneName: "short" });

function howTimesAreShown() {
  const way = storage.read("times");
  return ["local", "utc", "unix"].includes(way) ? way : "local";
}

function inOwnZone(at) {
  const part = Object.fromEntries(ownClock.formatToParts(at).map(({ type, value }) => [type, value]));
  return {
    date: `${part.year.padStart(4, "0")}-${part.month}-${part.day}`,
    minute: `${part.hour}:${part.minute}`,
    second: part.second,
    zone: ownZone.formatToParts(at).find(({ type }) => type === "timeZoneName").value,
  };
}

// In the server's format: with the date unless it's today.
function withZone(at, today, isRough) {
  const { date, minute, second, zone } = inOwnZone(at);
  return (date === today ? "" : date + " ") + minute + (isRough ? "" : ":" + second) + " " + zone;
}

function showTimes() {
  const way = howTimesAreShown();
  const today = inOwnZone(new Date(serverClock.now())).date;
  for (const time of document.querySelectorAll("time[data-at]")) {
    // Keep the server's text. Any other text was written by this script.
    if (time.textContent.endsWith(" UTC")) time.dataset.utc = time.textContent;
    const at = new Date(time.dateTime);
    if (way === "utc" || isNaN(at)) time.textContent = time.dataset.utc;
    else if (way === "unix") time.textContent = `${Math.floor(at / 1000)} Unix`;
    else time.textContent = withZone(at, today, time.dataset.at === "minute");
  }
  const zone = { utc: "UTC", unix: "Unix seconds", local: Intl.DateTimeFormat().resolvedOptions().timeZone }[way];
  for (const place of document.querySelectorAll("[data-zone-name]")) place.textContent = zone;
  for (const choice of document.querySelectorAll("input[name=times]")) choice.checked = choice.value === way;
}

// Convert date-time fields from UTC to the viewer's zone, except those the user has edited.
function askInZone() {
  const zone = document.querySelector("input[data-zone]");
  if (!zone) return;
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  zone.value = howTimesAreShown() === "local" && timeZone ? timeZone : "UTC";
  for (const field of zone.form.querySelectorAll("input[data-seconds]")) {
    field.dataset.written ??= field.value;
    if (field.value !== field.dataset.written) continue;
    const at = new Date(field.dataset.seconds * 1000);
    const own = new Date(at - at.getTimezoneOffset() * 60_000);
    field.value = (zone.value === "UTC" ? at : own).toISOString().slice(0, 19);
    field.dataset.written = field.value;
  }
}

function useTimes() {
  showTimes();
  askInZone();
}

document.addEventListener("change", (event) => {
  if (event.target.name !== "times") return;
  storage.write("times", event.target.value);
  useTimes();
});

document.addEventListener("htmx:after:swap", useTimes);
// The choice changed in another tab, or the page was restored from the back/forward cache.
addEventListener("storage", (event) => event.key === "times" && useTimes());
addEventListener("pageshow", (event) => event.persisted && useTimes());

useTimes();
