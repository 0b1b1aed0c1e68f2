// The action bar of a transfer's page, and what its buttons and keys do.

// The page's canonical address, without the search that led there.
function pageLink() {
  return new URL(document.querySelector("link[rel=canonical]").href, location.href).href;
}

const copyLink = () => copyText(pageLink(), "Copied link");

// A text that the page has as of its last update. It ends with the page's link.
function copyReport(id, words) {
  const text = document.getElementById(id)?.value;
  if (text) copyText(`${text}${pageLink()}\n`, words);
  else if (document.getElementById("bar")) toast("Couldn't copy. The receipt couldn't be loaded.");
}

const copyReply = () => copyReport("reply-to-copy", "Copied customer reply");
const copyEscalation = () => copyReport("escalation-to-copy", "Copied escalation");

// An unfolded reply follows the transfer. One that is older than the page can't be copied.
document.addEventListener("htmx:after:swap", (event) => {
  if (event.detail?.ctx?.target?.id !== "receipt") return;
  const fold = document.getElementById("reply");
  for (const button of fold.querySelectorAll("[data-copy]")) button.disabled = true;
  if (fold.open) fold.dispatchEvent(new Event("toggle"));
});

const ACTIONS = { reply: copyReply, escalation: copyEscalation, link: copyLink, print: () => print() };

document.addEventListener("click", (event) => {
  const control = event.target.closest(".action-bar [data-action]");
  if (!control || event.ctrlKey || event.metaKey || event.shiftKey) return; // a link opens in another tab
  event.preventDefault();
  const menu = control.closest("details");
  if (menu) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
  ACTIONS[control.dataset.action]();
});

// The bar repeats the status once the answer is above it.
function showAnswerInBar(bar) {
  const answer = document.querySelector(".answer h1");
  const isAbove = answer && answer.getBoundingClientRect().bottom < bar.getBoundingClientRect().bottom;
  bar.toggleAttribute("data-stuck", Boolean(isAbove));
}

const actionBar = document.getElementById("bar");
if (actionBar) addEventListener("scroll", () => showAnswerInBar(actionBar), { passive: true });
