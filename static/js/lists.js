// Lists: focus after paging, highlighting of equal addresses, closing of menus, columns and row height.

function begin(list) {
  const heading = list.querySelector("h1, h2");
  if (heading) {
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
  }
  if (list.getBoundingClientRect().top < 0) list.scrollIntoView();
}

document.addEventListener("htmx:after:swap", (event) => {
  const target = event.detail?.ctx?.target;
  if (target?.id === "list") begin(target);
});

let marked = [];

function mark(place) {
  for (const each of marked) delete each.dataset.marked;
  const address = place?.dataset.address;
  const places = address ? document.querySelectorAll(`[data-address="${CSS.escape(address)}"]`) : [];
  marked = Array.from(places).filter((each) => each.checkVisibility());
  if (marked.length > 1) for (const each of marked) each.dataset.marked = "";
}

function point(event) {
  const within = (element) => element?.closest?.("[data-address]");
  mark(within(event.target) ?? within(document.activeElement));
}

document.addEventListener("pointerover", point);
document.addEventListener("focusin", point);
document.addEventListener("focusout", () => mark(null));

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
