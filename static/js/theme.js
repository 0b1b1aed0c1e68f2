// Before the first paint: the theme that this browser was asked to keep, and the sign that scripts run.
const kept = localStorage.getItem("theme");
if (kept === "light" || kept === "dark") document.documentElement.dataset.theme = kept;
