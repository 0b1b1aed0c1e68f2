"""Routes requests to probes, live streams, the embedded service and Django."""

from django.conf import settings
from django.utils.datastructures import CaseInsensitiveMapping

from intents_ui import app
from intents_ui.http import access_log, failures, lifespan, marks, probes, request_limits
from intents_ui.http.failures import Failure, Format
from intents_ui.http.messages import (
    AsgiApplication,
    Message,
    Receive,
    Send,
    in_pieces,
    replay,
    send_response,
    send_text,
    with_headers,
    without_body,
)
from intents_ui.http.pages import PAGES, Body, Refused, in_hand
from intents_ui.http.requests import check_headers, is_for_us, normalize_scope
from intents_ui.service.context import request_context
from intents_ui.service.metrics import rejected


async def application(scope: Message, receive: Receive, send: Send) -> None:
    match scope["type"]:
        case "lifespan":
            await lifespan.run(receive, send)
        case "http" if scope["path"] in probes.PATHS:
            await probes.respond(scope, send)
        case "http":
            await log_request(scope, receive, send)
        case "websocket":
            await send({"type": "websocket.close", "code": 1000})


async def log_request(scope: Message, receive: Receive, send: Send) -> None:
    request_log = access_log.RequestLog(scope)
    error: BaseException | None = None
    try:
        await http({**scope, access_log.REQUEST_LOG: request_log}, receive, request_log.wrap_send(in_pieces(send)))
    except BaseException as raised:
        error = raised
        raise
    finally:
        request_log.end(error)


async def http(scope: Message, receive: Receive, send: Send) -> None:
    path: str = scope["path"]
    if scope["method"] == "HEAD":
        send = without_body(send)
    if not is_for_us(scope):
        return await send_text(send, 400, "Unknown host. Add it to ALLOWED_HOSTS.")
    if marks.outside(path) == "live":
        return await app.current().streams(scope, receive, send)
    with request_context.asking(scope[access_log.REQUEST_LOG].origin):
        try:
            with in_hand():
                embedded = app.current().emulator
                if embedded is not None and marks.outside(path) == "rpc":
                    return await call_embedded(embedded, scope, receive, send)
                check_headers(scope)
                await PAGES(normalize_scope(scope), receive, send)
        except Refused as refused:
            await reject(scope, send, refused.failure)


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


async def call_embedded(embedded: AsgiApplication, scope: Message, receive: Receive, send: Send) -> None:
    """Answer `/rpc/…` with the embedded service. Clients on other machines have the limits of pages. Raises Refused."""
    client = request_context.client()
    if wait := app.current().rate_limiter.consume_here(client):
        raise Refused(request_limits.too_many(client, wait))
    with Body() as body:
        content = await body.read(scope, receive, most=marks.BODY_SIZES["body"])
        await embedded(scope, replay(content, receive), with_headers(send))
