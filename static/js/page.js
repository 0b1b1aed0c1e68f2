// What every page has.

// Trusted Types policy: allow HTML from htmx, in which scripts don't run, but no script and no script URL. A fragment
// with a script is rejected.
window.trustedTypes?.createPolicy("default", { createHTML: (text) => text });

// CSP can't stop a redirect by an added <meta>, so reject fragments with one.
document.addEventListener("htmx:before:swap", (event) => {
  if (event.detail.tasks.some((task) => task.fragment.querySelector("meta"))) event.preventDefault();
});

// Call `act(element, event)` on events in elements that match, also in those that come later.
function on(type, selector, act) {
  document.addEventListener(type, (event) => {
    const element = event.target.closest?.(selector);
    if (element) act(element, event);
  });
}

// Show what depends on saved values or on the content of the page, now and whenever one of them changes.
function keepShown(show) {
  show();
  addEventListener("storagechange", show);
  addEventListener("pageshow", (event) => event.persisted && show());
  document.addEventListener("htmx:after:swap", show);
}

function announce(words) {
  const said = document.getElementById("said");
  said.textContent = "";
  setTimeout(() => (said.textContent = words), 50); // a repeated message is only announced if the region was empty in between
}

// Show a message for a moment, in a hidden tab until then, and announce it.
function toast(words, stays = 2500) {
  const shown = document.getElementById("toast");
  announce(words);
  shown.textContent = words;
  shown.hidden = false;
  clearInterval(shown.end);
  shown.end = setInterval(() => (shown.hidden = !document.hidden), stays);
}

// htmx adds the page's URL to each request. The server reads its path, to know whether a fragment is all that the page
// shows. Without its query it doesn't exceed the header size limit.
document.addEventListener("htmx:config:request", ({ detail }) => {
  detail.ctx.request.headers["HX-Current-URL"] = location.origin + location.pathname;
});

// When a swap removes the focused control, focus the same link in the new content, else the heading or first row of what
// took its place, or the nearest heading around it.
let focused = [];

// A heading or a link.
function focusTarget(target) {
  if (target?.matches("h1, h2, h3")) target.tabIndex = -1;
  target?.focus({ preventScroll: true });
}

document.addEventListener("htmx:before:swap", () => {
  focused = [];
  for (let each = document.activeElement; each.closest("main *"); each = each.parentElement)
    focused.push({ each, parent: each.parentElement, before: each.previousElementSibling });
});

document.addEventListener("htmx:finally:swap", () => {
  if (document.activeElement !== document.body || !focused.length) return;
  const href = focused[0].each.getAttribute("href");
  const { parent, before } = focused.findLast(({ each }) => !each.isConnected) ?? focused[0];
  const came = before?.isConnected ? before.nextElementSibling : parent.firstElementChild;
  let around = parent;
  while (around.parentElement && !around.querySelector("h1, h2, h3")) around = around.parentElement;
  const sameLink = href && parent.querySelector(`a[href="${CSS.escape(href)}"]`);
  focusTarget(sameLink || came?.querySelector("h1, h2, h3, tbody a[href]") || around.querySelector("h1, h2, h3"));
});

// Announce what a swapped-in fragment contains. A list that was replaced begins at its heading.
document.addEventListener("htmx:after:swap", ({ detail }) => {
  const target = detail?.ctx?.target;
  const said = target?.querySelector?.("[data-said]");
  if (said) announce(said.dataset.said);
  if (target?.id !== "list") return;
  focusTarget(target.querySelector("h1, h2"));
  if (target.getBoundingClientRect().top < 0) target.scrollIntoView();
});

// Where the browser, or the page around a frame, refuses access to the clipboard, a selection can often be copied.
function copySelected(text) {
  const field = document.createElement("textarea");
  const before = document.activeElement;
  field.value = text;
  document.body.append(field);
  field.select();
  const isCopied = document.activeElement === field && document.execCommand("copy");
  field.remove();
  before.focus();
  return isCopied;
}

// Return whether the text was copied. `words` say so.
async function copyText(text, words = "Copied") {
  const write = async () => navigator.clipboard.writeText(text); // there is no clipboard without HTTPS
  const isCopied = await write().then(() => true, () => copySelected(text));
  const refusal = isSecureContext ? "The browser refused access to the clipboard." : "Clipboard access requires HTTPS.";
  toast(isCopied ? words : `Couldn't copy. ${refusal}`);
  return isCopied;
}

// The page's canonical address, without the search that led there.
const pageLink = () => new URL(document.querySelector("link[rel=canonical]")?.href ?? "", location.href).href;
const copyLink = () => copyText(pageLink(), "Copied link");

// "Copy address" becomes "Copied address".
async function copy(control) {
  const { copyOf, copy: given } = control.dataset;
  const source = document.getElementById(copyOf);
  const text = copyOf ? (source?.value ?? source?.textContent) : given || control.previousElementSibling.title;
  if (!text) return toast("Couldn't copy. The receipt couldn't be loaded.");
  const words = (control.ariaLabel || control.title || undefined)?.replace(/^Copy(?=:? )/, "Copied");
  if (!(await copyText(text, words))) return;
  control.dataset.copied = "";
  clearTimeout(control.back);
  control.back = setTimeout(() => delete control.dataset.copied, 1500);
}

on("click", "[data-copy], [data-copy-of]", (control, event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return; // a link opens in another tab
  event.preventDefault();
  copy(control);
});

on("click", "[data-action=theme]", () => {
  const { dataset } = document.documentElement;
  const isDark = dataset.theme ? dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  dataset.theme = isDark ? "light" : "dark";
  storage.write("theme", dataset.theme);
});

// Announce the result of a streamed page once it's complete.
const total = document.getElementById("total");
if (total) announce(total.textContent);

// A logo that failed to load gives way to the letters below it, a picture with a caption to nothing.
const giveWay = (image) => (image.closest("figure") ?? image).remove();
document.addEventListener("error", ({ target }) => target.matches("img") && giveWay(target), true);
for (const each of document.images) if (each.complete && !each.naturalWidth) giveWay(each);

// AbortError: the user dismissed the share sheet.
on("click", "[data-share]", ({ dataset }) => navigator.share({ title: dataset.title, url: dataset.share }).catch(() => {}));

// Mark an address in all its places while the pointer or the focus is on one of them.
const addressIn = (place) => (place.querySelector("[title]") ?? place).title.toLowerCase();

for (const type of ["pointerover", "focusin"])
  document.addEventListener(type, ({ target }) => {
    const pointed = target.closest?.("[data-address]");
    const places = Array.from(document.querySelectorAll("[data-address]"));
    const equal = places.filter((place) => pointed && addressIn(place) === addressIn(pointed));
    for (const place of places) place.toggleAttribute("data-marked", equal.length > 1 && equal.includes(place));
  });

// Menus close on Escape, on a choice, and on a click elsewhere. The first two return the focus to the menu's button.

const openMenus = () => document.querySelectorAll("details:is([name=filter], [name=export], .more)[open]");

function closeMenu(menu) {
  menu.open = false;
  menu.querySelector("summary").focus();
}

document.addEventListener("click", (event) => {
  for (const menu of openMenus()) if (!menu.contains(event.target)) menu.open = false;
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") for (const menu of openMenus()) closeMenu(menu);
});
on("click", "details [data-chosen]", (choice) => closeMenu(choice.closest("details")));

// The stop button disappears with the export, so focus the export's status.
on("submit", ".export-run form", (form) => form.closest(".export-run").focus());
