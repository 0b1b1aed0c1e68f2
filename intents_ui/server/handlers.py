"""What answers without Django: rejections, the embedded service and live streams."""

from django.conf import settings
from django.utils.datastructures import CaseInsensitiveMapping

from intents_ui import wiring
from intents_ui.live.stream import Limits, Streams
from intents_ui.middleware import failures, marks, request_limits, security_headers
from intents_ui.middleware.failures import Failure, Format
from intents_ui.pages import intent as intent_page
from intents_ui.server.messages import App, Message, Receive, Send, replay, send_response, with_headers
from intents_ui.server.pages import Body, Refused
from intents_ui.service.context import request_context
from intents_ui.service.metrics import rejected
from intents_ui.web import client_ip, rate_limiter


async def reject(scope: Message, send: Send, failure: Failure) -> None:
    """Reject a request before Django sees it, in the format that it asks for."""
    rejected["ingress"].inc()
    sent = CaseInsensitiveMapping({str(name, "latin-1"): str(value, "latin-1") for name, value in scope["headers"]})
    found = failures.format_of(scope["path"], sent)
    headers = found.headers_of(failure) | readable_by(sent.get("Origin", ""), found)
    await send_response(send, failure.status, found.reject(failure).encode(), headers)


def readable_by(origin: str, found: Format) -> dict[str, str]:
    """Let pages of the origins in INTENTS_API_ORIGINS read why the API rejected their request."""
    allowed = settings.ENV.intents_api_origins
    if found is not failures.PROBLEM or not {"*", origin} & set(allowed):
        return {}
    return {"Access-Control-Allow-Origin": "*" if "*" in allowed else origin, "Vary": "origin"}


async def call_embedded(embedded: App, scope: Message, receive: Receive, send: Send) -> None:
    """Answer `/rpc/…` with the embedded service. Clients on other machines have the limits of pages. Raises Refused."""
    client = request_context.client()
    if wait := rate_limiter.consume_here(client):
        raise Refused(request_limits.too_many(client, wait))
    with Body() as body:
        content = await body.read(scope, receive, most=marks.BODY_SIZES["body"])
        await embedded(scope, replay(content, receive), with_headers(send))


STREAMS_PER_CLIENT = 20  # Beyond that, pages poll.


@wiring.once
def streams() -> Streams:
    """Return the live streams (`/live/…`) of this process, which need no thread."""
    return Streams(
        wiring.hub(),
        intent_page.receipt_fragment,
        fallback=intent_page.polling_fragment,
        client_of=lambda scope: client_ip.client_of(scope, settings.ENV.trusted_proxies) or client_ip.THIS_MACHINE,
        wait=lambda client: rate_limiter.consume_here(None if client == client_ip.THIS_MACHINE else client),
        headers=security_headers.default_headers(),
        stopping=wiring.lifecycle().is_stopping,
        limits=Limits(a_client=STREAMS_PER_CLIENT),
    )
