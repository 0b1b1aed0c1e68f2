"""Search all output of a test run for the access key.

Every dashboard of a test starts with the key and every client sends it. A test fails if the key appears anywhere except
in its header.
"""

import contextlib
import functools
import logging
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, Final

import httpx
from django.core.handlers.base import BaseHandler
from django.http import HttpResponseBase, StreamingHttpResponse

KEY: Final = "canary-4711-never-shown"
# Common to all keys in tests, also inside of longer text.
MARKS: Final = ("canary-4711", "canary/4711")

seen: list[str] = []


def look(where: str, found: Any) -> None:
    """Record where the key appeared."""
    text = found if isinstance(found, str) else found.decode("latin-1") if isinstance(found, bytes) else repr(found)
    if any(mark in text for mark in MARKS):
        seen.append(where)


def listen(connection: socket.socket, where: str) -> None:
    """Search everything that a connection receives, until it is closed."""
    received = b""
    with connection, contextlib.suppress(OSError):
        while piece := connection.recv(65_536):
            received = received[-64:] + piece
            look(where, received)


def watch() -> None:
    """Start to search Django's responses, what our clients read, and log records."""
    BaseHandler.get_response = _watched(BaseHandler.get_response)  # type: ignore[method-assign]
    # The service's responses are read with `iter_raw`. They may contain the key, and do so in some tests.
    httpx.Response.iter_bytes = _read(httpx.Response.iter_bytes)  # type: ignore[method-assign]
    httpx.Response.aiter_bytes = _aread(httpx.Response.aiter_bytes)  # type: ignore[method-assign]
    logging.getLogger("intents_ui").setLevel(logging.DEBUG)  # also what isn't written
    # Not as a handler: `django.setup` in another module replaces the handlers.
    logging.Logger.handle = _logged(logging.Logger.handle)  # type: ignore[method-assign]


def _logged(handle: Callable[[logging.Logger, logging.LogRecord], None]) -> Callable[..., None]:
    """Search a log record, including its traceback and extra fields. Handlers get only what the application logs."""
    form = logging.Formatter()

    @functools.wraps(handle)
    def watched(logger: logging.Logger, record: logging.LogRecord) -> None:
        look(f"log of {record.name}", form.format(record))
        record.exc_text = None  # each formatter formats it itself
        look(f"log of {record.name}", record.__dict__)
        if record.levelno >= logging.root.level:
            handle(logger, record)

    return watched


def _watched(answer: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    @functools.wraps(answer)
    def watched(handler: BaseHandler, request: Any) -> HttpResponseBase:
        return _look_at(answer(handler, request), request.path)

    return watched


def _look_at(response: HttpResponseBase, path: str) -> HttpResponseBase:
    look(f"headers of {path}", f"{response.headers}{response.cookies}")
    # Streams are searched by their reader.
    if not isinstance(response, StreamingHttpResponse):
        look(path, response.content)  # type: ignore[attr-defined]
    return response


def _read(read: Callable[..., Iterator[bytes]]) -> Callable[..., Iterator[bytes]]:
    @functools.wraps(read)
    def watched(response: httpx.Response, chunk_size: int | None = None) -> Iterator[bytes]:
        look(f"headers of {_name(response)}", str(response.headers))
        tail = b""
        for piece in read(response, chunk_size):
            look(_name(response), tail + piece)
            tail = (tail + piece)[-64:]
            yield piece

    return watched


def _aread(read: Callable[..., AsyncIterator[bytes]]) -> Callable[..., AsyncIterator[bytes]]:
    @functools.wraps(read)
    async def watched(response: httpx.Response, chunk_size: int | None = None) -> AsyncIterator[bytes]:
        look(f"headers of {_name(response)}", str(response.headers))
        tail = b""
        async for piece in read(response, chunk_size):
            look(_name(response), tail + piece)
            tail = (tail + piece)[-64:]
            yield piece

    return watched


def _name(response: httpx.Response) -> str:
    return str(response.request.url) if response._request else "an answer"
