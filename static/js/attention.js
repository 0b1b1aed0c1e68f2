// Which customers were notified about their transfer. Kept in this browser only.
const MOST_NOTIFIED = 500;

function notifiedIds() {
  const known = storage.read("notified", []);
  return Array.isArray(known) ? known.filter((each) => typeof each === "string") : [];
}

function showNotified() {
  const notified = new Set(notifiedIds());
  for (const box of document.querySelectorAll("[data-notified]")) box.checked = notified.has(box.dataset.notified);
}

document.addEventListener("change", (event) => {
  const id = event.target.dataset.notified;
  if (!id) return;
  const others = notifiedIds().filter((each) => each !== id);
  storage.write("notified", (event.target.checked ? [...others, id] : others).slice(-MOST_NOTIFIED));
});
document.addEventListener("htmx:after:swap", showNotified);
addEventListener("storagechange", showNotified);
showNotified();
