"""What answers without Django: rejections and the embedded service."""

from django.conf import settings
from django.utils.datastructures import CaseInsensitiveMapping

from intents_ui import app
from intents_ui.middleware import failures, marks, request_limits
from intents_ui.middleware.failures import Failure, Format
from intents_ui.server.messages import App, Message, Receive, Send, replay, send_response, with_headers
from intents_ui.server.pages import Body, Refused
from intents_ui.service.context import request_context
from intents_ui.service.metrics import rejected


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
    if wait := app.current().rate_limiter.consume_here(client):
        raise Refused(request_limits.too_many(client, wait))
    with Body() as body:
        content = await body.read(scope, receive, most=marks.BODY_SIZES["body"])
        await embedded(scope, replay(content, receive), with_headers(send))
