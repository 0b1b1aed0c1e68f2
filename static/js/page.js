// What HTML cannot do and the server need not know: copying and the theme switch.

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

// Whether it was copied.
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    say("Could not copy: this browser allows it on secure pages only"); // plain HTTP beyond loopback
    return false;
  }
  say("Copied");
  return true;
}

async function copy(button) {
  const icon = button.querySelector("use");
  const sprite = icon.getAttribute("href").replace(/#.*/, "");
  if (!(await copyText(button.dataset.copy ?? document.getElementById(button.dataset.copyOf).value))) return;
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
  kept.write("theme", root.dataset.theme);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button?.matches("[data-copy], [data-copy-of]")) copy(button);
  else if (button?.dataset.action === "theme") switchTheme();
});

for (const control of document.querySelectorAll("[data-scripted]")) control.hidden = false;

// A page that comes piece by piece is whole now: what it comes to is heard, also by who did not listen to each piece.
const end = document.querySelector("[data-end]");
if (end) say(end.textContent);
