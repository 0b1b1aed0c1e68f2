// Load the current status of saved transfers in view, and again for followed ones that may change. Only their Intent IDs
// are sent.

const MOST_IDS = 20; // in one request
const HASH = /^0x[\da-f]{64}$/;
const REFRESH_EVERY = 10_000; // ms
const NOT_LOADED = "Status not loaded";

let statuses = new Map();

function place(id) {
  return document.querySelectorAll(`[data-status="${CSS.escape(id)}"]`);
}

function fill(row, part) {
  const shown = part.cloneNode(true);
  const amounts = shown.querySelector("[data-amounts]");
  amounts?.remove();
  if (amounts) row.closest("li").querySelector("a").textContent = amounts.textContent;
  row.replaceChildren(...shown.childNodes);
}

function tell(ids, words) {
  for (const id of ids) for (const row of place(id)) row.textContent = words;
}

async function load(ids) {
  tell(ids.filter((id) => !statuses.has(id)), "Loading status…");
  const loaded = new Map();
  try {
    const query = new URLSearchParams(ids.map((id) => ["id", id]));
    const response = await fetch(`/saved/status?${query}`, { signal: AbortSignal.timeout(20_000) });
    const made = document.createElement("template");
    if (response.ok) made.innerHTML = await response.text();
    for (const part of made.content.querySelectorAll("[data-status-of]")) loaded.set(part.dataset.statusOf, part);
  } catch {
    // The rows say so below.
  }
  tell(ids.filter((id) => !loaded.has(id)), NOT_LOADED);
  for (const [id, part] of loaded) {
    statuses.set(id, part);
    for (const row of place(id)) fill(row, part);
  }
}

// The server may reject an ID that isn't a hash, so send each of these alone.
function* batches(ids) {
  const hashes = ids.filter((id) => HASH.test(id));
  for (let at = 0; at < hashes.length; at += MOST_IDS) yield hashes.slice(at, at + MOST_IDS);
  for (const id of ids) if (!HASH.test(id)) yield [id];
}

const inView = new IntersectionObserver((entries) => {
  const rows = entries.filter((entry) => entry.isIntersecting).map((entry) => entry.target);
  for (const row of rows) inView.unobserve(row);
  for (const ids of batches([...new Set(rows.map((row) => row.dataset.status))])) load(ids);
});

function showStatuses() {
  inView.disconnect();
  for (const row of document.querySelectorAll("[data-status]")) {
    const part = statuses.get(row.dataset.status);
    if (part) fill(row, part);
    else inView.observe(row);
  }
}

function refreshFollowed() {
  const rows = document.querySelectorAll("[data-saved-list=followed] [data-status]");
  const open = Array.from(rows, (row) => row.dataset.status).filter((id) => statuses.get(id)?.hasAttribute("data-open"));
  if (!document.hidden) for (const ids of batches(open)) load(ids);
}

showStatuses();
setInterval(refreshFollowed, REFRESH_EVERY);
addEventListener("storagechange", showStatuses);
addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  statuses = new Map();
  showStatuses();
});
