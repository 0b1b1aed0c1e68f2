// Before the first paint: the theme that this browser was asked to keep. A browser may refuse to keep anything.
try {
  const kept = localStorage.getItem("theme");
  if (kept === "light" || kept === "dark") document.documentElement.dataset.theme = kept;
} catch {}
