// Passing a page on to another app, in browsers that can.

function offerSharing() {
  if (navigator.share) for (const button of document.querySelectorAll("[data-share]")) button.hidden = false;
}

document.addEventListener("htmx:after:swap", offerSharing);
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-share]");
  // Whoever closes the menu of apps has not failed.
  if (button) navigator.share({ title: button.dataset.title, url: button.dataset.share }).catch(() => {});
});

offerSharing();
