// What HTML cannot do and the server need not know: copying, the theme switch, and `/` for the search box.

function copy(button) {
  navigator.clipboard.writeText(button.dataset.copy).then(() => {
    const icon = button.querySelector("use");
    const before = icon.getAttribute("href");
    icon.setAttribute("href", before.replace(/#.*/, "#check"));
    button.dataset.copied = "";
    document.getElementById("said").textContent = "Copied";
    setTimeout(() => {
      icon.setAttribute("href", before);
      delete button.dataset.copied;
    }, 1500);
  });
}

function switchTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  localStorage.setItem("theme", root.dataset.theme);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button?.dataset.copy !== undefined) copy(button);
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
