// What HTML cannot do and the server need not know: copying, the theme switch, and `/` for the search box.

function say(words) {
  const said = document.getElementById("said");
  said.textContent = "";
  setTimeout(() => (said.textContent = words), 50); // the same words twice are only heard when they were gone between
}

// A part that came says in one line what came.
document.addEventListener("htmx:after:swap", (event) => {
  const said = event.detail?.ctx?.target?.querySelector?.("[data-said]");
  if (said) say(said.dataset.said);
});

async function copy(button) {
  const icon = button.querySelector("use");
  const sprite = icon.getAttribute("href").replace(/#.*/, "");
  try {
    await navigator.clipboard.writeText(button.dataset.copy ?? document.getElementById(button.dataset.copyOf).value);
  } catch {
    return say("Could not copy: this browser allows it on secure pages only"); // plain HTTP beyond loopback
  }
  icon.setAttribute("href", sprite + "#check");
  button.dataset.copied = "";
  say("Copied");
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
  kept.write("theme", root.dataset.theme);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button?.matches("[data-copy], [data-copy-of]")) copy(button);
  else if (button?.dataset.action === "theme") switchTheme();
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, textarea, select, [contenteditable]")) return;
  const box = document.querySelector("[data-search]");
  if (!box) return;
  event.preventDefault();
  box.focus();
  box.select();
});

for (const control of document.querySelectorAll("[data-scripted]")) control.hidden = false;

// A page that comes piece by piece is whole now: what it comes to is heard, also by who did not listen to each piece.
const end = document.querySelector("[data-end]");
if (end) say(end.textContent);
