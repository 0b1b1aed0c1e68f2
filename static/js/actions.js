// The action bar of a transfer's page, and what its buttons and keys do.

// A text of the reply. It is loaded again each time, because the transfer may have changed.
function copyFromReply(part, words) {
  const fold = document.getElementById("reply");
  if (!fold) return;
  fold.addEventListener(
    "htmx:after:swap",
    () => {
      const button = fold.querySelector(`${part} [data-copy]`);
      if (button) copy(button, words);
    },
    { once: true },
  );
  if (fold.open) fold.dispatchEvent(new Event("toggle"));
  else fold.open = true;
}

const copyReply = () => copyFromReply(".reply", "Copied customer reply");
const copyEscalation = () => copyFromReply("#escalation", "Copied escalation");

// The page's canonical address, without the search that led there.
function copyLink() {
  copyText(new URL(document.querySelector("link[rel=canonical]").href, location.href).href, "Copied link");
}

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
