// Recent searches and starred pages, saved in this browser. Only Intent IDs are sent.

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

function row(template, page) {
  const { path, name, at } = page;
  const made = template.content.firstElementChild.cloneNode(true);
  const [, kind, rest] = path.match(/^\/(\w+)[/?](.*)$/);
  const link = made.querySelector("a");
  link.href = path;
  link.textContent = name;
  made.querySelector("[data-kind-of]").textContent = KINDS[kind];
  if (kind === "intent") made.querySelector("[data-id]").textContent = `${rest.slice(0, 8)}…${rest.slice(-6)}`;
  const status = made.querySelector(".saved-status");
  if (kind === "intent") status?.setAttribute("hx-get", `/saved/status?id=${encodeURIComponent(rest)}`);
  else status?.remove();
  made.dataset.shows = JSON.stringify(page);
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
  const rows = new Map(Array.from(section.querySelectorAll("li"), (each) => [each.dataset.shows, each]));
  const template = section.querySelector("template");
  section.querySelector("ul").replaceChildren(...shown.map((page) => rows.get(JSON.stringify(page)) ?? row(template, page)));
  window.htmx?.process(section);
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
  announce(problem || (isStarred ? "Star removed" : "Starred (saved in this browser)"));
});

document.addEventListener("htmx:after:swap", showStar);

record();
showSavedItems();
addEventListener("storagechange", showSavedItems);
addEventListener("pageshow", (event) => event.persisted && showSavedItems());

// A transfer's row loads its status once it is in view, and the amounts that are its name now.
document.addEventListener("htmx:after:swap", ({ detail }) => {
  const amounts = detail?.ctx?.target?.querySelector?.("[data-amounts]");
  if (!amounts) return;
  amounts.closest("li").querySelector("a").textContent = amounts.textContent;
  amounts.remove();
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
    announce(savedItems.remove(list, button.dataset.remove) || "Removed");
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
    announce(problem || (isForgetful ? "Search history cleared" : "Search history is on"));
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
