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
  const isPage = (page) => isText(page?.path) && (list === "views" ? VIEW : PATH).test(page.path) && isText(page.name) && Number.isFinite(page.at);
  return (Array.isArray(value) ? value : [])
    .filter(isPage)
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
  pages: (...lists) => lists.flatMap((list) => readPages(storage.read(list, []), list)),
  page: (list, path) => savedItems.pages(list).find((page) => page.path === path),
  others: (list, path) => savedItems.pages(list).filter((page) => page.path !== path),

  // Old searches are dropped at the limit. Starred and followed pages and views are not.
  add(list, page) {
    const others = savedItems.others(list, page.path);
    if (list !== "looked-up" && others.length >= MOST[list]) return `Limit of ${MOST[list]} reached. Remove a ${list === "views" ? "view" : `${list} item`} first.`;
    return savedItems.save(list, [page, ...others].slice(0, MOST[list]));
  },

  remove: (list, path) => savedItems.save(list, savedItems.others(list, path)),

  save: (name, value) => (storage.write(name, value) ? "" : REFUSED),
};

// The page's transfer, address or search; null on other pages.
function pageShown() {
  const star = document.querySelector("[data-star]");
  const asked = document.querySelector("[data-asked]")?.dataset.asked; // identifiers only: a message may be private
  if (star) return { path: star.dataset.star, name: star.dataset.name, at: serverClock.now() };
  return asked ? { path: `/search?q=${encodeURIComponent(asked)}`, name: asked.slice(0, LONGEST.name), at: serverClock.now() } : null;
}

const opened = pageShown();
if (opened && PATH.test(opened.path) && storage.read("keep-looked-up", true)) savedItems.add("looked-up", opened);

// Names of the saved page types, by path prefix.
const KINDS = { intent: "Transfer", address: "Address", search: "Search", history: "View" };
const shortened = (id) => (id.length > 20 ? `${id.slice(0, 8)}…${id.slice(-6)}` : id);

function row(template, page) {
  const { path, name, at } = page;
  const made = template.content.firstElementChild.cloneNode(true);
  const [, kind, rest] = path.match(/^\/(\w+)[/?](.*)$/);
  const place = (selector) => made.querySelector(selector);
  Object.assign(place("a"), { href: path, textContent: name });
  place("[data-kind-of]").textContent = KINDS[kind];
  if (kind === "intent") place("[data-id]").textContent = shortened(rest);
  if (kind === "intent") place(".saved-status")?.setAttribute("hx-get", `/saved/status?id=${encodeURIComponent(rest)}`);
  else place(".saved-status")?.remove();
  made.dataset.shows = JSON.stringify(page);
  place("[data-ago]").dataset.ago = new Date(at).toISOString();
  const remove = place("[data-remove]");
  if (remove) Object.assign(remove, { ariaLabel: `Remove ${KINDS[kind].toLowerCase()}: ${name}` }).dataset.remove = path;
  return made;
}

// Rows that stay keep their status.
function fillList(section, pages) {
  const rows = new Map(Array.from(section.querySelectorAll("li"), (each) => [each.dataset.shows, each]));
  const template = section.querySelector("template");
  const list = section.querySelector("ul");
  const shown = pages.map((page) => rows.get(JSON.stringify(page)) ?? row(template, page));
  // Moved rows would lose the focus, so a list that stays the same is left alone.
  if (list.children.length !== shown.length || shown.some((each, at) => each !== list.children[at])) {
    list.replaceChildren(...shown);
    window.htmx?.process(section);
  }
  section.hidden = !pages.length;
}

function showSavedItems() {
  for (const section of document.querySelectorAll("[data-saved-list]")) {
    const pages = savedItems.pages(section.dataset.savedList);
    const shown = pages.slice(0, section.dataset.most);
    fillList(section, shown);
    const count = section.querySelector("[data-count]");
    if (count) count.textContent = pages.length > shown.length ? `All ${pages.length}` : "View all";
  }
  for (const star of document.querySelectorAll("[data-star]"))
    star.setAttribute("aria-pressed", Boolean(savedItems.page("starred", star.dataset.star)));
  showShortened();
  tick();
}

// Find saved pages that match a shortened ID. Compared in the browser: nothing is sent.
const FULL = /0x(?:[\da-f]{64}|[\da-f]{40})$/i;

function fits(id, form) {
  const [head, tail] = form.split("…");
  return id?.startsWith(head) && id.endsWith(tail) && id.length >= head.length + tail.length;
}

function showShortened() {
  for (const section of document.querySelectorAll("[data-shortened]")) {
    const forms = section.dataset.shortened.split(" ");
    const pages = new Map(savedItems.pages("starred", "followed", "looked-up").map((page) => [page.path, page]));
    fillList(section, [...pages.values()].filter(({ path }) => forms.some((form) => fits(path.match(FULL)?.[0].toLowerCase(), form))));
  }
}

keepShown(showSavedItems);

on("click", "[data-star]", (star) => {
  const isStarred = savedItems.page("starred", star.dataset.star);
  const problem = isStarred ? savedItems.remove("starred", star.dataset.star) : savedItems.add("starred", pageShown());
  announce(problem || (isStarred ? "Star removed" : "Starred (saved in this browser)"));
});

// A transfer's row loads its status once it is in view, and the amounts that are its name now.
document.addEventListener("htmx:after:swap", ({ detail }) => {
  const amounts = detail?.ctx?.target?.querySelector?.("[data-amounts]");
  if (!amounts) return;
  amounts.closest("li").querySelector("a").textContent = amounts.textContent;
  amounts.remove();
});

// The page of saved items: remove and clear.
const forgetful = document.getElementById("forgetful");
if (forgetful) {
  // Remove the row, then focus the row that takes its place, or the list's heading.
  on("click", "[data-remove]", (button) => {
    const section = button.closest("section");
    const at = Array.from(section.querySelectorAll("li")).indexOf(button.closest("li"));
    announce(savedItems.remove(section.dataset.savedList, button.dataset.remove) || "Removed");
    const rest = section.querySelectorAll("li button");
    (rest[Math.min(at, rest.length - 1)] ?? section.querySelector("h2")).focus();
  });

  on("click", "[data-wipe]", () => storage.clear() && location.reload());

  forgetful.addEventListener("change", () => {
    const problem = savedItems.save("keep-looked-up", !forgetful.checked);
    if (forgetful.checked) savedItems.save("looked-up", []);
    announce(problem || (forgetful.checked ? "Search history cleared" : "Search history is on"));
  });

  document.querySelector("[data-unscripted]").hidden = true;
  const isAllowed = storage.write("asked", "");
  if (isAllowed) localStorage.removeItem("asked");
  document.querySelector("[data-refused]").hidden = isAllowed;
  keepShown(() => (forgetful.checked = !storage.read("keep-looked-up", true)));
}
