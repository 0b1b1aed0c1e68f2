"""Access log, request IDs and request metrics.

The log line has the page's name, and never its URL or query, which are the user's private data.
"""

import logging
import re
import secrets
import time
from collections.abc import Mapping
from typing import Any, Final, Self

from intents_ui.http import client_ip, marks
from intents_ui.http.messages import Message, Send
from intents_ui.ops import logs, metrics
from intents_ui.service.context.request_context import Origin

log = logging.getLogger(logs.REQUESTS)

REQUEST_LOG: Final = "intents_ui.request_log"  # key in a request's scope
PROXYS_ID: Final = re.compile(rb"[A-Za-z0-9_-]{8,64}")
METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"})
LEFT: Final = 499  # client closed the request, as nginx logs it
UNNAMED: Final = "none"  # an unknown path, or a request rejected before routing


class RequestLog:
    """Context manager of one request, which is logged at its end.

    `view` is the page's name in `urls.py`, or of what answers instead.
    """

    def __init__(self, scope: Mapping[str, Any]) -> None:
        self.origin = Origin(request_id(scope), client=client_ip.client_of(scope))
        self.view = marks.outside(scope["path"]) or UNNAMED
        self._is_logged = self.view != "static"  # static files are too many to log and not informative
        self._method = scope["method"] if scope["method"] in METHODS else "other"
        self._status = 0
        self._bytes = 0
        self._began = time.perf_counter()
        self._seconds: float | None = None

    def wrap_send(self, send: Send) -> Send:
        async def send_logged(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._status = message["status"]
                message = {**message, "headers": [*message["headers"], (b"x-request-id", self.origin.id.encode())]}
            elif message["type"] == "http.response.body":
                self._bytes += len(message.get("body", b""))
                self._record()
            await send(message)

        return send_logged

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        self._status = self._status or (500 if isinstance(error, Exception) else LEFT)
        seconds = self._record()
        if not self._is_logged:
            return
        fields = {
            "method": self._method,
            "view": self.view,
            "status": self._status,
            "ms": round(seconds * 1000, 1),
            "bytes": self._bytes,
            "calls": self.origin.calls,
            "request_id": self.origin.id,
        }
        log.info(
            "%(method)s %(view)s %(status)d, %(ms).0f ms, %(bytes)d bytes, calls %(calls)d, request %(request_id)s",
            fields,
        )

    def _record(self) -> float:
        """Record the time to the first byte once, and return it."""
        if self._seconds is None:
            self._seconds = time.perf_counter() - self._began
            metrics.requests.labels(self.view, str(self._status)).inc()
            metrics.request_seconds.labels(self.view, f"{self._status // 100}xx").observe(self._seconds)
        return self._seconds


def request_id(scope: Mapping[str, Any]) -> str:
    """Return the request ID that a trusted proxy sent, or a new one. Other clients can't choose what is logged."""
    given = [value for name, value in scope["headers"] if name == b"x-request-id"]
    if len(given) == 1 and PROXYS_ID.fullmatch(given[0]) and client_ip.is_by_our_proxy(scope):
        return str(given[0], "ascii")
    return secrets.token_hex(6)
