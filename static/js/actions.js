// The action bar of a transfer's page, and what its buttons and keys do.

// The page's canonical address, without the search that led there.
function pageLink() {
  return new URL(document.querySelector("link[rel=canonical]").href, location.href).href;
}

const copyLink = () => copyText(pageLink(), "Copied link");

function copyReport(id, words) {
  const text = document.getElementById(id)?.value;
  if (text) copyText(text, words);
  else toast("Couldn't copy. The receipt couldn't be loaded.");
}

const copyReply = () => copyReport("reply-plain", "Copied customer reply");
const copyEscalation = () => copyReport("escalation-plain", "Copied escalation");

// The texts end with the page's link. Those of a stream don't know the host.
function completeLinks() {
  for (const text of document.querySelectorAll("#reply textarea")) {
    text.value = text.defaultValue.replace(/\S+\s*$/, `${pageLink()}\n`);
  }
}

completeLinks();
document.addEventListener("htmx:after:swap", completeLinks);

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
