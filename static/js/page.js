// What every page has.

// Trusted Types policy: allow HTML from htmx, in which scripts don't run, but no script and no script URL. A fragment
// with a script is rejected.
window.trustedTypes?.createPolicy("default", { createHTML: (text) => text });

// CSP can't stop a redirect by an added <meta>, so reject fragments with one.
document.addEventListener("htmx:before:swap", (event) => {
  if (event.detail.tasks.some((task) => task.fragment.querySelector("meta"))) event.preventDefault();
});

function announce(words) {
  const said = document.getElementById("said");
  said.textContent = "";
  setTimeout(() => (said.textContent = words), 50); // a repeated message is only announced if the region was empty in between
}

// htmx adds the page's URL to each request. The server reads its path, to know whether a fragment is all that the page
// shows. Without its query it doesn't exceed the header size limit.
document.addEventListener("htmx:config:request", ({ detail }) => {
  detail.ctx.request.headers["HX-Current-URL"] = location.origin + location.pathname;
});

// Announce what a swapped-in fragment contains.
document.addEventListener("htmx:after:swap", (event) => {
  const said = event.detail?.ctx?.target?.querySelector?.("[data-said]");
  if (said) announce(said.dataset.said);
});

// When a swap removes the focused control, focus the same control in the new content, else its heading, its first row,
// or the nearest heading before it.
let focused;

function focusPlace(control) {
  const parents = [];
  for (let each = control; each.localName !== "main"; each = each.parentElement)
    parents.push({ parent: each.parentElement, before: each.previousElementSibling, each });
  return { href: control.getAttribute("href"), parents };
}

function restoreFocus({ href, parents }) {
  const gone = parents.findLast(({ each }) => !each.isConnected) ?? parents[0];
  const came = gone.before?.isConnected ? gone.before.nextElementSibling : gone.parent.firstElementChild;
  const same = href && gone.parent.querySelector(`a[href="${CSS.escape(href)}"]`);
  let target = same || came?.querySelector("h1, h2, h3") || came?.querySelector("tbody a[href]");
  for (let each = gone.parent; each && !target; each = each.parentElement) target = each.querySelector("h1, h2, h3");
  if (!target) return;
  if (!target.matches("a")) target.tabIndex = -1;
  target.focus({ preventScroll: true });
}

document.addEventListener("htmx:before:swap", () => {
  const control = document.activeElement;
  focused = control?.closest("main") && control.localName !== "main" ? focusPlace(control) : null;
});
document.addEventListener("htmx:finally:swap", () => {
  if (focused && document.activeElement === document.body) restoreFocus(focused);
  focused = null;
});

// Show a message for a moment, and announce it.
function toast(words) {
  const shown = document.getElementById("toast");
  announce(words);
  shown.textContent = words;
  shown.hidden = false;
  clearTimeout(shown.end);
  shown.end = setTimeout(() => (shown.hidden = true), 2500);
}

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
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    if (!copySelected(text)) {
      toast(`Couldn't copy. ${isSecureContext ? "The browser refused access to the clipboard." : "Clipboard access requires HTTPS."}`);
      return false;
    }
  }
  toast(words);
  return true;
}

// "Copy address" has become "Copied address".
function copiedBy(button) {
  return (button.ariaLabel || button.title || undefined)?.replace(/^Copy(?=:? )/, "Copied");
}

// The page's canonical address, without the search that led there.
function pageLink() {
  return new URL(document.querySelector("link[rel=canonical]").href, location.href).href;
}

const copyLink = () => copyText(pageLink(), "Copied link");

async function copy(button, words = copiedBy(button)) {
  const icon = button.querySelector("use");
  const sprite = icon.getAttribute("href").replace(/#.*/, "");
  if (!(await copyText(button.dataset.copy ?? document.getElementById(button.dataset.copyOf).value, words))) return;
  icon.setAttribute("href", sprite + "#check");
  button.dataset.copied = "";
  clearTimeout(button.back);
  button.back = setTimeout(() => {
    icon.setAttribute("href", sprite + "#copy");
    delete button.dataset.copied;
  }, 1500);
}

function switchTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  storage.write("theme", root.dataset.theme);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button?.matches("[data-copy], [data-copy-of]")) copy(button);
  else if (button?.dataset.action === "theme") switchTheme();
});

for (const control of document.querySelectorAll("[data-scripted]")) control.hidden = false;

// Announce the result of a streamed page once it's complete.
const total = document.getElementById("total");
if (total) announce(total.textContent);

// A logo that failed to load gives way to the letters below it.
document.addEventListener("error", ({ target }) => target.matches("img") && target.remove(), true);
for (const each of document.images) if (each.complete && !each.naturalWidth) each.remove();

// The share button, in browsers with the Web Share API.

function offerSharing() {
  if (navigator.share) for (const button of document.querySelectorAll("[data-share]")) button.hidden = false;
}

document.addEventListener("htmx:after:swap", offerSharing);
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-share]");
  // AbortError: the user dismissed the share sheet.
  if (button) navigator.share({ title: button.dataset.title, url: button.dataset.share }).catch(() => {});
});

offerSharing();
