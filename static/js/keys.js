// Keyboard shortcuts. Each has a clickable equivalent, and none works while the user types.

// The first link of each list row on the page.
function rowLinks() {
  const rows = document.querySelectorAll("main tbody tr, main [data-row]");
  return Array.from(rows, (row) => row.querySelector("a[href]")).filter((link) => link?.checkVisibility());
}

function currentRow() {
  return document.activeElement.closest("main tbody tr, main [data-row]");
}

function go(step) {
  const links = rowLinks();
  if (!links.length) return;
  const at = links.findIndex((link) => link.closest("tr, [data-row]") === currentRow());
  const next = at < 0 ? (step > 0 ? 0 : links.length - 1) : Math.min(Math.max(at + step, 0), links.length - 1);
  links[next].focus();
  links[next].closest("tr, [data-row]").scrollIntoView({ block: "nearest" });
}

function search() {
  const box = document.querySelector("[data-search]");
  box?.focus();
  box?.select();
  box?.click(); // opens the suggestions
}

// Copy the row's Intent ID or value, else the page's.
function copySubject() {
  const row = currentRow();
  const button = (row ?? document.querySelector("main")).querySelector("[data-copy]");
  const link = row?.querySelector("a[href^='/intent/']");
  if (link) copyText(link.pathname.split("/")[2], "Copied intent ID");
  else if (button) copy(button);
  else copyText(location.href, "Copied link");
}

function openRaw() {
  const link = currentRow()?.querySelector("a[href^='/intent/']");
  const raw = link ? link.pathname + ".json" : document.querySelector("a[data-raw]")?.href;
  if (raw) location.assign(raw);
}

function press(button) {
  document.querySelector(`main ${button}`)?.click();
}

function openExplorer() {
  const link = (currentRow() ?? document).querySelector("main a[rel~=external]");
  if (link) window.open(link.href, "_blank", "noopener,noreferrer");
}

function openHelp() {
  document.getElementById("keys").showModal();
}

const KEYS = {
  "/": search,
  j: () => go(1),
  k: () => go(-1),
  c: copySubject,
  r: openRaw,
  y: copyReply,
  l: copyLink,
  e: openExplorer,
  s: () => press("[data-star]"),
  f: () => press("[data-follow]"),
  t: switchTheme,
  "[": () => openNeighbor("prev"),
  "]": () => openNeighbor("next"),
  "?": openHelp,
};
const HELD = new Set(["j", "k"]); // keys that may repeat

// Layouts of other scripts have no Latin letters, so their keys count by their position on a US keyboard.
function keyOf(event) {
  const { key, code, shiftKey } = event;
  if (/^[\0-\x7f\p{Script=Latin}]/u.test(key) || event.getModifierState("AltGraph")) return key;
  if (shiftKey) return code === "Slash" ? "?" : key;
  return { Slash: "/", BracketLeft: "[", BracketRight: "]" }[code] ?? code.replace("Key", "").toLowerCase();
}

function isWriting(element) {
  return element.closest("input:not([type=radio], [type=checkbox]), textarea, select, [contenteditable]");
}

document.addEventListener("keydown", (event) => {
  const key = keyOf(event);
  const act = KEYS[key];
  // On many keyboards, brackets need AltGr, which counts as Ctrl + Alt.
  const isChord = (event.ctrlKey || event.altKey) && !event.getModifierState("AltGraph");
  if (!act || isChord || event.metaKey || event.isComposing) return;
  if (isWriting(event.target) || document.querySelector("dialog[open]")) return;
  if (event.repeat && !HELD.has(key)) return;
  if (key !== "?" && !storage.read("keys", true)) return;
  event.preventDefault();
  act();
});

// Ctrl/⌘ + K works while typing, too.
document.addEventListener("keydown", (event) => {
  const isChord = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
  if (!isChord || keyOf(event).toLowerCase() !== "k" || document.querySelector("dialog[open]")) return;
  event.preventDefault();
  search();
});

// Enter adds a line in a textarea, so Ctrl/⌘ + Enter submits.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing || event.repeat) return;
  const form = event.target.matches("textarea[data-submits]") && event.target.form;
  if (!form) return;
  event.preventDefault();
  form.requestSubmit();
});

// Single-key shortcuts interfere with speech input, so they can be turned off (WCAG 2.1.4).
const keysSwitch = document.getElementById("keys-on");
keysSwitch.checked = storage.read("keys", true);
keysSwitch.addEventListener("change", () => storage.write("keys", keysSwitch.checked));
