// The values of a chart's hour or day under the pointer, between its ends. They are those of the table below it.

document.addEventListener("pointermove", (event) => {
  const chart = event.target.closest?.("svg[data-values]");
  for (const each of document.querySelectorAll(".chart-value")) {
    if (!chart?.parentElement.contains(each)) each.textContent = "";
  }
  if (chart) chart.parentElement.querySelector(".chart-value").textContent = told(chart, event.clientX);
});

// Rows are newest first, a chart begins with the oldest.
function told(chart, x) {
  const rows = [...chart.closest("section").querySelectorAll(".series tbody tr")].reverse();
  const box = chart.getBoundingClientRect();
  const row = rows[Math.floor(((x - box.left) / box.width) * rows.length)];
  if (!row) return "";
  const [start, ...cells] = [...row.cells].map((cell) => cell.textContent.trim());
  const labels = [...row.cells].slice(1).map((cell) => cell.dataset.label);
  const values = chart.dataset.values
    .split(",")
    .map((label) => [label, cells[labels.indexOf(label)]])
    .filter(([, value]) => value);
  return `${start}: ${values.length ? values.map(([label, value]) => `${label} ${value}`).join(", ") : cells[0]}`;
}
