// Looks up the ticket that the page around the side bar sends. Messages of other pages are ignored.
{
  const form = document.getElementById("lookup");
  const { opener, origin } = form?.dataset ?? {};
  const isDone = form?.hasAttribute("data-done");
  const guid = new URLSearchParams(location.search).get("app_guid");
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
    parent.postMessage(JSON.stringify({ ...message, appGuid: guid, instanceGuid: guid }), origin);
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

  function parsed(data) {
    try {
      return JSON.parse(data) ?? {};
    } catch {
      return {};
    }
  }

  const OPENERS = {
    chatwoot: { read: ofConversation, start: () => parent.postMessage("chatwoot-dashboard-app:fetch-info", origin) },
    zendesk: { read: ofZendesk, start: () => sendToZendesk({ key: "iframe.handshake", message: { version: "2.0.0" } }) },
  };

  if (opener && parent !== window && !(opener === "zendesk" && isDone)) {
    const { read, start } = OPENERS[opener];
    addEventListener("message", (event) => {
      if (event.source === parent && event.origin === origin) read(parsed(event.data));
    });
    start();
  }
}
