"""Reads request bodies completely, with a limit and a deadline, before a thread is taken.

Otherwise 64 half-sent bodies would occupy every page thread.
"""

import asyncio

from django.conf import settings

from intents_ui.middleware import access_log, marks, request_limits
from intents_ui.middleware.failures import Failure
from intents_ui.server.messages import Message, Receive
from intents_ui.server.requests import Refused, sizes

# Bytes of a body to read beyond its limit, because a browser that is still sending doesn't show a response.
OVERFLOW = 8 * 1024 * 1024


async def read_body(scope: Message, receive: Receive) -> bytes:
    """Read the body. Rate limits are checked first, and the bytes count against a budget that all bodies share."""
    visitor = scope[access_log.VISIT].origin.visitor
    if has_body(scope) and request_limits.wait_to_send(visitor):
        raise Refused(request_limits.BEYOND_SHARE)
    room = request_limits.Room(visitor)
    try:
        return await read_into(room, scope, receive)
    finally:
        room.leave()


def has_body(scope: Message) -> bool:
    return any(name in (b"content-length", b"transfer-encoding") and value != b"0" for name, value in scope["headers"])


async def read_into(room: request_limits.Room, scope: Message, receive: Receive) -> bytes:
    """Read the body into the budget.

    A rejected body is read and dropped, because a browser that is still sending doesn't show a response.
    """
    most = sizes()[marks.of_path(scope["path"]).body]
    body, received = bytearray(), 0
    refused: Failure | None = None
    if declared_length(scope) > max(most, OVERFLOW):
        raise Refused(request_limits.too_large(most))
    try:
        async with asyncio.timeout(settings.ENV.intents_request_timeouts["body"]):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise Refused(request_limits.CUT_OFF)
                piece = message.get("body", b"")
                received += len(piece)
                refused = refused or (room.take(len(piece)) if received <= most else request_limits.too_large(most))
                if refused:
                    body.clear()
                    room.leave()
                else:
                    body.extend(piece)
                if received > max(most, OVERFLOW) or not message.get("more_body", False):
                    break
    except TimeoutError:
        raise Refused(request_limits.TOO_SLOW) from None
    if refused:
        raise Refused(refused)
    return bytes(body)


def declared_length(scope: Message) -> int:
    """Return Content-Length, which gunicorn has validated."""
    return max((int(value) for name, value in scope["headers"] if name == b"content-length"), default=0)


def without_body_headers(scope: Message) -> list[tuple[bytes, bytes]]:
    return [(name, value) for name, value in scope["headers"] if name not in (b"content-type", b"content-length")]
