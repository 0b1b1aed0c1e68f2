// localStorage wrapper. Storage may be unavailable or contain invalid data.
const kept = {
  NAMES: ["theme", "times", "keys", "looked-up", "keep-looked-up", "starred", "labels", "followed"],

  read(name, otherwise) {
    try {
      return JSON.parse(localStorage.getItem(name)) ?? otherwise;
    } catch {
      return otherwise;
    }
  },

  // Return whether the value was saved.
  write(name, value) {
    try {
      localStorage.setItem(name, JSON.stringify(value));
    } catch {
      return false;
    }
    dispatchEvent(new CustomEvent("kept", { detail: name }));
    return true;
  },

  isAllowed() {
    try {
      localStorage.setItem("asked", "");
      localStorage.removeItem("asked");
      return true;
    } catch {
      return false;
    }
  },

  // Return whether everything was cleared.
  wipe() {
    try {
      for (const name of kept.NAMES) localStorage.removeItem(name);
    } catch {
      return false;
    }
    return true;
  },
};

// "kept" fires on each change in any tab. `detail` is the name, or null if all values may have changed.
addEventListener("storage", (event) => dispatchEvent(new CustomEvent("kept", { detail: event.key })));

// Deferred scripts fill the saved lists. Hide what's below until then, so that it doesn't shift.
if (["starred", "looked-up"].some((name) => kept.read(name, []).length)) {
  document.documentElement.dataset.fillsLists = "";
  addEventListener("DOMContentLoaded", () => delete document.documentElement.dataset.fillsLists);
}
