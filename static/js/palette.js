// Suggestions below the search box, loaded when it is first used: the page's actions, pages, saved items, and matches from
// the server (tokens, chains, route providers, statuses). The text is sent there unless it could be an identifier.

const PAUSE = 250; // ms without a key before a request
const MAX_SHOWN = 5; // in a group
const IDENTIFIER = /^(?:(?:0[xX])?(?:[\da-fA-F]{40}|[\da-fA-F]{64})|[1-9A-HJ-NP-Za-km-z]{32,90})$/;
const PART_OF_IDENTIFIER = /^0x|\S{20}/i;
const LONGEST_SENT = 40;
const MAX_WORDS = 4;
const OFFERED = ["y", "l", "e", "s", "f", "t"]; // keys whose actions are offered where the page has their control

const box = document.querySelector("[data-search]");
const panel = element("div", { id: "palette", className: "palette", role: "listbox", ariaLabel: "Suggestions", hidden: true });
let optionCount = 0;
let active, request, timer;

function element(name, properties) {
  return Object.assign(document.createElement(name), properties);
}

// `note`: what is shown next to the words. `key`: its shortcut. Without `href` and `act`, it submits the form.
function option({ words, note, key, href, act = null, disabled = false }) {
  const made = element(href ? "a" : "button", { id: `option-${++optionCount}`, role: "option", ariaSelected: "false", tabIndex: -1 });
  Object.assign(made, href ? { href } : { type: act ? "button" : "submit", onclick: act, disabled });
  made.append(element("bdi", { textContent: words }));
  if (note) made.append(element("small", { textContent: note, dir: "auto" }));
  if (key) made.append(element("kbd", { textContent: key, ariaHidden: "true" }));
  return made;
}

function group(name, offered) {
  const made = element("div", { role: "group", ariaLabel: name, hidden: !offered.length });
  made.append(element("p", { textContent: name, ariaHidden: "true" }), ...offered.map(option));
  return made;
}

// The actions of this page, with the words of the shortcuts dialog.
function actions() {
  const offered = Array.from(document.querySelectorAll("#keys dl > div"), (row) => {
    const [key, does] = Array.from(row.querySelectorAll("kbd, dd"), (part) => part.textContent);
    const control = OFFERED.includes(key) && document.querySelector(CONTROLS[key]);
    if (!control || control.hidden) return null;
    const act = () => {
      document.querySelector("main").focus({ preventScroll: true });
      KEYS[key]();
    };
    return { words: control.ariaPressed === "true" ? `Un${does.toLowerCase()}` : does, key, act };
  });
  return [...offered.filter(Boolean), { words: "Print this page", act: () => print() }];
}

function pages() {
  const links = document.querySelectorAll(":is(.frame-head nav, .frame-foot) a[href]:not([aria-current=page])");
  const offered = new Map(Array.from(links, ({ href, textContent }) => [href, { words: textContent.trim(), href }]));
  return Array.from(offered.values()); // a phone's menu repeats some
}

function saved() {
  const offered = new Map(savedItems.pages("looked-up", "starred").map((page) => [page.path, page]));
  offered.delete(location.pathname + location.search);
  return Array.from(offered.values(), ({ path, name }) => {
    const { kind, short } = kindOf(path);
    return { words: name, note: `${KINDS[kind]} ${short}`.trim(), href: path, also: path };
  });
}

async function loadMatches(text, matches, signal) {
  let found = [{ words: "Couldn't load tokens and chains", disabled: true }];
  try {
    const response = await fetch(`/suggest?q=${encodeURIComponent(text)}`, { signal });
    if (response.ok) found = (await response.json()).found.map(({ name, note, url }) => ({ words: name, note, href: url }));
  } catch {
    // The option says so.
  }
  if (!signal.aborted) matches.replaceWith(group("Matches", found));
}

function activate(chosen) {
  if (active) active.ariaSelected = "false";
  active = chosen;
  if (!active) return box.removeAttribute("aria-activedescendant");
  active.ariaSelected = "true";
  box.setAttribute("aria-activedescendant", active.id);
  active.scrollIntoView({ block: "nearest" });
}

function close() {
  clearTimeout(timer);
  request?.abort();
  activate();
  panel.hidden = true;
  box.ariaExpanded = "false";
}

function open() {
  close();
  const text = box.value === box.defaultValue ? "" : box.value.trim();
  const typed = text.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = ({ words, also = "" }) => typed.every((word) => `${words} ${also}`.toLowerCase().includes(word));
  const fitting = (name, offered) => group(name, offered.filter(fits).slice(0, MAX_SHOWN));
  const matches = group("Matches", []);
  panel.replaceChildren(fitting("Actions", actions()), fitting("Pages", pages()), fitting("Recent and starred", saved()), matches);
  if (IDENTIFIER.test(text)) panel.prepend(option({ words: `Look up ${text}` }));
  else if (text) panel.append(option({ words: `Search for “${text.slice(0, 100)}”` }));
  request = new AbortController();
  // Names have few words. More could be the beginning of a recovery phrase.
  if (text.length > 1 && text.length <= LONGEST_SENT && typed.length <= MAX_WORDS && !PART_OF_IDENTIFIER.test(text)) {
    panel.append(option({ words: `Search all tokens for “${text}”`, href: `/tokens?q=${encodeURIComponent(text)}` }));
    timer = setTimeout(loadMatches, PAUSE, text, matches, request.signal);
  }
  panel.hidden = !panel.querySelector("[role=option]");
  panel.scrollTop = 0;
  box.ariaExpanded = String(!panel.hidden);
}

function move(step) {
  if (panel.hidden) return open();
  const options = [undefined, ...panel.querySelectorAll("[role=option]:enabled, a[role=option]")]; // the first one is the box
  activate(options.at((options.indexOf(active) + step) % options.length));
}

const acts = {
  ArrowDown: () => move(1),
  ArrowUp: () => move(-1),
  Enter: () => active.click(),
  Escape: () => (panel.hidden ? (box.value = "") : close()),
};

box.form.append(panel);
box.setAttribute("aria-controls", panel.id);
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
on("click", "#palette :is(a, button[type=button])", (_, event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  box.value = box.defaultValue;
  close();
});
if (document.activeElement === box) open();
