// Tells the page around the card its height and the transfer's status, whenever one changes.
const card = document.getElementById("embed");
if (card && parent !== window) {
  let told = "";

  const postState = () => {
    const { intent, status } = card.querySelector(".embed").dataset;
    const message = { source: "intents-ui", intent, status, height: Math.ceil(card.getBoundingClientRect().bottom) };
    if (JSON.stringify(message) === told) return;
    told = JSON.stringify(message);
    parent.postMessage(message, "*"); // only pages of INTENTS_EMBED_HOSTS can be around it
  };

  new ResizeObserver(postState).observe(card); // which also begins with it
  new MutationObserver(postState).observe(card, { subtree: true, attributes: true, childList: true });
}

// Looks up the ticket that the page around the side bar sends. Messages of other pages are ignored.
const lookup = document.getElementById("lookup");
if (lookup && parent !== window) {
  const isDone = lookup.hasAttribute("data-done");
  const guid = new URLSearchParams(location.search).get("app_guid"); // Zendesk's name of the frame
  const TICKET = 1;

  // As `frame-ancestors` matches the same hosts: one without a scheme has the page's own scheme or https, and `*.` stands
  // for subdomains only.
  const allowed = lookup.dataset.hosts.split(" ").map((host) => {
    const ownScheme = host === "*" ? "https?:" : `(?:${location.protocol}|https:)`;
    const source = host.includes("://") ? host : `${ownScheme}//${host}`;
    return new RegExp(`^${source.replaceAll(".", "\\.").replace("*", ".+")}$`);
  });

  // Only pages of these hosts can be around the frame, and requests for a ticket contain nothing of it.
  const send = (message) => parent.postMessage(message, "*");
  const sendToZendesk = (message) => send(JSON.stringify({ ...message, appGuid: guid, instanceGuid: guid }));

  // Once for each ticket, because helpdesks send it again after each page of the frame.
  const lookUp = (number, texts) => {
    const { q, ticket } = lookup.elements;
    const known = Number.isSafeInteger(number) ? String(number) : "";
    if (isDone && ticket.value === known) return;
    const written = texts.filter((text) => typeof text === "string");
    q.value = written.join("\n").slice(0, q.maxLength);
    ticket.value = known;
    if (q.value.trim()) lookup.requestSubmit();
  };

  const readChatwoot = ({ event, data }) => {
    if (event !== "appContext" || !data?.conversation) return;
    const { id, messages = [], custom_attributes: known } = data.conversation;
    const newestFirst = messages.map(({ content }) => content).reverse();
    lookUp(id, [...newestFirst, ...Object.values(known ?? {}), ...Object.values(data.contact?.custom_attributes ?? {})]);
  };

  // The messages of Zendesk's app framework.
  const readZendesk = ({ key, id, result }) => {
    if (key === "zaf.app.registered") {
      sendToZendesk({ request: "invoke", params: { resize: [{ width: "100%", height: "600px" }] } });
      const params = ["ticket.id", "ticket.subject", "ticket.description", "ticket.comments"];
      sendToZendesk({ id: TICKET, request: "get", params });
    } else if (id === TICKET && result) {
      const comments = result["ticket.comments"] ?? [];
      const texts = [result["ticket.subject"], result["ticket.description"], ...comments.map(({ value }) => value)];
      lookUp(result["ticket.id"], texts);
    }
  };

  addEventListener("message", ({ source, origin, data }) => {
    if (source !== parent || !allowed.some((each) => each.test(origin)) || (guid && isDone)) return;
    let message;
    try {
      message = JSON.parse(data);
    } catch {
      return; // not for us
    }
    if (message) (guid ? readZendesk : readChatwoot)(message);
  });
  if (!guid) send("chatwoot-dashboard-app:fetch-info");
  else if (!isDone) sendToZendesk({ key: "iframe.handshake", message: { version: "2.0.0" } });
}
