// Recovery phrases and private keys don't leave the browser. The server checks again (http/secret_text.py).
{
  const BASE58 = "[1-9A-HJ-NP-Za-km-z]";
  const NAMED = "(?:(?:private|secret|signing)[\\W_]*key|privkey|recovery[\\W_]*phrase|seed|mnemonic)";
  const KEY = `(?<!\\w)(?:(?:0x)?[0-9a-f]{64}|${BASE58}{86,88})(?!\\w)`;
  const FORMS = [
    new RegExp(`(?<!\\w)(?:[59]${BASE58}{50}|[KLc]${BASE58}{51}|[a-zA-Z]prv${BASE58}{90,120})(?!\\w)`),
    new RegExp(`${NAMED}[^.!?]{0,40}?${KEY}|${KEY}[^.!?]{0,40}?${NAMED}`, "i"),
    /\[\s*(?:\d{1,3}\s*,\s*){63}\d{1,3}\s*\]/,
  ];
  const WARNING = "This looks like a recovery phrase or a private key. It was not sent. Never share it, and move the funds to a new wallet.";
  const PHRASE = 12;
  let known;

  // Whether eleven of twelve words in a row are on the list, and at least eight of them differ. Or all are, and only the
  // last differs, as in phrases of tests.
  async function hasPhrase(words) {
    if (words.length < PHRASE) return false;
    known ??= new Set((await (await fetch("/static/vendor/bip39-english.txt")).text()).split("\n"));
    return words.some((_, at) => {
      const found = words.slice(at, at + PHRASE).filter((word) => known.has(word));
      const first = new Set(found.slice(0, -1));
      const isOfTests = found.length === PHRASE && first.size === 1 && !first.has(found.at(-1));
      return isOfTests || (found.length >= PHRASE - 1 && new Set(found).size > 7);
    });
  }

  document.addEventListener(
    "submit",
    async (event) => {
      const form = event.target;
      const field = form.querySelector("[data-search], [data-case], [data-ticket]");
      if (!field || field.dataset.checked === field.value) return;
      const text = field.value.normalize("NFKC");
      const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
      const isKey = FORMS.some((each) => each.test(text));
      if (!isKey && words.length < PHRASE) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      // Without the list, rather ask than send.
      if (isKey || (await hasPhrase(words).catch(() => true))) {
        field.value = "";
        field.dispatchEvent(new Event("input", { bubbles: true })); // suggestions repeat the text
        const note = document.getElementById("held-back") ?? document.createElement("p");
        Object.assign(note, { id: "held-back", className: "note", role: "alert", textContent: WARNING, tabIndex: -1 });
        note.dataset.tone = "bad";
        form.after(note);
        return note.focus(); // which closes the suggestions
      }
      field.dataset.checked = field.value;
      form.requestSubmit();
    },
    true,
  );
}

// The suggestions below the search box (palette.js) are loaded when it is first used, which most visits never do.

const searchBox = document.querySelector("[data-search]");
if (searchBox) {
  Object.assign(searchBox, { role: "combobox", ariaAutoComplete: "list", ariaExpanded: "false" });
  const loadPalette = ({ type, key }) => (type !== "keydown" || key === "ArrowDown") && import(searchBox.form.dataset.palette);
  for (const type of ["click", "input", "keydown"]) searchBox.addEventListener(type, loadPalette);
}

// Keyboard shortcuts, off while the user types.

const ROW = "main :is(tbody tr, [data-row])";
const currentRow = () => document.activeElement.closest(ROW);
const currentIntent = () => currentRow()?.querySelector("a[href^='/intent/']");

function go(step) {
  const rows = Array.from(document.querySelectorAll(ROW)).filter((row) => row.querySelector("a[href]")?.checkVisibility());
  const row = rows[Math.max(rows.indexOf(currentRow()) + step, 0)] ?? rows.at(-1);
  row?.querySelector("a[href]").focus();
  row?.scrollIntoView({ block: "nearest" });
}

function search() {
  searchBox?.focus();
  searchBox?.select();
  searchBox?.click(); // opens the suggestions
}

// Copy the row's Intent ID or value, else the page's.
function copySubject() {
  const button = (currentRow() ?? document.querySelector("main")).querySelector("[data-copy]");
  if (currentIntent()) copyText(currentIntent().pathname.split("/")[2], "Copied intent ID");
  else if (button) copy(button);
  else copyText(location.href, "Copied link");
}

function openRaw() {
  const raw = currentIntent() ? `${currentIntent().pathname}.json` : document.querySelector("a[data-raw]")?.href;
  if (raw) location.assign(raw);
}

function openExplorer() {
  const link = (currentRow() ?? document).querySelector("main a[rel~=external]");
  if (link) window.open(link.href, "_blank", "noopener,noreferrer");
}

// The control that a key presses.
const CONTROLS = {
  y: ".action-bar [data-copy-of=reply-plain]",
  l: ".action-bar [data-action=link]",
  e: ":is(.action-bar, .page-head) a[rel~=external]",
  s: "main [data-star]",
  f: "main [data-follow]",
  t: "[data-action=theme]",
  "[": "#neighbors a[rel=prev]",
  "]": "#neighbors a[rel=next]",
};

const KEYS = {
  ...Object.fromEntries(Object.entries(CONTROLS).map(([key, control]) => [key, () => document.querySelector(control)?.click()])),
  "/": search,
  j: () => go(1),
  k: () => go(-1),
  c: copySubject,
  r: openRaw,
  l: copyLink,
  e: openExplorer,
  "?": () => document.getElementById("keys").showModal(),
};

// Keys of layouts without Latin letters count by their position on a US keyboard.
function keyOf(event) {
  const { key, code, shiftKey } = event;
  if (/^[\0-\x7f\p{Script=Latin}]/u.test(key) || event.getModifierState("AltGraph")) return key;
  if (shiftKey) return code === "Slash" ? "?" : key;
  return { Slash: "/", BracketLeft: "[", BracketRight: "]" }[code] ?? code.replace("Key", "").toLowerCase();
}

function pressKey(event) {
  const key = keyOf(event);
  const act = KEYS[key];
  // On many keyboards, brackets need AltGr, which counts as Ctrl + Alt.
  const isChord = (event.ctrlKey || event.altKey) && !event.getModifierState("AltGraph");
  if (!keysSwitch || !act || isChord || event.metaKey) return; // the side bar has none
  if (event.target.closest("input:not([type=radio], [type=checkbox]), textarea, select, [contenteditable]")) return;
  if (event.repeat && !"jk".includes(key)) return;
  if (key !== "?" && !storage.read("keys", true)) return;
  event.preventDefault();
  act();
}

document.addEventListener("keydown", (event) => {
  if (event.isComposing || document.querySelector("dialog[open]")) return;
  const isControl = event.ctrlKey || event.metaKey;
  if (isControl && !event.altKey && !event.shiftKey && keyOf(event).toLowerCase() === "k") {
    event.preventDefault();
    search(); // while typing, too
  } else if (event.key === "Enter" && isControl && !event.repeat && event.target.matches("textarea[data-submits]")) {
    event.preventDefault();
    event.target.form.requestSubmit(); // Enter alone adds a line
  } else {
    pressKey(event);
  }
});

// Single keys interfere with speech input, so they can be turned off (WCAG 2.1.4).
const keysSwitch = document.getElementById("keys-on");
if (keysSwitch) keysSwitch.checked = storage.read("keys", true);
on("change", "#keys-on", ({ checked }) => storage.write("keys", checked));

// A link to a case has its identifiers in the fragment, which browsers send to no server. Submits them like pasted text.
const caseField = document.querySelector("[data-case]");
if (caseField) {
  const MAX_IDS = 200;
  const IDENTIFIER = /^0x([0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{1,63}\.{3}[0-9a-f]{1,63})$/i;

  function openCase() {
    const ids = new URLSearchParams(location.hash.slice(1)).get("ids");
    if (ids === null) return;
    history.replaceState(history.state, "", location.pathname); // going back must not submit them again
    const known = ids.split(",").filter((id) => IDENTIFIER.test(id));
    if (!known.length) return toast("The link has no identifiers.");
    caseField.value = known.slice(0, MAX_IDS).join("\n");
    caseField.form.requestSubmit();
  }

  openCase();
  // The results have the URL of the form: a link opened on them changes only the fragment.
  addEventListener("hashchange", openCase);
}
