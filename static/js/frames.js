// Tells the page around the card its height and the transfer's status, whenever one changes.
if (document.getElementById("embed") && parent !== window) {
  const card = document.getElementById("embed");
  let told = "";

  function postState() {
    const { intent, status } = card.querySelector(".embed").dataset;
    const message = { source: "intents-ui", intent, status, height: Math.ceil(card.getBoundingClientRect().bottom) };
    if (JSON.stringify(message) === told) return;
    told = JSON.stringify(message);
    parent.postMessage(message, "*"); // only pages of INTENTS_EMBED_HOSTS can be around it
  }

  new ResizeObserver(postState).observe(card);
  new MutationObserver(postState).observe(card, { subtree: true, attributes: true, childList: true });
  postState();
}

// Looks up the ticket that the page around the side bar sends. Messages of other pages are ignored.
if (document.getElementById("lookup")) {
  const form = document.getElementById("lookup");
  const hosts = form.dataset.hosts.split(" ");
  const isDone = form.hasAttribute("data-done");
  const guid = new URLSearchParams(location.search).get("app_guid"); // Zendesk's name of the frame
  const TICKET = 1;

  // Once for each ticket, because helpdesks send it again after each page of the frame.
  function lookUp(number, texts) {
    const { q, ticket } = form.elements;
    const known = Number.isSafeInteger(number) ? String(number) : "";
    if (isDone && ticket.value === known) return;
    q.value = texts
      .filter((text) => typeof text === "string")
      .join("\n")
      .slice(0, q.maxLength);
    ticket.value = known;
    if (q.value.trim()) form.requestSubmit();
  }

  function ofConversation({ event, data }) {
    if (event !== "appContext" || !data?.conversation) return;
    const { id, messages = [], custom_attributes: known } = data.conversation;
    const newestFirst = messages.map(({ content }) => content).reverse();
    lookUp(id, [...newestFirst, ...Object.values(known ?? {}), ...Object.values(data.contact?.custom_attributes ?? {})]);
  }

  // The messages of Zendesk's app framework.
  function sendToZendesk(message) {
    send(JSON.stringify({ ...message, appGuid: guid, instanceGuid: guid }));
  }

  function ofZendesk({ key, id, result }) {
    if (key === "zaf.app.registered") {
      sendToZendesk({ request: "invoke", params: { resize: [{ width: "100%", height: "600px" }] } });
      const params = ["ticket.id", "ticket.subject", "ticket.description", "ticket.comments"];
      sendToZendesk({ id: TICKET, request: "get", params });
    } else if (id === TICKET && result) {
      const comments = result["ticket.comments"] ?? [];
      const texts = [result["ticket.subject"], result["ticket.description"], ...comments.map(({ value }) => value)];
      lookUp(result["ticket.id"], texts);
    }
  }

  // Only pages of these hosts can be around the frame, and requests for a ticket contain nothing of it.
  function send(message) {
    parent.postMessage(message, "*");
  }

  // As `frame-ancestors` matches the same hosts: one without a scheme has the page's own scheme or https, and `*.` stands
  // for subdomains only.
  function mayFrame(origin) {
    return hosts.some((host) => {
      if (host === "*") return /^https?:/.test(origin);
      const schemes = host.includes("://") ? [""] : [`${location.protocol}//`, "https://"];
      return schemes.some((scheme) => {
        const [start, domain] = (scheme + host).split("*");
        return domain ? origin.startsWith(start) && origin.endsWith(domain) : origin === start;
      });
    });
  }

  function parsed(data) {
    try {
      return JSON.parse(data) ?? {};
    } catch {
      return {};
    }
  }

  if (parent !== window && !(guid && isDone)) {
    addEventListener("message", ({ source, origin, data }) => {
      if (source === parent && mayFrame(origin)) (guid ? ofZendesk : ofConversation)(parsed(data));
    });
    if (guid) sendToZendesk({ key: "iframe.handshake", message: { version: "2.0.0" } });
    else send("chatwoot-dashboard-app:fetch-info");
  }
}
