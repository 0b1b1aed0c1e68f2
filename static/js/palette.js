// Suggestions below the search box, loaded when it is first used: the page's actions, pages, saved items, and matches from
// the server (tokens, chains, route providers, statuses). The text is sent there unless it could be an identifier.

const PAUSE = 250; // ms without a key before a request
const MAX_SHOWN = 5; // in a group
const IDENTIFIER = /^(?:(?:0[xX])?(?:[\da-fA-F]{40}|[\da-fA-F]{64})|[1-9A-HJ-NP-Za-km-z]{32,90})$/;
const PART_OF_IDENTIFIER = /^0x|\S{20}/i;
const LONGEST_SENT = 40;
const MAX_WORDS = 4;
const OFFERED = ["y", "l", "e", "s", "f", "t"]; // keys whose actions are offered where the page has their control
let optionCount = 0;

// `note`: what is shown next to the words. `key`: its shortcut. Without `href` and `act`, it submits the form.
function option(words, { note = "", key = "", href, act }) {
  const made = document.createElement(href ? "a" : "button");
  Object.assign(made, { id: `option-${++optionCount}`, role: "option", ariaSelected: "false", tabIndex: -1 });
  Object.assign(made, href ? { href } : { type: act ? "button" : "submit", onclick: act ?? null });
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
  made.append(Object.assign(document.createElement("p"), { textContent: name, ariaHidden: "true" }));
  made.append(...options.slice(0, MAX_SHOWN));
  return made;
}

// The actions of this page, with the words of the shortcuts dialog.
function actionOptions(fits) {
  const rows = Array.from(document.querySelectorAll("#keys dl > div"));
  const options = OFFERED.flatMap((key) => {
    const control = document.querySelector(CONTROLS[key]);
    const does = rows.find((row) => row.querySelector("kbd").textContent === key).querySelector("dd").textContent;
    const words = control?.ariaPressed === "true" ? `Un${does.toLowerCase()}` : does;
    if (!control || control.hidden || !fits(words)) return [];
    const act = () => {
      document.querySelector("main").focus({ preventScroll: true });
      KEYS[key]();
    };
    return option(words, { key, act });
  });
  return fits("Print this page") ? [...options, option("Print this page", { act: () => print() })] : options;
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
  const matching = Array.from(pages.values()).filter(({ path, name }) => fits(`${name} ${path}`));
  return matching.map(({ path, name }) => {
    const { kind, short } = kindOf(path);
    return option(name, { note: `${KINDS[kind]} ${short}`.trim(), href: path });
  });
}

// The options for what is in the box, and the group that is filled by the server.
function optionsFor(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (offered) => words.every((word) => offered.toLowerCase().includes(word));
  const query = encodeURIComponent(text);
  // Names have few words. More could be the beginning of a recovery phrase.
  const isSent = text.length > 1 && text.length <= LONGEST_SENT && words.length <= MAX_WORDS && !PART_OF_IDENTIFIER.test(text);
  const matches = optionGroup("Matches", []);
  const all = [
    optionGroup("Actions", actionOptions(fits)),
    optionGroup("Pages", pageOptions(fits)),
    optionGroup("Recent and starred", savedOptions(fits)),
    matches,
  ];
  if (IDENTIFIER.test(text)) all.unshift(option(`Look up ${text}`, {}));
  else if (text) all.push(option(`Search for “${text.slice(0, 100)}”`, {}));
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
    options = [Object.assign(option("Couldn't load tokens and chains", {}), { disabled: true })];
  }
  if (signal.aborted) return;
  matches.append(...options);
  matches.hidden = !options.length;
}

// Add the suggestions to the box. Return what shows them.
export function addPalette(box) {
  const panel = document.createElement("div");
  Object.assign(panel, { id: "palette", className: "palette", role: "listbox", ariaLabel: "Suggestions", hidden: true });
  box.form.append(panel);
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
    const { all, matches } = optionsFor(text);
    panel.replaceChildren(...all);
    panel.scrollTop = 0;
    show(Boolean(panel.querySelector("[role=option]")));
    request = new AbortController();
    if (matches) timer = setTimeout(loadMatches, PAUSE, text, matches, request.signal);
  }

  function move(step) {
    if (panel.hidden) return open();
    const options = Array.from(panel.querySelectorAll("[role=option]:enabled, a[role=option]"));
    const places = options.length + 1; // the first one is the box
    const at = options.indexOf(active) + 1;
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
  on("click", "#palette :is(a, button[type=button])", (_, event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    box.value = box.defaultValue;
    close();
  });
  return open;
}
