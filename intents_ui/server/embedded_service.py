"""`/rpc/…`: the embedded service, if there is no real one. Clients on other machines share the limits of pages."""

from intents_ui.middleware import access_log, request_limits
from intents_ui.middleware.failures import Failure
from intents_ui.server import handlers
from intents_ui.server.messages import App, Message, Receive, Send, replay
from intents_ui.server.requests import Refused, read_body


async def call(embedded: App, scope: Message, receive: Receive, send: Send) -> None:
    visitor: str | None = scope[access_log.VISIT].origin.visitor
    if visitor is None:
        return await embedded(scope, receive, send)
    if wait := request_limits.wait_to_stream(visitor):
        return await refuse_call(send, request_limits.too_many_pages(wait))
    place = handlers.long_limiter().enter(visitor)
    if isinstance(place, Failure):
        return await refuse_call(send, place)
    try:
        await embedded(scope, replay(await read_body(scope, receive), receive), send)
    except Refused as refused:
        await refuse_call(send, refused.failure)
    finally:
        place.leave()


async def refuse_call(send: Send, failure: Failure) -> None:
    later = [(b"retry-after", str(failure.retry_after).encode())] if failure.retry_after is not None else []
    start = {"type": "http.response.start", "status": int(failure.status)}
    await send({**start, "headers": [(b"content-type", b"text/plain; charset=utf-8"), *later]})
    await send({"type": "http.response.body", "body": f"{failure.title}\n".encode()})
