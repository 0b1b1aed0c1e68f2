// Before the first paint: the theme that this browser was asked to keep.
{
  const theme = kept.read("theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
}
