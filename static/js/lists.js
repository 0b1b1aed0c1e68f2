// Lists and their menus.

function focusList(list) {
  const heading = list.querySelector("h1, h2");
  if (heading) {
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
  }
  if (list.getBoundingClientRect().top < 0) list.scrollIntoView();
}

document.addEventListener("htmx:after:swap", (event) => {
  const target = event.detail?.ctx?.target;
  if (target?.id === "list") focusList(target);
});

let highlighted = [];

function highlight(place) {
  for (const each of highlighted) delete each.dataset.marked;
  const address = place?.dataset.address;
  const places = address ? document.querySelectorAll(`[data-address="${CSS.escape(address)}"]`) : [];
  highlighted = Array.from(places).filter((each) => each.checkVisibility());
  if (highlighted.length > 1) for (const each of highlighted) each.dataset.marked = "";
}

function highlightTarget(event) {
  const within = (element) => element?.closest?.("[data-address]");
  highlight(within(event.target) ?? within(document.activeElement));
}

document.addEventListener("pointerover", highlightTarget);
document.addEventListener("focusin", highlightTarget);
document.addEventListener("focusout", () => highlight(null));

function openMenus() {
  return document.querySelectorAll("details:is([name=filter], [name=export], .more)[open]");
}

document.addEventListener("click", (event) => {
  for (const menu of openMenus()) if (!menu.contains(event.target)) menu.open = false;
});

// A choice closes its menu and returns the focus to the menu's button.
document.addEventListener("click", (event) => {
  const menu = event.target.closest("[data-chosen]")?.closest("details");
  if (!menu) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});

// The stop button disappears with the export, so focus the export's status.
document.addEventListener("submit", (event) => event.target.closest(".export-run")?.focus());

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of openMenus()) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});

// A table that is wider than its list scrolls sideways.
const fitting = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const frame = target.closest(".intents-frame");
    frame.toggleAttribute("data-scrolls", frame.querySelector("table").offsetWidth > frame.clientWidth);
  }
});

function showListView() {
  applyDensity();
  for (const each of document.querySelectorAll(".intents-frame, .intents-frame > table")) fitting.observe(each);
  const isCompact = document.documentElement.dataset.density === "compact";
  for (const button of document.querySelectorAll("[data-action=density]")) button.setAttribute("aria-pressed", isCompact);
}

document.addEventListener("change", (event) => {
  if (event.target.name !== "columns") return;
  const menu = event.target.closest("details");
  const choices = Array.from(menu.querySelectorAll("input[name=columns]"));
  const elsewhere = storage.columns().filter((name) => !choices.some((each) => each.value === name));
  const chosen = choices.filter((each) => each.checked).map((each) => each.value);
  if (storage.chooseColumns([...elsewhere, ...chosen])) menu.dataset.changed = "";
  else toast(REFUSED);
});

// The server draws the chosen columns.
document.addEventListener(
  "toggle",
  ({ target }) => {
    if (!target.open && "changed" in target.dataset) location.reload();
  },
  true,
);

document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-action=density]")) return;
  const isCompact = document.documentElement.dataset.density === "compact";
  if (!storage.write("density", isCompact ? "comfortable" : "compact")) toast(REFUSED);
});

showListView();
addEventListener("storagechange", showListView);
addEventListener("pageshow", (event) => event.persisted && showListView());
document.addEventListener("htmx:after:swap", showListView);

// The transfers before and after this one, in the list from which this tab opened it.

function rememberList(event) {
  const link = event.target.closest("main tr a[href^='/intent/']");
  if (!link) return;
  const links = document.querySelectorAll("main tr a.row-link[href^='/intent/']");
  const paths = [...new Set(Array.from(links, (each) => each.pathname))];
  if (paths.includes(link.pathname)) openedList.write({ url: location.pathname + location.search, paths });
}

function fillNeighbors(nav) {
  const { url, paths } = openedList.read();
  const at = paths.indexOf(location.pathname);
  if (at < 0) return;
  const step = (rel, words, key, path) => {
    const link = document.createElement(path ? "a" : "span");
    link.textContent = words;
    link.className = "button";
    if (path) Object.assign(link, { href: path, rel, ariaKeyShortcuts: key });
    else Object.assign(link, { ariaHidden: "true" }).dataset.off = "";
    return link;
  };
  const list = document.createElement("a");
  list.textContent = `${at + 1} of ${paths.length} in the list`;
  list.href = url;
  nav.replaceChildren(
    step("prev", "← Previous", "[", paths[at - 1]),
    list,
    step("next", "Next →", "]", paths[at + 1]),
  );
}

function openNeighbor(rel) {
  document.querySelector(`#neighbors a[rel=${rel}]`)?.click();
}

document.addEventListener("click", rememberList);
const neighbors = document.getElementById("neighbors");
if (neighbors) fillNeighbors(neighbors);

// Saved views: the filters of the history under a name, as links above the list.

function showViews() {
  const form = document.querySelector("[data-view]");
  const views = savedItems.pages("views").sort((one, other) => one.name.localeCompare(other.name));
  const links = views.map(({ path, name }) => {
    const link = document.createElement("a");
    link.href = path;
    link.textContent = name;
    if (path === form?.dataset.view) link.ariaCurrent = "page";
    return link;
  });
  const nav = document.querySelector(".views");
  if (!nav) return;
  nav.hidden = !links.length;
  nav.replaceChildren(...links);
  if (!form) return;
  const saved = savedItems.page("views", form.dataset.view);
  form.elements.name.value = saved?.name ?? "";
  form.querySelector("[data-remove-view]").hidden = !saved;
  form.closest("details").querySelector("summary").textContent = saved ? "Saved view" : "Save view";
}

function finish(form, problem, words) {
  form.querySelector("#view-problem").textContent = problem;
  if (problem) return;
  const menu = form.closest("details");
  menu.open = false;
  menu.querySelector("summary").focus();
  toast(words);
}

document.addEventListener("submit", (event) => {
  const form = event.target.closest("[data-view]");
  if (!form) return;
  event.preventDefault();
  const path = form.dataset.view;
  const name = form.elements.name.value.trim().slice(0, LONGEST.label);
  if (!name) return finish(form, "Enter a name.");
  finish(form, savedItems.add("views", { path, name, at: serverClock.now() }), "View saved (in this browser)");
});

document.addEventListener("click", (event) => {
  const form = event.target.closest("[data-remove-view]")?.form;
  if (form) finish(form, savedItems.remove("views", form.dataset.view), "View removed");
});

showViews();
addEventListener("storagechange", showViews);
addEventListener("pageshow", (event) => event.persisted && showViews());
document.addEventListener("htmx:after:swap", showViews);
