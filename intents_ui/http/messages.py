"""ASGI messages: the types, checks of requests before a thread is taken, and responses that bypass Django."""

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from functools import cache
from typing import Any, Final
from urllib.parse import quote_from_bytes, urlsplit

from django.conf import settings
from django.http.request import split_domain_port, validate_host
from django.utils.http import parse_header_parameters

from intents_ui.http.failures import Rejected, of_dashboard
from intents_ui.http.headers import default_headers

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
AsgiApplication = Callable[[Message, Receive, Send], Awaitable[None]]

PIECE: Final = 32 * 1024  # bytes
HEADERS_SIZE: Final = 16_384  # bytes
CHARSETS: Final = ("utf-8", "utf8", "us-ascii", "ascii")
ASCII: Final = bytes(range(128))


def is_for_us(scope: Message) -> bool:
    """Return whether the request has exactly one Host and it is allowed.

    DNS rebinding must not reach `/rpc/` either.
    """
    domain = host_of(scope)
    return bool(domain) and validate_host(domain, settings.ALLOWED_HOSTS)


def host_of(scope: Message) -> str:
    hosts = [bytes(value).decode("latin-1") for name, value in scope["headers"] if name == b"host"]
    domain, _ = split_domain_port(hosts[0]) if len(hosts) == 1 else ("", "")
    return domain


def normalize_scope(scope: Message) -> Message:
    """Return the scope with an ASCII query, without headers that could be mistaken for others, and with a known port.

    `X_Forwarded_For` and `X-Forwarded-For` share one key in WSGI. An unknown port in Host is removed from GET and HEAD
    requests, because it would appear in shared links. Raises Rejected for headers that are too large or not in UTF-8.
    """
    if sum(len(name) + len(value) + 4 for name, value in scope["headers"]) > HEADERS_SIZE:
        raise Rejected(of_dashboard("headers too large"))
    is_read, headers = scope["method"] in ("GET", "HEAD"), []
    for name, value in scope["headers"]:
        # Django would decode the URL with it, too, and fails to create a request at all for `zlib`.
        if name == b"content-type" and charset_of(value).lower() not in CHARSETS:
            raise Rejected(of_dashboard("no UTF-8"))
        if b"_" not in name:
            headers.append((name, with_known_port(value) if is_read and name == b"host" else value))
    return {**scope, "query_string": quote_from_bytes(scope["query_string"], ASCII).encode(), "headers": headers}


def charset_of(content_type: bytes) -> str:
    try:
        return parse_header_parameters(content_type.decode("latin-1"))[1].get("charset", "utf-8")
    except ValueError:
        return "unreadable"


def with_known_port(host: bytes) -> bytes:
    """Return the host without a port that isn't configured. Loopback hosts keep theirs, which may be forwarded."""
    domain, port = split_domain_port(host.decode("latin-1"))
    known = not port or domain in settings.LOOPBACK_HOSTS or port in known_ports()
    return host if known else domain.encode("latin-1")


@cache
def known_ports() -> frozenset[str]:
    origins = (urlsplit(origin).port for origin in settings.CSRF_TRUSTED_ORIGINS)
    return frozenset(str(port) for port in (80, 443, settings.ENV.port, *origins) if port)


async def send_text(send: Send, status: int, sentence: str, **headers: str) -> None:
    await send_response(
        send, status, f"{sentence}\n".encode(), {"Content-Type": "text/plain; charset=utf-8", **headers}
    )


async def send_response(send: Send, status: int, body: bytes, headers: Mapping[str, str]) -> None:
    """Send a response that bypasses Django, with its Content-Type among the headers."""
    headers = {"Content-Length": str(len(body)), "Cache-Control": "no-store", **headers}
    encoded = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    encoded += default_headers(is_page=headers["Content-Type"].startswith("text/html"))
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
