// Before the first paint: what this browser has saved, and the theme and row height that follow from it.

// localStorage wrapper. Storage may be unavailable or contain invalid data.
const storage = {
  NAMES: ["theme", "times", "keys", "looked-up", "keep-looked-up", "starred", "followed", "density", "views"],

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
    dispatchEvent(new CustomEvent("storagechange", { detail: name }));
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

  // The chosen columns of lists, which the server draws, and so a cookie.
  columns() {
    return document.cookie.match(/(?:^|; )columns=([a-z.]+)/)?.[1].split(".") ?? [];
  },

  // Return whether they were saved.
  chooseColumns(columns) {
    document.cookie = `columns=${columns.join(".")}; path=/; max-age=31536000; samesite=lax${location.protocol === "https:" ? "; secure" : ""}`;
    return String(storage.columns()) === String(columns);
  },

  // Return whether everything was cleared.
  clear() {
    try {
      for (const name of storage.NAMES) localStorage.removeItem(name);
      sessionStorage.removeItem("list");
      document.cookie = "columns=; path=/; max-age=0";
    } catch {
      return false;
    }
    return true;
  },
};

// The list from which this tab opened a transfer: its URL, and the paths of its transfers.
const openedList = {
  read() {
    try {
      const { url, paths } = JSON.parse(sessionStorage.getItem("list"));
      const isOurs = [url, ...paths].every((each) => /^\/[^/\\]/.test(each));
      return isOurs ? { url, paths } : { paths: [] };
    } catch {
      return { paths: [] };
    }
  },

  write(list) {
    try {
      sessionStorage.setItem("list", JSON.stringify(list));
    } catch {
      // The links are missing then.
    }
  },
};

// Deferred scripts fill in the links. Reserve their height before the first paint.
if (openedList.read().paths.includes(location.pathname)) document.documentElement.dataset.inList = "";

// "storagechange" fires on each change in any tab. `detail` is the name, or null if all values may have changed.
addEventListener("storage", (event) => dispatchEvent(new CustomEvent("storagechange", { detail: event.key })));

// Deferred scripts fill the saved lists. Hide what's below until then, so that it doesn't shift.
if (["starred", "looked-up", "views"].some((name) => storage.read(name, []).length)) {
  document.documentElement.dataset.fillsLists = "";
  addEventListener("DOMContentLoaded", () => delete document.documentElement.dataset.fillsLists);
}

// Apply the saved theme, and the row height of lists, before the first paint.
{
  const theme = storage.read("theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
}

function applyDensity() {
  document.documentElement.dataset.density = storage.read("density") === "compact" ? "compact" : "comfortable";
}

applyDensity();
