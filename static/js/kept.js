// What this browser keeps for its reader, as JSON. It may refuse to keep anything, and may hold what nobody can read.
const kept = {
  NAMES: ["theme", "times", "keys", "looked-up", "keep-looked-up", "starred", "labels", "followed"],

  read(name, otherwise) {
    try {
      return JSON.parse(localStorage.getItem(name)) ?? otherwise;
    } catch {
      return otherwise;
    }
  },

  // Whether it is kept now.
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

  // Whether nothing is left.
  wipe() {
    try {
      for (const name of kept.NAMES) localStorage.removeItem(name);
    } catch {
      return false;
    }
    return true;
  },
};

// "kept" tells of each change, in whichever tab it was made; `detail` is the name, or null where all may have changed.
addEventListener("storage", (event) => dispatchEvent(new CustomEvent("kept", { detail: event.key })));

// Lists of saved pages are filled by scripts that run before this event; what is below them waits, and does not move.
if (["starred", "looked-up"].some((name) => kept.read(name, []).length)) {
  document.documentElement.dataset.fillsLists = "";
  addEventListener("DOMContentLoaded", () => delete document.documentElement.dataset.fillsLists);
}
