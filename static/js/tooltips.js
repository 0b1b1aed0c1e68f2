// Tooltips for glossary terms, in browsers without `interestfor`.

if (!("interestForElement" in HTMLButtonElement.prototype)) {
  let shown = null;
  let going = 0;

  const hide = () => {
    clearTimeout(going);
    shown?.hidePopover();
    shown = null;
  };

  const show = (link) => {
    clearTimeout(going);
    const tip = document.getElementById(link.getAttribute("aria-describedby"));
    if (tip === shown) return;
    hide();
    shown = tip;
    shown?.showPopover({ source: link });
  };

  const at = (event) => event.target.closest?.(".term");

  document.addEventListener("pointerover", (event) => {
    if (event.pointerType !== "mouse") return; // a tap follows the link
    if (at(event)) return show(at(event));
    clearTimeout(going);
    if (!shown?.contains(event.target)) going = setTimeout(hide, 200);
  });
  document.addEventListener("focusin", (event) => (at(event) ? show(at(event)) : hide()));
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
}
