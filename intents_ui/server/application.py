"""Routes requests to probes, live streams, the embedded service and Django."""

from intents_ui import app
from intents_ui.middleware import access_log, marks
from intents_ui.server import handlers, lifespan, probes
from intents_ui.server.messages import Message, Receive, Send, in_pieces, send_text, without_body
from intents_ui.server.pages import PAGES, Refused, in_hand
from intents_ui.server.requests import check_headers, is_for_us, normalize_scope
from intents_ui.service.context import request_context


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
                    return await handlers.call_embedded(embedded, scope, receive, send)
                check_headers(scope)
                await PAGES(normalize_scope(scope), receive, send)
        except Refused as refused:
            await handlers.reject(scope, send, refused.failure)
