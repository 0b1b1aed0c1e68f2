// The share button, in browsers with the Web Share API.

function offerSharing() {
  if (navigator.share) for (const button of document.querySelectorAll("[data-share]")) button.hidden = false;
}

document.addEventListener("htmx:after:swap", offerSharing);
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-share]");
  // AbortError: the user dismissed the share sheet.
  if (button) navigator.share({ title: button.dataset.title, url: button.dataset.share }).catch(() => {});
});

offerSharing();
