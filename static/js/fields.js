// Filter of a transfer's fields. Folds that it opens are closed once it is empty again.

const FACTS = "[data-field], .arguments tbody tr";
const GROUPS = ".fold, .record, .chapter, .calls > li, .calls > li > details";
const openedByFilter = new Set();

function comparable(text) {
  return text.toLowerCase().replaceAll(",", "").trim();
}

// The visible text, and the full values of what is shortened.
function contentOf(fact) {
  const copy = fact.cloneNode(true);
  for (const each of copy.querySelectorAll(".unseen, button")) each.remove();
  const titles = Array.from(copy.querySelectorAll("[title]"), (each) => each.title);
  return comparable([copy.textContent, ...titles].join(" "));
}

function openMatching(group, isMatching) {
  if (isMatching && !group.open) {
    openedByFilter.add(group);
    group.open = true;
  } else if (!isMatching && openedByFilter.delete(group)) {
    group.open = false;
  }
}

function filterFields() {
  const fields = document.getElementById("fields");
  const sought = comparable(document.getElementById("field-filter").value);
  const facts = Array.from(fields.querySelectorAll(FACTS));
  for (const fact of facts) fact.hidden = !contentOf(fact).includes(sought);
  for (const group of fields.querySelectorAll(GROUPS)) {
    const isMatching = sought && group.querySelector(`:is(${FACTS}):not([hidden])`);
    group.hidden = sought && !isMatching;
    if (group.localName === "details") openMatching(group, isMatching);
  }
  const count = facts.filter((fact) => !fact.hidden).length;
  document.getElementById("fields-found").textContent = sought ? `${count} of ${facts.length} fields` : "";
}

document.addEventListener("input", (event) => event.target.id === "field-filter" && filterFields());

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.target.id !== "field-filter") return;
  event.target.value = "";
  filterFields();
});

document.addEventListener("htmx:after:swap", (event) => event.detail?.ctx?.target?.id === "fields" && filterFields());

// Only unfolding by the user loads the current values.
document.addEventListener("htmx:before:request", (event) => {
  const fold = event.target;
  if (fold.matches?.("#proof, #fields .fold") && (!fold.open || openedByFilter.has(fold))) event.preventDefault();
});
