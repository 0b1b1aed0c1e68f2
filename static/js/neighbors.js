// The transfers before and after this one, in the list from which this tab opened it.

function rememberList(event) {
  const link = event.target.closest("main tr a[href^='/intent/']");
  if (!link) return;
  const links = document.querySelectorAll("main tr a.row-link[href^='/intent/']");
  const paths = [...new Set(Array.from(links, (each) => each.pathname))];
  if (paths.includes(link.pathname)) openedList.write({ url: location.pathname + location.search, paths });
}

function fillNeighbors(nav) {
  const { url, paths } = openedList.read();
  const at = paths.indexOf(location.pathname);
  if (at < 0) return;
  const step = (rel, words, key, path) => {
    const link = document.createElement(path ? "a" : "span");
    link.textContent = words;
    link.className = "button";
    if (path) Object.assign(link, { href: path, rel, ariaKeyShortcuts: key });
    else Object.assign(link, { ariaHidden: "true" }).dataset.off = "";
    return link;
  };
  const list = document.createElement("a");
  list.textContent = `${at + 1} of ${paths.length} in the list`;
  list.href = url;
  nav.replaceChildren(
    step("prev", "← Previous", "[", paths[at - 1]),
    list,
    step("next", "Next →", "]", paths[at + 1]),
  );
}

function openNeighbor(rel) {
  document.querySelector(`#neighbors a[rel=${rel}]`)?.click();
}

document.addEventListener("click", rememberList);
const neighbors = document.getElementById("neighbors");
if (neighbors) fillNeighbors(neighbors);
