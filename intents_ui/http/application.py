"""Routes requests to probes, live streams, the embedded service and Django."""

from django.conf import settings
from django.utils.datastructures import CaseInsensitiveMapping

from intents_ui import app
from intents_ui.http import access_log, failures, limits, marks, probes, security_headers
from intents_ui.http.failures import Failure, Rejected
from intents_ui.http.messages import (
    AsgiApplication,
    Message,
    Receive,
    Send,
    in_pieces,
    is_for_us,
    normalize_scope,
    send_response,
    send_text,
    without_body,
)
from intents_ui.http.pages import PAGES, read_body
from intents_ui.http.startup import lifespan
from intents_ui.service.context import request_context
from intents_ui.service.metrics import rejected


async def application(scope: Message, receive: Receive, send: Send) -> None:
    match scope["type"]:
        case "lifespan":
            await lifespan(receive, send)
        case "http" if scope["path"] in probes.PATHS:
            await probes.respond(scope, send)
        case "http":
            with access_log.RequestLog(scope) as request_log:
                scope = {**scope, access_log.REQUEST_LOG: request_log}
                await http(scope, receive, request_log.wrap_send(in_pieces(send)))
        case "websocket":
            await send({"type": "websocket.close", "code": 1000})


async def http(scope: Message, receive: Receive, send: Send) -> None:
    outside, objects = marks.outside(scope["path"]), app.current()
    if scope["method"] == "HEAD":
        send = without_body(send)
    if not is_for_us(scope):
        return await send_text(send, 400, "Unknown host. Add it to ALLOWED_HOSTS.")
    if outside == "live":
        return await objects.streams(scope, receive, send)
    with request_context.asking(scope[access_log.REQUEST_LOG].origin):
        client = request_context.client()
        if lack := objects.requests_in_hand.take(client):
            return await reject(scope, send, limits.LACKS[lack])
        try:
            if outside == "rpc" and objects.emulator is not None:
                await call_embedded(objects.emulator, scope, receive, send)
            else:
                await PAGES(normalize_scope(scope), receive, send)
        except Rejected as error:
            await reject(scope, send, error.failure)
        finally:
            objects.requests_in_hand.give_back(client)


async def reject(scope: Message, send: Send, failure: Failure) -> None:
    """Reject a request before Django sees it, in the format that it asks for.

    Pages of the origins in INTENTS_API_ORIGINS can read why the API rejected their request.
    """
    rejected["ingress"].inc()
    sent = CaseInsensitiveMapping({str(name, "latin-1"): str(value, "latin-1") for name, value in scope["headers"]})
    found = failures.format_of(scope["path"], sent)
    headers = found.headers_of(failure)
    allowed, origin = settings.ENV.intents_api_origins, sent.get("Origin", "")
    if found is failures.PROBLEM and {"*", origin} & set(allowed):
        headers |= {"Access-Control-Allow-Origin": "*" if "*" in allowed else origin, "Vary": "origin"}
    await send_response(send, failure.status, found.reject(failure).encode(), headers)


async def call_embedded(embedded: AsgiApplication, scope: Message, receive: Receive, send: Send) -> None:
    """Answer `/rpc/…` with the embedded service, with our security headers, because it shares our origin.

    Clients on other machines have the limits of pages. Raises Rejected.
    """
    client = request_context.client()
    if wait := app.current().rate_limiter.consume_here(client):
        raise Rejected(limits.too_many(client, wait))
    body = await read_body(scope, receive, most=marks.BODY_SIZES["body"])
    unread = [body]

    async def receive_body() -> Message:
        return {"type": "http.request", "body": unread.pop(), "more_body": False} if unread else await receive()

    async def send_with_headers(message: Message) -> None:
        is_head = message["type"] == "http.response.start"
        headers = [*message["headers"], *security_headers.default_headers()] if is_head else []
        await send({**message, "headers": headers} if is_head else message)

    try:
        await embedded(scope, receive_body, send_with_headers)
    finally:
        app.current().body_bytes.give_back(client, len(body))
