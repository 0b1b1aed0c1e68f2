// Apply the saved theme, and the row height of lists, before the first paint.
{
  const theme = storage.read("theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
}

function applyDensity() {
  document.documentElement.dataset.density = storage.read("density") === "compact" ? "compact" : "comfortable";
}

applyDensity();
