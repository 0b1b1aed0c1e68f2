// Apply the saved theme before the first paint.
{
  const theme = storage.read("theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
}
