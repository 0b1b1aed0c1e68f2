// Lists and their menus.

document.addEventListener("htmx:after:swap", (event) => {
  const list = event.detail?.ctx?.target;
  if (list?.id !== "list") return;
  const heading = list.querySelector("h1, h2");
  if (heading) heading.tabIndex = -1;
  heading?.focus({ preventScroll: true });
  if (list.getBoundingClientRect().top < 0) list.scrollIntoView();
});

// Highlight an address in all its places.

function highlight(place) {
  for (const each of document.querySelectorAll("[data-marked]")) delete each.dataset.marked;
  if (!place) return;
  const places = Array.from(document.querySelectorAll(`[data-address="${CSS.escape(place.dataset.address)}"]`));
  const visible = places.filter((each) => each.checkVisibility());
  if (visible.length > 1) for (const each of visible) each.dataset.marked = "";
}

function highlightTarget({ target }) {
  highlight(target.closest?.("[data-address]") ?? document.activeElement?.closest("[data-address]"));
}

document.addEventListener("pointerover", highlightTarget);
document.addEventListener("focusin", highlightTarget);
document.addEventListener("focusout", () => highlight(null));

// Menus close on Escape, on a choice, and on a click elsewhere. The first two return the focus to the menu's button.

const openMenus = () => document.querySelectorAll("details:is([name=filter], [name=export], .more)[open]");

function closeMenu(menu) {
  menu.open = false;
  menu.querySelector("summary").focus();
}

document.addEventListener("click", (event) => {
  for (const menu of openMenus()) if (!menu.contains(event.target)) menu.open = false;
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") for (const menu of openMenus()) closeMenu(menu);
});
on("click", "details [data-chosen]", (choice) => closeMenu(choice.closest("details")));

// The stop button disappears with the export, so focus the export's status.
on("submit", ".export-run form", (form) => form.closest(".export-run").focus());

// A table that is wider than its list scrolls sideways.
const fitting = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const frame = target.closest(".intents-frame");
    frame.toggleAttribute("data-scrolls", frame.querySelector("table").offsetWidth > frame.clientWidth);
  }
});

const isCompact = () => document.documentElement.dataset.density === "compact";

keepShown(() => {
  applyDensity();
  for (const each of document.querySelectorAll(".intents-frame, .intents-frame > table")) fitting.observe(each);
  for (const button of document.querySelectorAll("[data-action=density]")) button.setAttribute("aria-pressed", isCompact());
});

on("click", "[data-action=density]", () => {
  if (!storage.write("density", isCompact() ? "comfortable" : "compact")) toast(REFUSED);
});

on("change", "input[name=columns]", (choice) => {
  const menu = choice.closest("details");
  const choices = Array.from(menu.querySelectorAll("input[name=columns]"));
  const elsewhere = storage.columns().filter((name) => !choices.some((each) => each.value === name));
  const chosen = choices.filter((each) => each.checked).map((each) => each.value);
  if (storage.chooseColumns([...elsewhere, ...chosen])) menu.dataset.changed = "";
  else toast(REFUSED);
});

// The server draws the chosen columns.
document.addEventListener("toggle", ({ target }) => !target.open && "changed" in target.dataset && location.reload(), true);

// The transfers before and after this one, in the list from which this tab opened it.

on("click", "main tr a[href^='/intent/']", (link) => {
  const links = document.querySelectorAll("main tr a.row-link[href^='/intent/']");
  const paths = [...new Set(Array.from(links, (each) => each.pathname))];
  const list = { url: location.pathname + location.search, paths };
  if (paths.includes(link.pathname)) storage.write("list", list, () => sessionStorage);
});

function neighbor(rel, words, key, path) {
  const link = document.createElement(path ? "a" : "span");
  Object.assign(link, { textContent: words, className: "button" });
  if (path) Object.assign(link, { href: path, rel, ariaKeyShortcuts: key });
  else Object.assign(link, { ariaHidden: "true" }).dataset.off = "";
  return link;
}

function fillNeighbors(nav) {
  const { url, paths } = openedList();
  const at = paths.indexOf(location.pathname);
  if (at < 0) return;
  const list = Object.assign(document.createElement("a"), { href: url, textContent: `${at + 1} of ${paths.length} in the list` });
  nav.replaceChildren(neighbor("prev", "← Previous", "[", paths[at - 1]), list, neighbor("next", "Next →", "]", paths[at + 1]));
}

const neighbors = document.getElementById("neighbors");
if (neighbors) fillNeighbors(neighbors);

// Saved views: the filters of the history under a name, as links above the list.

keepShown(() => {
  const nav = document.querySelector(".views");
  if (!nav) return;
  const form = document.querySelector("[data-view]");
  const views = savedItems.pages("views").sort((one, other) => one.name.localeCompare(other.name));
  nav.hidden = !views.length;
  nav.replaceChildren(
    ...views.map(({ path, name }) => {
      const link = Object.assign(document.createElement("a"), { href: path, textContent: name });
      if (path === form?.dataset.view) link.ariaCurrent = "page";
      return link;
    }),
  );
  if (!form) return;
  const saved = savedItems.page("views", form.dataset.view);
  form.elements.name.value = saved?.name ?? "";
  form.querySelector("[data-remove-view]").hidden = !saved;
  form.closest("details").querySelector("summary").textContent = saved ? "Saved view" : "Save view";
});

function finish(form, problem, words) {
  form.querySelector("#view-problem").textContent = problem;
  if (problem) return;
  closeMenu(form.closest("details"));
  toast(words);
}

on("submit", "[data-view]", (form, event) => {
  event.preventDefault();
  const name = form.elements.name.value.trim().slice(0, LONGEST.name);
  if (!name) return finish(form, "Enter a name.");
  finish(form, savedItems.add("views", { path: form.dataset.view, name, at: serverClock.now() }), "View saved (in this browser)");
});

on("click", "[data-remove-view]", ({ form }) => finish(form, savedItems.remove("views", form.dataset.view), "View removed"));
