// Apply the saved theme, and the columns and row height of lists, before the first paint.
{
  const theme = storage.read("theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
}

const listView = {
  DEFAULT: ["provider"],

  columns() {
    const chosen = storage.read("columns");
    return Array.isArray(chosen) ? chosen : listView.DEFAULT;
  },

  apply() {
    const { dataset } = document.documentElement;
    const columns = listView.columns();
    if (String(columns) === String(listView.DEFAULT)) delete dataset.columns;
    else dataset.columns = columns.join(" ");
    dataset.density = storage.read("density") === "compact" ? "compact" : "comfortable";
  },
};

listView.apply();
