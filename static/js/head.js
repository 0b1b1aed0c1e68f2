// Before the first paint: what this browser has saved, and the theme and row height that follow from it.

// localStorage wrapper. Storage may be unavailable or contain invalid data.
const storage = {
  read(name, otherwise, place = () => localStorage) {
    try {
      return JSON.parse(place().getItem(name)) ?? otherwise;
    } catch {
      return otherwise;
    }
  },

  // Return whether the value was saved.
  write(name, value, place = () => localStorage) {
    try {
      place().setItem(name, JSON.stringify(value));
    } catch {
      return false;
    }
    dispatchEvent(new CustomEvent("storagechange", { detail: name }));
    return true;
  },
};

// "storagechange" fires on each change in any tab. `detail` is the name, or null if all values may have changed.
addEventListener("storage", (event) => dispatchEvent(new CustomEvent("storagechange", { detail: event.key })));

// The list from which this tab opened a transfer: its URL, and the paths of its transfers.
function openedList() {
  const list = storage.read("list", {}, () => sessionStorage);
  const isOurs = Array.isArray(list.paths) && [list.url, ...list.paths].every((each) => /^\/[^/\\]/.test(each));
  return isOurs ? list : { paths: [] };
}

// Deferred scripts fill in the links. Reserve their height before the first paint.
if (openedList().paths.includes(location.pathname)) document.documentElement.dataset.inList = "";

// Deferred scripts fill the saved lists. Hide what's below until then, so that it doesn't shift.
if (["starred", "looked-up", "views"].some((name) => storage.read(name, []).length)) {
  document.documentElement.dataset.fillsLists = "";
  addEventListener("DOMContentLoaded", () => delete document.documentElement.dataset.fillsLists);
}

// Controls that need scripts, or the Web Share API, are shown (utilities.css).
document.documentElement.dataset.scripts = "";
document.documentElement.toggleAttribute("data-shares", Boolean(navigator.share));

const isCompact = () => storage.read("density") === "compact";

const applyDensity = () => (document.documentElement.dataset.density = isCompact() ? "compact" : "comfortable");

applyDensity();
if (["light", "dark"].includes(storage.read("theme"))) document.documentElement.dataset.theme = storage.read("theme");
