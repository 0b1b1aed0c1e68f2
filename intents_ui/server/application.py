"""Routes requests to probes, live streams, the embedded service and Django."""

from intents_ui import wiring
from intents_ui.middleware import access_log, marks
from intents_ui.server import handlers, lifespan, probes
from intents_ui.server.messages import Message, Receive, Send, answer, in_pieces, without_body
from intents_ui.server.pages import PAGES, Refused, in_hand
from intents_ui.server.requests import check_headers, cleaned, is_for_us
from intents_ui.service.context import request_context


async def application(scope: Message, receive: Receive, send: Send) -> None:
    match scope["type"]:
        case "lifespan":
            await lifespan.run(receive, send)
        case "http" if scope["path"] in probes.PATHS:
            await probes.respond(scope, send)
        case "http":
            await seen(scope, receive, send)
        case "websocket":
            await send({"type": "websocket.close", "code": 1000})


async def seen(scope: Message, receive: Receive, send: Send) -> None:
    visit = access_log.RequestLog(scope)
    error: BaseException | None = None
    try:
        await http({**scope, access_log.VISIT: visit}, receive, visit.seeing(in_pieces(send)))
    except BaseException as raised:
        error = raised
        raise
    finally:
        visit.end(error)


async def http(scope: Message, receive: Receive, send: Send) -> None:
    path: str = scope["path"]
    if scope["method"] == "HEAD":
        send = without_body(send)
    if not is_for_us(scope):
        return await answer(send, 400, "Unknown host. Add it to ALLOWED_HOSTS.")
    if marks.outside(path) == "live":
        return await handlers.streams()(scope, receive, send)
    with request_context.asking(scope[access_log.VISIT].origin):
        try:
            with in_hand():
                embedded = wiring.emulator()
                if embedded is not None and marks.outside(path) == "rpc":
                    return await handlers.call_embedded(embedded, scope, receive, send)
                check_headers(scope)
                await PAGES(cleaned(scope), receive, send)
        except Refused as refused:
            await handlers.reject(scope, send, refused.failure)
