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

  // Whether eleven of twelve words in a row are on the list, and two of them differ.
  async function hasPhrase(words) {
    if (words.length < PHRASE) return false;
    known ??= new Set((await (await fetch("/static/vendor/bip39-english.txt")).text()).split("\n"));
    return words.some((_, at) => {
      const found = words.slice(at, at + PHRASE).filter((word) => known.has(word));
      return found.length >= PHRASE - 1 && new Set(found).size > 1;
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
      form.requestSubmit(event.submitter);
    },
    true,
  );

  // A suggestion to search for the text is checked like the form.
  document.addEventListener(
    "click",
    (event) => {
      const form = event.target.closest?.("#palette a[href*='/search?q=']")?.closest("form");
      if (!form || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      event.stopPropagation();
      form.requestSubmit();
    },
    true,
  );
}

// Suggestions below the search box: the page's actions, pages, saved items, and matches from the server (tokens, chains,
// route providers, statuses). The text is sent there unless it could be an identifier.

const PAUSE = 250; // ms without a key before a request
const MAX_SHOWN = 5; // in a group
const IDENTIFIER = /^(?:(?:0[xX])?(?:[\da-fA-F]{40}|[\da-fA-F]{64})|[1-9A-HJ-NP-Za-km-z]{32,90})$/;
const PART_OF_IDENTIFIER = /^0x|\S{20}/i;
const LONGEST_SENT = 40;
const MAX_WORDS = 4;
// What the page needs for the action of a key.
const NEEDS = {
  y: ".action-bar [data-action=reply]",
  l: ".action-bar [data-action=link]",
  e: ":is(.action-bar, .page-head) a[rel~=external]",
  s: "main [data-star]",
  f: "main [data-follow]",
  t: "[data-action=theme]",
};
let optionCount = 0;

// `note`: what is shown next to the words. `key`: its shortcut.
function option(words, { note = "", key = "", href, act }) {
  const made = document.createElement(href ? "a" : "button");
  Object.assign(made, { id: `option-${++optionCount}`, role: "option", ariaSelected: "false", tabIndex: -1 });
  Object.assign(made, href ? { href } : { type: "button", onclick: act });
  for (const [name, textContent] of Object.entries({ bdi: words, small: note, kbd: key })) {
    const part = Object.assign(document.createElement(name), { textContent });
    if (name === "kbd") part.ariaHidden = "true";
    if (name === "small") part.dir = "auto";
    if (textContent) made.append(part);
  }
  return made;
}

function optionGroup(name, options) {
  const made = Object.assign(document.createElement("div"), { role: "group", ariaLabel: name, hidden: !options.length });
  made.append(Object.assign(document.createElement("p"), { textContent: name, ariaHidden: "true" }), ...options.slice(0, MAX_SHOWN));
  return made;
}

// The actions of this page, with the words of the shortcuts dialog.
function actionOptions(fits) {
  const rows = Array.from(document.querySelectorAll("#keys dl > div"));
  const printing = fits("Print this page") ? [option("Print this page", { act: () => print() })] : [];
  return Object.entries(NEEDS).flatMap(([key, needed]) => {
    const control = document.querySelector(needed);
    const does = rows.find((row) => row.querySelector("kbd").textContent === key).querySelector("dd").textContent;
    const words = control?.ariaPressed === "true" ? `Un${does.toLowerCase()}` : does;
    if (!control || control.hidden || !fits(words)) return [];
    const act = () => {
      document.querySelector("main").focus({ preventScroll: true });
      KEYS[key]();
    };
    return [option(words, { key, act })];
  }).concat(printing);
}

function pageOptions(fits) {
  const links = Array.from(document.querySelectorAll(".frame-head nav a[href], .frame-foot a[href]"));
  const others = links.filter((link) => link.ariaCurrent !== "page" && fits(link.textContent));
  const pages = new Map(others.map((link) => [link.href, link.textContent.trim()])); // a phone's menu repeats some
  return Array.from(pages, ([href, name]) => option(name, { href }));
}

function savedOptions(fits) {
  const pages = new Map(savedItems.pages("looked-up", "starred").map((page) => [page.path, page]));
  pages.delete(location.pathname + location.search);
  return Array.from(pages.values()).filter(({ path, name }) => fits(`${name} ${path}`)).map(({ path, name }) => {
    const [, kind, rest] = path.match(/^\/(\w+)[/?](.*)$/);
    return option(name, { note: `${KINDS[kind]}${kind === "search" ? "" : ` ${shortened(rest)}`}`, href: path });
  });
}

// The options for what is in the box, and the group that is filled by the server.
function optionsFor(text, action) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (offered) => words.every((word) => offered.toLowerCase().includes(word));
  const query = encodeURIComponent(text);
  const search = { href: `${action}?q=${query}` };
  const intent = `/intent/${text.toLowerCase()}`;
  const isIdentifier = IDENTIFIER.test(text);
  const isSaved = ["looked-up", "starred"].some((list) => savedItems.page(list, intent));
  // Names have few words. More could be the beginning of a recovery phrase.
  const isSent = text.length > 1 && text.length <= LONGEST_SENT && words.length <= MAX_WORDS && !PART_OF_IDENTIFIER.test(text);
  const matches = optionGroup("Matches", []);
  const all = [
    optionGroup("Actions", actionOptions(fits)),
    optionGroup("Pages", pageOptions(fits)),
    optionGroup("Recent and starred", savedOptions(fits)),
    matches,
  ];
  if (isIdentifier) all.unshift(isSaved ? option(`Open intent ${text}`, { href: intent }) : option(`Look up ${text}`, search));
  else if (text) all.push(option(`Search for “${text.slice(0, 100)}”`, search));
  if (isSent) all.push(option(`Search all tokens for “${text}”`, { href: `/tokens?q=${query}` }));
  return { all, matches: isSent && matches };
}

async function loadMatches(text, matches, signal) {
  let options;
  try {
    const response = await fetch(`/suggest?q=${encodeURIComponent(text)}`, { signal });
    if (!response.ok) throw new Error(response.status);
    options = (await response.json()).found.map(({ name, note, url }) => option(name, { note, href: url }));
  } catch {
    options = [Object.assign(option("Couldn't load tokens and chains", {}), { ariaDisabled: "true" })];
  }
  if (signal.aborted) return;
  matches.append(...options);
  matches.hidden = !options.length;
}

function addPalette(box) {
  const panel = Object.assign(document.createElement("div"), { id: "palette", className: "palette", role: "listbox", ariaLabel: "Suggestions", hidden: true });
  box.form.append(panel);
  Object.assign(box, { role: "combobox", ariaAutoComplete: "list", ariaExpanded: "false" });
  box.setAttribute("aria-controls", panel.id);
  let active, request, timer;

  function activate(chosen) {
    if (active) active.ariaSelected = "false";
    active = chosen;
    if (!active) return box.removeAttribute("aria-activedescendant");
    active.ariaSelected = "true";
    box.setAttribute("aria-activedescendant", active.id);
    active.scrollIntoView({ block: "nearest" });
  }

  function show(isOpen) {
    panel.hidden = !isOpen;
    box.ariaExpanded = String(isOpen);
  }

  function close() {
    clearTimeout(timer);
    request?.abort();
    activate();
    show(false);
  }

  function open() {
    close();
    const text = box.value === box.defaultValue ? "" : box.value.trim();
    const { all, matches } = optionsFor(text, box.form.action);
    panel.replaceChildren(...all);
    panel.scrollTop = 0;
    show(Boolean(panel.querySelector("[role=option]")));
    request = new AbortController();
    if (matches) timer = setTimeout(loadMatches, PAUSE, text, matches, request.signal);
  }

  function move(step) {
    if (panel.hidden) return open();
    const options = panel.querySelectorAll("[role=option]:not([aria-disabled])");
    const places = options.length + 1; // the first one is the box
    const at = Array.from(options).indexOf(active) + 1;
    activate(options[((at + step + places) % places) - 1]);
  }

  const acts = {
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    Enter: () => active.click(),
    Escape: () => (panel.hidden ? (box.value = "") : close()),
  };
  box.addEventListener("keydown", (event) => {
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    if (!Object.hasOwn(acts, event.key) || (event.key === "Enter" && !active)) return;
    event.preventDefault();
    acts[event.key]();
  });
  box.addEventListener("input", open);
  box.addEventListener("click", () => panel.hidden && open());
  box.addEventListener("focusout", (event) => panel.contains(event.relatedTarget) || close());
  box.form.addEventListener("submit", close);
  panel.addEventListener("mousedown", (event) => event.preventDefault()); // the box keeps the focus
  on("click", "#palette [role=option]:not([aria-disabled])", (_, event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    box.value = box.defaultValue;
    close();
  });
}

const searchBox = document.querySelector("[data-search]");
if (searchBox) addPalette(searchBox);

// Keyboard shortcuts, off while the user types.

// The first link of each list row on the page.
function rowLinks() {
  const rows = document.querySelectorAll("main tbody tr, main [data-row]");
  return Array.from(rows, (row) => row.querySelector("a[href]")).filter((link) => link?.checkVisibility());
}

const currentRow = () => document.activeElement.closest("main tbody tr, main [data-row]");
const currentIntent = () => currentRow()?.querySelector("a[href^='/intent/']");
const press = (button) => document.querySelector(`main ${button}`)?.click();

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

const KEYS = {
  "/": search,
  j: () => go(1),
  k: () => go(-1),
  c: copySubject,
  r: openRaw,
  y: () => press(".action-bar [data-action=reply]"),
  l: copyLink,
  e: openExplorer,
  s: () => press("[data-star]"),
  f: () => press("[data-follow]"),
  t: switchTheme,
  "[": () => press("#neighbors a[rel=prev]"),
  "]": () => press("#neighbors a[rel=next]"),
  "?": () => document.getElementById("keys").showModal(),
};
const HELD = new Set(["j", "k"]); // keys that may repeat

// Keys of layouts without Latin letters count by their position on a US keyboard.
function keyOf(event) {
  const { key, code, shiftKey } = event;
  if (/^[\0-\x7f\p{Script=Latin}]/u.test(key) || event.getModifierState("AltGraph")) return key;
  if (shiftKey) return code === "Slash" ? "?" : key;
  return { Slash: "/", BracketLeft: "[", BracketRight: "]" }[code] ?? code.replace("Key", "").toLowerCase();
}

const WRITING = "input:not([type=radio], [type=checkbox]), textarea, select, [contenteditable]";

function pressKey(event) {
  const key = keyOf(event);
  const act = KEYS[key];
  // On many keyboards, brackets need AltGr, which counts as Ctrl + Alt.
  const isChord = (event.ctrlKey || event.altKey) && !event.getModifierState("AltGraph");
  if (!keysSwitch || !act || isChord || event.metaKey) return; // the side bar has none
  if (event.target.closest(WRITING) || (event.repeat && !HELD.has(key))) return;
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
if (keysSwitch) {
  keysSwitch.checked = storage.read("keys", true);
  keysSwitch.addEventListener("change", () => storage.write("keys", keysSwitch.checked));
}

// A link to a case has its identifiers in the fragment, which browsers send to no server. Submits them like pasted text.
if (document.querySelector("[data-case]")) {
  const MOST = 200;
  const IDENTIFIER = /^0x([0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{1,63}\.{3}[0-9a-f]{1,63})$/i;

  function openCase() {
    const ids = new URLSearchParams(location.hash.slice(1)).get("ids");
    if (ids === null) return;
    // Going back must not submit them again.
    history.replaceState(history.state, "", location.pathname);
    const known = ids.split(",").filter((id) => IDENTIFIER.test(id));
    if (!known.length) return toast("The link has no identifiers.");
    const field = document.querySelector("[data-case]");
    field.value = known.slice(0, MOST).join("\n");
    field.form.requestSubmit();
  }

  openCase();
  // The results have the URL of the form: a link opened on them changes only the fragment.
  addEventListener("hashchange", openCase);
}
