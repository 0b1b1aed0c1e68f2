"""ASGI messages: the types, and functions that wrap `receive` or `send`."""

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any, Final

from intents_ui.http import security_headers

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
AsgiApplication = Callable[[Message, Receive, Send], Awaitable[None]]

PIECE: Final = 32 * 1024  # bytes


async def send_text(send: Send, status: int, sentence: str, **headers: str) -> None:
    await send_response(
        send, status, f"{sentence}\n".encode(), {"Content-Type": "text/plain; charset=utf-8", **headers}
    )


async def send_response(send: Send, status: int, body: bytes, headers: Mapping[str, str]) -> None:
    """Send a response that bypasses Django, with its Content-Type among the headers."""
    headers = {"Content-Length": str(len(body)), "Cache-Control": "no-store", **headers}
    encoded = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    encoded += security_headers.default_headers(is_page=headers["Content-Type"].startswith("text/html"))
    await send({"type": "http.response.start", "status": status, "headers": encoded})
    await send({"type": "http.response.body", "body": body})


def without_body(send: Send) -> Send:
    """Drop the body, for HEAD requests."""

    async def send_head(message: Message) -> None:
        await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

    return send_head


def in_pieces(send: Send) -> Send:
    """Split large bodies. From 64 KB, gunicorn uses `writelines`, which in Python 3.13.0 applies no backpressure."""

    async def send_pieces(message: Message) -> None:
        body = message.get("body", b"")
        last = max(0, (len(body) - 1) // PIECE * PIECE)
        for start in range(0, last, PIECE):
            await send({**message, "body": body[start : start + PIECE], "more_body": True})
        await send({**message, "body": body[last:]} if last else message)

    return send_pieces


def with_headers(send: Send) -> Send:
    """Add the security headers to responses of the embedded service, because they share our origin."""

    async def send_with_headers(message: Message) -> None:
        is_head = message["type"] == "http.response.start"
        ours = security_headers.default_headers()
        await send({**message, "headers": [*message["headers"], *ours]} if is_head else message)

    return send_with_headers


def replay(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that yields the body already read, then whatever follows."""
    given = False

    async def receive_again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again
