// The page of saved items: remove and clear.

function showForgetful() {
  document.getElementById("forgetful").checked = !storage.read("keep-looked-up", true);
}

// Remove the row, then focus the row that takes its place, or the list's heading.
function removeRow(button, list) {
  const section = button.closest("section");
  const at = Array.from(section.querySelectorAll("li")).indexOf(button.closest("li"));
  say(savedItems.remove(list, button.dataset.remove) || "Removed");
  const rest = section.querySelectorAll("li button");
  (rest[Math.min(at, rest.length - 1)] ?? section.querySelector("h2")).focus();
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if (button.dataset.remove) removeRow(button, button.closest("[data-saved-list]").dataset.savedList);
  else if ("wipe" in button.dataset && storage.clear()) location.reload();
});

document.getElementById("forgetful").addEventListener("change", (event) => {
  const isForgetful = event.target.checked;
  const problem = savedItems.save("keep-looked-up", !isForgetful);
  if (isForgetful) savedItems.save("looked-up", []);
  say(problem || (isForgetful ? "Search history cleared" : "Search history is on"));
});

addEventListener("storagechange", showForgetful);
document.querySelector("[data-unscripted]").hidden = true;
document.querySelector("[data-refused]").hidden = storage.isAllowed();
showForgetful();
