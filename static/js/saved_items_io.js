// The page of saved items: remove, export, import, clear.

const KIND_OF_FILE = "intents-ui/kept";
const IN_A_FILE = ["starred", "looked-up", "views"];
const LARGEST = 2_000_000;

const count = (many, word) => `${many} ${word}${many === 1 ? "" : "s"}`;

function announceSavedItems(words) {
  document.getElementById("book-said").textContent = words;
}

function showLabelList() {
  const list = document.querySelector("[data-label-list]");
  const template = document.querySelector("[data-label-row]");
  const labels = Array.from(savedItems.labels()).sort(([, one], [, other]) => one.localeCompare(other));
  list.replaceChildren(
    ...labels.map(([address, label]) => {
      const made = template.content.cloneNode(true);
      const link = made.querySelector("a");
      // Labels are keyed by lowercase address, and only hex addresses are case-insensitive.
      if (address.startsWith("0x")) link.href = `/address/${address}`;
      link.textContent = label;
      made.querySelector("[data-id]").textContent = address;
      const button = made.querySelector("button");
      button.dataset.unlabel = address;
      button.setAttribute("aria-label", `Remove label: ${label}`);
      return made;
    }),
  );
  document.querySelector("[data-no-labels]").hidden = labels.length > 0;
}

function showAll() {
  showLabelList();
  document.getElementById("forgetful").checked = !storage.read("keep-looked-up", true);
}

// Remove the row, then focus the row that takes its place, or the list's heading.
function removeRow(button, remove) {
  const section = button.closest("section");
  const at = Array.from(section.querySelectorAll("li")).indexOf(button.closest("li"));
  say(remove() || "Removed");
  const rest = section.querySelectorAll("li button");
  (rest[Math.min(at, rest.length - 1)] ?? section.querySelector("h2")).focus();
}

function asFile() {
  const pages = IN_A_FILE.map((list) => [list, savedItems.pages(list)]);
  return { kind: KIND_OF_FILE, version: 1, saved: new Date(serverClock.now()).toISOString(), ...Object.fromEntries(pages), labels: Object.fromEntries(savedItems.labels()) };
}

function save() {
  const url = URL.createObjectURL(new Blob([JSON.stringify(asFile(), null, 1)], { type: "application/json" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = `intents-saved-${new Date().toISOString().slice(0, 10)}.json`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
  announceSavedItems(`Exported to ${link.download}`);
}

function parsed(text) {
  try {
    const found = JSON.parse(text);
    return found?.kind === KIND_OF_FILE ? found : null;
  } catch {
    return null;
  }
}

function merged(list, added) {
  const newest = [...savedItems.pages(list), ...added].sort((one, other) => other.at - one.at);
  return readPages(newest, list);
}

// Import a file and return a message with the result.
function readBook(found) {
  const labels = new Map([...readLabels(found.labels), ...savedItems.labels()]);
  const added = IN_A_FILE.map((list) => [list, readPages(found[list], list)]);
  const sizes = added.map(([, pages]) => pages.length);
  const problem =
    added.map(([list, pages]) => savedItems.save(list, merged(list, pages))).find(Boolean) ??
    savedItems.saveLabels(new Map(Array.from(labels).slice(-MOST.labels)));
  const given = IN_A_FILE.map((list) => found[list]?.length ?? 0).reduce((sum, many) => sum + many, Object.keys(found.labels ?? {}).length);
  const understood = sizes[0] + sizes[1] + sizes[2] + readLabels(found.labels).size;
  const rest = given > understood ? ` ${given - understood} ${given - understood === 1 ? "entry was" : "entries were"} skipped.` : "";
  return problem || `Imported ${sizes[0]} starred, ${sizes[1]} recent, ${count(sizes[2], "view")}, ${count(readLabels(found.labels).size, "label")}.${rest}`;
}

async function readFile(file) {
  if (file.size > LARGEST) return announceSavedItems(`${file.name} is larger than 2 MB. Nothing was changed.`);
  const found = parsed(await file.text());
  if (!found) return announceSavedItems(`${file.name} isn't a saved-items export. Nothing was changed.`);
  announceSavedItems(readBook(found));
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  const { remove, unlabel, book: act } = button.dataset;
  const list = button.closest("[data-saved-list]")?.dataset.savedList;
  if (remove) removeRow(button, () => savedItems.remove(list, remove));
  else if (unlabel) removeRow(button, () => savedItems.label(unlabel, ""));
  else if (act === "save") save();
  else if (act === "wipe" && storage.clear()) location.reload();
});

document.getElementById("book-file").addEventListener("change", async (event) => {
  const [file] = event.target.files;
  if (file) await readFile(file);
  event.target.value = ""; // the same file can be chosen again
});

document.getElementById("forgetful").addEventListener("change", (event) => {
  const isForgetful = event.target.checked;
  const problem = savedItems.save("keep-looked-up", !isForgetful);
  if (isForgetful) savedItems.save("looked-up", []);
  say(problem || (isForgetful ? "Search history cleared" : "Search history is on"));
});

addEventListener("storagechange", showAll);
document.querySelector("[data-unscripted]").hidden = true;
document.querySelector("[data-book-refused]").hidden = storage.isAllowed();
showAll();
