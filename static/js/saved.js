// Recent searches and starred pages, saved in this browser. Only Intent IDs are sent.

const MOST = { "looked-up": 50, starred: 200, followed: 20, views: 20 };
const LONGEST_NAME = 120;
// The only paths that may be saved, so that storage can't add other links.
const PATH = /^\/(?:(?:intent|address)\/[\w.:~-]{1,200}|search\?q=[\w%.~!'()*-]{1,600})$/;
const VIEW = /^\/history\?[\w%.~*+&=-]{1,600}$/;
const REFUSED = "Couldn't save. Browser storage is full or blocked.";

// The valid entries of a list.
function readPages(list) {
  const pattern = list === "views" ? VIEW : PATH;
  const isText = (value) => typeof value === "string";
  const isPage = (page) => isText(page?.path) && pattern.test(page.path) && isText(page.name) && Number.isFinite(page.at);
  const kept = storage.read(list, []);
  return (Array.isArray(kept) ? kept : [])
    .filter(isPage)
    .map(({ path, name, at }) => ({ path, name: name.slice(0, LONGEST_NAME), at: Math.min(Math.max(at, 0), serverClock.now()) }))
    .filter((page, at, all) => all.findIndex(({ path }) => path === page.path) === at)
    .slice(0, MOST[list]);
}

// Functions that change it return an error message, or "" on success.
const savedItems = {
  pages: (...lists) => lists.flatMap(readPages),
  page: (list, path) => savedItems.pages(list).find((page) => page.path === path),
  others: (list, path) => savedItems.pages(list).filter((page) => page.path !== path),

  // Old searches are dropped at the limit. Starred and followed pages and views are not.
  add(list, page) {
    const others = savedItems.others(list, page.path);
    if (list !== "looked-up" && others.length >= MOST[list])
      return `Limit of ${MOST[list]} reached. Remove a ${list === "views" ? "view" : `${list} item`} first.`;
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
  return asked ? { path: `/search?q=${encodeURIComponent(asked)}`, name: asked.slice(0, LONGEST_NAME), at: serverClock.now() } : null;
}

const opened = pageShown();
if (opened && PATH.test(opened.path) && storage.read("keep-looked-up", true)) savedItems.add("looked-up", opened);

// Names of the saved page types, by path prefix.
const KINDS = { intent: "Transfer", address: "Address", search: "Search", history: "View" };

// `short`: the shortened identifier of a transfer or an address.
function kindOf(path) {
  const [, kind, id] = path.match(/^\/(\w+)[/?](.*)$/);
  const short = id.length > 20 ? `${id.slice(0, 8)}…${id.slice(-6)}` : id;
  return { kind, id, short: kind === "intent" || kind === "address" ? short : "" };
}

function row(template, { path, name, at }) {
  const made = template.content.firstElementChild.cloneNode(true);
  const { kind, id, short } = kindOf(path);
  const place = (selector) => made.querySelector(selector);
  const isShown = path === document.querySelector("[data-view]")?.dataset.view;
  Object.assign(place("a"), { href: path, textContent: name, ariaCurrent: isShown ? "page" : null });
  if (!made.matches("[data-row]")) return made; // only a link
  place("[data-kind-of]").textContent = KINDS[kind];
  if (kind === "intent") place("[data-id]").textContent = short;
  if (kind === "intent") place(".saved-status")?.setAttribute("hx-get", `/saved/status?id=${encodeURIComponent(id)}`);
  else place(".saved-status")?.remove();
  place("[data-ago]").dataset.ago = new Date(at).toISOString();
  const remove = place("[data-remove]");
  if (remove) Object.assign(remove, { ariaLabel: `Remove ${KINDS[kind].toLowerCase()}: ${name}` }).dataset.remove = path;
  return made;
}

// A list that stays the same is left alone, with the focus and the status of its rows.
function fillList(section, pages) {
  const shows = JSON.stringify(pages);
  section.hidden = !pages.length;
  if (section.dataset.shows === shows) return;
  section.dataset.shows = shows;
  const template = section.querySelector("template");
  section.querySelector("ul").replaceChildren(...pages.map((page) => row(template, page)));
  window.htmx?.process(section);
}

const FULL = /0x(?:[\da-f]{64}|[\da-f]{40})$/i;

// `form`: a shortened ID.
function fits(id, form) {
  const [head, tail] = form.split("…");
  return id?.startsWith(head) && id.endsWith(tail) && id.length >= head.length + tail.length;
}

function showSavedItems() {
  for (const section of document.querySelectorAll("[data-saved-list]")) {
    const pages = savedItems.pages(section.dataset.savedList);
    if (section.matches(".views")) pages.sort((one, other) => one.name.localeCompare(other.name));
    const shown = pages.slice(0, section.dataset.most);
    fillList(section, shown);
    const count = section.querySelector("[data-count]");
    if (count) count.textContent = pages.length > shown.length ? `All ${pages.length}` : "View all";
  }
  for (const star of document.querySelectorAll("[data-star]"))
    star.setAttribute("aria-pressed", Boolean(savedItems.page("starred", star.dataset.star)));
  // Saved pages that match a shortened ID. Compared in the browser: nothing is sent.
  for (const section of document.querySelectorAll("[data-shortened]")) {
    const forms = section.dataset.shortened.split(" ");
    const pages = new Map(savedItems.pages("starred", "followed", "looked-up").map((page) => [page.path, page]));
    fillList(section, [...pages.values()].filter(({ path }) => forms.some((form) => fits(path.match(FULL)?.[0].toLowerCase(), form))));
  }
  tick();
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

// A table that is wider than its list scrolls sideways.
const fitting = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const frame = target.closest(".intents-frame");
    frame.toggleAttribute("data-scrolls", frame.querySelector("table").offsetWidth > frame.clientWidth);
  }
});

keepShown(() => {
  applyDensity();
  for (const button of document.querySelectorAll("[data-action=density]")) button.ariaPressed = isCompact();
  for (const each of document.querySelectorAll(".intents-frame, .intents-frame > table")) fitting.observe(each);
});

// The list from which this tab opens a transfer (details.js).
on("click", "main tr a[href^='/intent/']", (link) => {
  const links = document.querySelectorAll("main tr a.row-link[href^='/intent/']");
  const paths = [...new Set(Array.from(links, (each) => each.pathname))];
  const list = { url: location.pathname + location.search, paths };
  if (paths.includes(link.pathname)) storage.write("list", list, () => sessionStorage);
});
