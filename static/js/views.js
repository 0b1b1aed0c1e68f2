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
