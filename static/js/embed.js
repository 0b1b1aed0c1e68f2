// Tells the page around the card its height and the transfer's status, whenever one changes.
{
  const card = document.getElementById("embed");
  let told = "";

  function tell() {
    const { intent, status } = card.querySelector(".embed").dataset;
    const message = { source: "intents-ui", intent, status, height: Math.ceil(card.getBoundingClientRect().bottom) };
    if (JSON.stringify(message) === told) return;
    told = JSON.stringify(message);
    parent.postMessage(message, "*"); // only pages of INTENTS_EMBED_HOSTS can be around it
  }

  if (parent !== window) {
    new ResizeObserver(tell).observe(card);
    new MutationObserver(tell).observe(card, { subtree: true, attributes: true, childList: true });
    tell();
  }
}
