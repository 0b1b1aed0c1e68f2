// Recent searches and starred pages, saved in this browser. Only Intent IDs are sent (below).

const MOST = { "looked-up": 50, starred: 200, followed: 20, views: 20 };
const LONGEST = { name: 120, told: 300 };
// The only paths that may be saved, so that storage can't add other links.
const PATH = /^\/(?:(?:intent|address)\/[\w.:~-]{1,200}|search\?q=[\w%.~!'()*-]{1,600})$/;
const VIEW = /^\/history\?[\w%.~*+&=-]{1,600}$/;
const REFUSED = "Couldn't save. Browser storage is full or blocked.";

const isText = (value) => typeof value === "string";

// The valid entries of storage. `told`: the changes that transfer.js has reported for a page.
function readPages(value, list) {
  const pages = Array.isArray(value) ? value : [];
  return pages
    .filter((page) => isText(page?.path) && (list === "views" ? VIEW : PATH).test(page.path) && isText(page.name) && Number.isFinite(page.at))
    .map(({ path, name, at, told }) => ({
      path,
      name: name.slice(0, LONGEST.name),
      at: Math.min(Math.max(at, 0), serverClock.now()),
      ...(Array.isArray(told) && { told: told.filter(isText).map((words) => words.slice(0, LONGEST.told)).slice(0, 100) }),
    }))
    .filter((page, at, all) => all.findIndex(({ path }) => path === page.path) === at)
    .slice(0, MOST[list]);
}

// Functions that change it return an error message, or "" on success.
const savedItems = {
  pages: (list) => readPages(storage.read(list, []), list),
  page: (list, path) => savedItems.pages(list).find((page) => page.path === path),

  // Old searches are dropped at the limit. Starred and followed pages and views are not.
  add(list, page) {
    const others = savedItems.pages(list).filter(({ path }) => path !== page.path);
    if (list !== "looked-up" && others.length >= MOST[list]) return `Limit of ${MOST[list]} reached. Remove a ${list === "views" ? "view" : `${list} item`} first.`;
    return savedItems.save(list, [page, ...others].slice(0, MOST[list]));
  },

  remove: (list, path) => savedItems.save(list, savedItems.pages(list).filter((page) => page.path !== path)),

  save: (name, value) => (storage.write(name, value) ? "" : REFUSED),
};

// The page's transfer, address or search; null on other pages.
function pageShown() {
  const star = document.querySelector("[data-star]");
  const asked = document.querySelector("[data-asked]")?.dataset.asked; // identifiers only: a message may be private
  if (star) return { path: star.dataset.star, name: star.dataset.name, at: serverClock.now() };
  return asked ? { path: `/search?q=${encodeURIComponent(asked)}`, name: asked.slice(0, LONGEST.name), at: serverClock.now() } : null;
}

function record() {
  const page = pageShown();
  if (page && PATH.test(page.path) && storage.read("keep-looked-up", true)) savedItems.add("looked-up", page);
}

function showStar() {
  for (const star of document.querySelectorAll("[data-star]"))
    star.setAttribute("aria-pressed", Boolean(savedItems.page("starred", star.dataset.star)));
}

// Names of the saved page types, by path prefix.
const KINDS = { intent: "Transfer", address: "Address", search: "Search", history: "View" };

function row(template, { path, name, at }) {
  const made = template.content.cloneNode(true);
  const [, kind, rest] = path.match(/^\/(\w+)[/?](.*)$/);
  const link = made.querySelector("a");
  link.href = path;
  link.textContent = name;
  made.querySelector("[data-kind-of]").textContent = KINDS[kind];
  if (kind === "intent") made.querySelector("[data-id]").textContent = `${rest.slice(0, 8)}…${rest.slice(-6)}`;
  const status = made.querySelector("[data-status]");
  if (kind === "intent" && status) status.dataset.status = rest;
  else status?.remove();
  made.querySelector("[data-ago]").dataset.ago = new Date(at).toISOString();
  const remove = made.querySelector("[data-remove]");
  if (remove) {
    remove.dataset.remove = path;
    remove.setAttribute("aria-label", `Remove ${KINDS[kind].toLowerCase()}: ${name}`);
  }
  return made;
}

function showList(section) {
  const list = section.dataset.savedList;
  const pages = savedItems.pages(list);
  const shown = pages.slice(0, section.dataset.most ?? pages.length);
  section.querySelector("ul").replaceChildren(...shown.map((page) => row(section.querySelector("template"), page)));
  section.hidden = !pages.length;
  const count = section.querySelector("[data-count]");
  if (count) count.textContent = pages.length > shown.length ? `All ${pages.length}` : "View all";
}

function showSavedItems() {
  for (const section of document.querySelectorAll("[data-saved-list]")) showList(section);
  showStar();
  tick();
}

document.addEventListener("click", (event) => {
  const star = event.target.closest("[data-star]");
  if (!star) return;
  const isStarred = savedItems.page("starred", star.dataset.star);
  const problem = isStarred ? savedItems.remove("starred", star.dataset.star) : savedItems.add("starred", pageShown());
  say(problem || (isStarred ? "Star removed" : "Starred (saved in this browser)"));
});

document.addEventListener("htmx:after:swap", showStar);

record();
showSavedItems();
addEventListener("storagechange", showSavedItems);
addEventListener("pageshow", (event) => event.persisted && showSavedItems());

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

// The page of saved items: remove and clear.
if (document.getElementById("forgetful")) {
  function showForgetful() {
    document.getElementById("forgetful").checked = !storage.read("keep-looked-up", true);
  }

  // Remove the row, then focus the row that takes its place, or the list's heading.
  function removeRow(button, list) {
    const section = button.closest("section");
    const at = Array.from(section.querySelectorAll("li")).indexOf(button.closest("li"));
    say(savedItems.remove(list, button.dataset.remove) || "Removed");
    const rest = section.querySelectorAll("li button");
    (rest[Math.min(at, rest.length - 1)] ?? section.querySelector("h2")).focus();
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.dataset.remove) removeRow(button, button.closest("[data-saved-list]").dataset.savedList);
    else if ("wipe" in button.dataset && storage.clear()) location.reload();
  });

  document.getElementById("forgetful").addEventListener("change", (event) => {
    const isForgetful = event.target.checked;
    const problem = savedItems.save("keep-looked-up", !isForgetful);
    if (isForgetful) savedItems.save("looked-up", []);
    say(problem || (isForgetful ? "Search history cleared" : "Search history is on"));
  });

  addEventListener("storagechange", showForgetful);
  document.querySelector("[data-unscripted]").hidden = true;
  document.querySelector("[data-refused]").hidden = storage.isAllowed();
  showForgetful();
}

// Find saved pages that match a shortened ID. Compared in the browser: nothing is sent.
const FULL = /0x(?:[\da-f]{64}|[\da-f]{40})$/i;

function fits(id, form) {
  const [head, tail] = form.split("…");
  return id.startsWith(head) && id.endsWith(tail) && id.length >= head.length + tail.length;
}

function showSaved() {
  for (const section of document.querySelectorAll("[data-shortened]")) {
    const forms = section.dataset.shortened.split(" ");
    const pages = ["starred", "followed", "looked-up"].flatMap((list) => savedItems.pages(list));
    const found = new Map(pages.map((page) => [page.path, page]));
    for (const path of found.keys()) {
      const id = path.match(FULL)?.[0].toLowerCase();
      if (!id || !forms.some((form) => fits(id, form))) found.delete(path);
    }
    const template = section.querySelector("template");
    section.querySelector("ul").replaceChildren(...[...found.values()].map((page) => row(template, page)));
    section.hidden = !found.size;
  }
  tick();
}

showSaved();
addEventListener("storagechange", showSaved);
