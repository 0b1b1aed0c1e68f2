// Lists: focus after paging, highlighting of equal addresses, closing of menus.

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
  marked = address ? Array.from(document.querySelectorAll(`[data-address="${CSS.escape(address)}"]`)) : [];
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
