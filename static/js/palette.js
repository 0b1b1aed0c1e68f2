// Suggestions below the search box: the page's actions, pages, saved items, and matches from the server (tokens, chains,
// route providers, statuses). The text is sent there unless it could be an identifier.

const PAUSE = 250; // ms without a key before a request
const MOST_SHOWN = 5; // in a group
const IDENTIFIER = /^(?:(?:0[xX])?(?:[\da-fA-F]{40}|[\da-fA-F]{64})|[1-9A-HJ-NP-Za-km-z]{32,90})$/;
const PART_OF_IDENTIFIER = /^0x|\S{20}/i;
const LONGEST_SENT = 40;
const MOST_WORDS = 4;
// What the page needs for the action of a key.
const NEEDS = {
  y: ".action-bar [data-action=reply]",
  l: ".action-bar [data-action=link]",
  e: ".action-bar a[rel~=external]",
  s: "main [data-star]",
  f: "main [data-follow]",
  t: "[data-action=theme]",
};
let optionCount = 0;

const shortened = (id) => (id.length > 20 ? `${id.slice(0, 8)}…${id.slice(-6)}` : id);

// `note`: what is shown next to the words. `key`: its shortcut.
function option(words, { note = "", key = "", href, act }) {
  const made = document.createElement(href ? "a" : "button");
  Object.assign(made, { id: `option-${++optionCount}`, role: "option", ariaSelected: "false", tabIndex: -1 });
  if (href) made.href = href;
  else made.type = "button";
  if (act) made.addEventListener("click", act);
  for (const [name, text] of Object.entries({ bdi: words, small: note, kbd: key })) {
    if (!text) continue;
    const part = document.createElement(name);
    part.textContent = text;
    if (name === "kbd") part.ariaHidden = "true";
    if (name === "small") part.dir = "auto";
    made.append(part);
  }
  return made;
}

function optionGroup(name, options) {
  const made = document.createElement("div");
  const head = document.createElement("p");
  Object.assign(made, { role: "group", ariaLabel: name, hidden: !options.length });
  head.textContent = name;
  head.ariaHidden = "true";
  made.append(head, ...options);
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
  const pages = new Map(["looked-up", "starred"].flatMap((list) => savedItems.pages(list)).map((page) => [page.path, page]));
  pages.delete(location.pathname + location.search);
  return Array.from(pages.values()).filter(({ path, name }) => fits(`${name} ${path}`)).map(({ path, name }) => {
    const [, kind, rest] = path.match(/^\/(\w+)[/?](.*)$/);
    return option(name, { note: `${KINDS[kind]}${kind === "search" ? "" : ` ${shortened(rest)}`}`, href: path });
  });
}

function addPalette(box) {
  const panel = document.createElement("div");
  Object.assign(panel, { id: "palette", className: "palette", role: "listbox", ariaLabel: "Suggestions", hidden: true });
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

  async function load(text, matches) {
    const { signal } = (request = new AbortController());
    let options;
    try {
      const response = await fetch(`/suggest?q=${encodeURIComponent(text)}`, { signal });
      if (!response.ok) throw new Error(response.status);
      options = (await response.json()).found.map(({ name, note, url }) => option(name, { note, href: url }));
    } catch {
      options = [option("Couldn't load tokens and chains", {})];
      options[0].ariaDisabled = "true";
    }
    if (signal.aborted) return;
    matches.append(...options);
    matches.hidden = !options.length;
  }

  function open() {
    close();
    const text = box.value === box.defaultValue ? "" : box.value.trim();
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (offered) => words.every((word) => offered.toLowerCase().includes(word));
    const query = encodeURIComponent(text);
    const search = { href: `${box.form.action}?q=${query}` };
    const intent = `/intent/${text.toLowerCase()}`;
    const isSaved = ["looked-up", "starred"].some((list) => savedItems.page(list, intent));
    const isIdentifier = IDENTIFIER.test(text);
    // Names have few words. More could be the beginning of a recovery phrase.
    const isSent = text.length > 1 && text.length <= LONGEST_SENT && words.length <= MOST_WORDS && !PART_OF_IDENTIFIER.test(text);
    const matches = optionGroup("Matches", []);
    const groups = {
      Actions: actionOptions(fits),
      Pages: pageOptions(fits),
      "Recent and starred": savedOptions(fits),
    };
    panel.replaceChildren(
      ...(isIdentifier ? [isSaved ? option(`Open intent ${text}`, { href: intent }) : option(`Look up ${text}`, search)] : []),
      ...Object.entries(groups).map(([name, options]) => optionGroup(name, options.slice(0, MOST_SHOWN))),
      matches,
      ...(text && !isIdentifier ? [option(`Search for “${text.slice(0, 100)}”`, search)] : []),
      ...(isSent ? [option(`Search all tokens for “${text}”`, { href: `/tokens?q=${query}` })] : []),
    );
    panel.scrollTop = 0;
    show(Boolean(panel.querySelector("[role=option]")));
    if (isSent) timer = setTimeout(load, PAUSE, text, matches);
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
  panel.addEventListener("click", (event) => {
    const chosen = event.target.closest("[role=option]:not([aria-disabled])");
    if (!chosen || event.ctrlKey || event.metaKey || event.shiftKey) return;
    box.value = box.defaultValue;
    close();
  });
}

const searchBox = document.querySelector("[data-search]");
if (searchBox) addPalette(searchBox);
