// What its reader looked up, starred and labelled. It stays in this browser; of it, only Intent IDs are sent (saved.js).

const MOST = { "looked-up": 50, starred: 200, followed: 20, labels: 1000 };
const LONGEST = { name: 120, label: 60, told: 300 };
const ADDRESS = /^[a-z0-9]{20,100}$/;
// The pages that may be kept: whatever stands in the storage or in a file becomes no other link.
const PATH = /^\/(?:(?:intent|address)\/[\w.:~-]{1,200}|search\?q=[\w%.~!'()*-]{1,600})$/;
const REFUSED = "This browser keeps nothing here: its storage is full or refused";

const isText = (value) => typeof value === "string";

// Of what is kept, or stands in a file, what can be read. `told` is what follow.js has told of a page.
function readPages(value, list) {
  const pages = Array.isArray(value) ? value : [];
  return pages
    .filter((page) => isText(page?.path) && PATH.test(page.path) && isText(page.name) && Number.isFinite(page.at))
    .map(({ path, name, at, told }) => ({
      path,
      name: name.slice(0, LONGEST.name),
      at: Math.min(Math.max(at, 0), Date.now()),
      ...(Array.isArray(told) && { told: told.filter(isText).map((words) => words.slice(0, LONGEST.told)).slice(0, 100) }),
    }))
    .filter((page, at, all) => all.findIndex(({ path }) => path === page.path) === at)
    .slice(0, MOST[list]);
}

function readLabels(value) {
  const entries = value && typeof value === "object" && !Array.isArray(value) ? Object.entries(value) : [];
  return new Map(
    entries
      .filter(([address, label]) => ADDRESS.test(address) && isText(label) && label.trim())
      .map(([address, label]) => [address, label.trim().slice(0, LONGEST.label)])
      .slice(0, MOST.labels),
  );
}

// What changes the book answers with why it could not, in words; with nothing where it could.
const book = {
  pages: (list) => readPages(kept.read(list, []), list),
  page: (list, path) => book.pages(list).find((page) => page.path === path),
  labels: () => readLabels(kept.read("labels", {})),

  // What was looked up long ago makes room; what was chosen does not go by itself.
  add(list, page) {
    const others = book.pages(list).filter(({ path }) => path !== page.path);
    if (list !== "looked-up" && others.length >= MOST[list]) return `${MOST[list]} are ${list}: take one off first`;
    return book.keep(list, [page, ...others].slice(0, MOST[list]));
  },

  remove: (list, path) => book.keep(list, book.pages(list).filter((page) => page.path !== path)),

  label(address, words) {
    const labels = book.labels();
    if (words.trim()) labels.set(address, words.trim().slice(0, LONGEST.label));
    else labels.delete(address);
    return labels.size > MOST.labels ? `${MOST.labels} addresses have a label: take one off first` : book.keepLabels(labels);
  },

  keepLabels: (labels) => book.keep("labels", Object.fromEntries(labels)),
  keep: (name, value) => (kept.write(name, value) ? "" : REFUSED),
};

// What this page is about, if it is something to come back to.
function pageShown() {
  const star = document.querySelector("[data-star]");
  const asked = location.pathname === "/search" && new URLSearchParams(location.search).get("q")?.trim();
  if (star) return { path: star.dataset.star, name: star.dataset.name, at: Date.now() };
  return asked ? { path: `/search?q=${encodeURIComponent(asked)}`, name: asked.slice(0, LONGEST.name), at: Date.now() } : null;
}

function record() {
  const page = pageShown();
  if (page && PATH.test(page.path) && kept.read("keep-looked-up", true)) book.add("looked-up", page);
}

function showStar() {
  for (const star of document.querySelectorAll("[data-star]"))
    star.setAttribute("aria-pressed", Boolean(book.page("starred", star.dataset.star)));
}

function showLabels() {
  const labels = book.labels();
  for (const place of document.querySelectorAll("[data-address]")) {
    const label = labels.get(place.dataset.address);
    let tag = place.querySelector(":scope > .own-label");
    if (!label) tag?.remove();
    if (!label || tag?.textContent === label) continue;
    if (!tag) {
      tag = document.createElement("bdi");
      tag.className = "tag own-label";
      if (place.firstElementChild) place.firstElementChild.after(tag);
      else place.append(tag);
    }
    tag.textContent = tag.title = label;
  }
  for (const form of document.querySelectorAll("form[data-label-of]"))
    if (!form.contains(document.activeElement)) form.elements.label.value = labels.get(form.dataset.labelOf) ?? "";
}

// The kinds of pages that a list can hold, by how their paths begin.
const KINDS = { intent: "Intent", address: "Address", search: "Search" };

function row(template, { path, name, at }) {
  const made = template.content.cloneNode(true);
  const [, kind, rest] = path.match(/^\/(\w+)[/?](.*)$/);
  const link = made.querySelector("a");
  link.href = path;
  link.textContent = name;
  made.querySelector("[data-kind-of]").textContent = KINDS[kind];
  if (kind === "intent") made.querySelector("[data-id]").textContent = `${rest.slice(0, 8)}…${rest.slice(-6)}`;
  if (kind === "address") made.querySelector("[data-id]").parentElement.dataset.address = rest.toLowerCase();
  const status = made.querySelector("[data-status]");
  if (kind === "intent" && status) status.dataset.status = rest;
  else status?.remove();
  made.querySelector("[data-ago]").dataset.ago = new Date(at).toISOString();
  const remove = made.querySelector("[data-remove]");
  if (remove) {
    remove.dataset.remove = path;
    remove.setAttribute("aria-label", `Remove ${KINDS[kind]} ${name}`);
  }
  return made;
}

function showList(section) {
  const list = section.dataset.keptList;
  const pages = book.pages(list);
  const shown = pages.slice(0, section.dataset.most ?? pages.length);
  section.querySelector("ul").replaceChildren(...shown.map((page) => row(section.querySelector("template"), page)));
  section.hidden = !pages.length && "most" in section.dataset;
  const count = section.querySelector("[data-count]");
  if (count) count.textContent = pages.length > shown.length ? `All ${pages.length}` : "All that is kept";
  const empty = section.querySelector("[data-when-empty]");
  if (empty) empty.hidden = pages.length > 0;
}

function showBook() {
  for (const section of document.querySelectorAll("[data-kept-list]")) showList(section);
  showStar();
  showLabels();
  tick();
}

document.addEventListener("click", (event) => {
  const star = event.target.closest("[data-star]");
  if (!star) return;
  const isStarred = book.page("starred", star.dataset.star);
  const problem = isStarred ? book.remove("starred", star.dataset.star) : book.add("starred", pageShown());
  say(problem || (isStarred ? "No longer starred" : "Starred, in this browser only"));
});

document.addEventListener("submit", (event) => {
  const form = event.target.closest("form[data-label-of]");
  if (!form) return;
  event.preventDefault();
  const words = form.elements.label.value;
  const problem = book.label(form.dataset.labelOf, words);
  say(problem || (words.trim() ? "Label kept, in this browser only" : "Label removed"));
  const said = form.querySelector("[data-label-problem]");
  said.textContent = problem;
  if (problem) return;
  const fold = form.closest("details");
  fold.open = false;
  fold.querySelector("summary").focus();
});

document.addEventListener("htmx:after:swap", () => {
  showStar();
  showLabels();
});

record();
showBook();
addEventListener("kept", showBook);
addEventListener("pageshow", (event) => event.persisted && showBook());
