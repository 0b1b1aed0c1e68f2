"""One HTTP call to the service, without I/O: its request, its bounded body, its result, and the error it ends with.

The blocking and the async client share this logic and differ only in how they wait.
"""

import json
import logging
import re
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final, Self, cast

import httpcore
import httpx

from intents_ui.service import decode, errors, request_context
from intents_ui.service.cache import CacheEntry
from intents_ui.service.console import Attempt
from intents_ui.service.errors import KNOWN, Reason, ServiceError, Unreachable, Unreadable
from intents_ui.service.fields import MissingField, read_text
from intents_ui.service.health import Health, read_http_date
from intents_ui.service.operations import Answer, Policy, ServiceCall, ServiceConfig
from intents_ui.service.request_context import is_over, time_left

log = logging.getLogger("intents_ui.service")

LARGE: Final = 2**20  # bytes
# Memory for all large responses of the process, in pieces of LARGE bytes. A parsed response takes many times its size,
# and parsing two at once isn't faster.
memory: Final = threading.Semaphore(48)
parsing: Final = threading.Lock()

ALL_IN_USE: Final = "all connections to the service are in use"
HEADERS: Final = (
    (b"Accept", b"application/json"),
    # Uncompressed, because 1 MB of gzip can expand to 1 GB. Between two servers, the bytes cost little.
    (b"Accept-Encoding", b"identity"),
    (b"Content-Type", b"application/json"),
    (b"User-Agent", b"intents-ui"),
)

# Error codes which mean that this client is outdated: the operation changed or was removed.
OUTDATED: Final = frozenset({-2, -3, 1003, 3000, 8009})

# Exceptions that a call can end with. Our own transport raises httpcore's, others raise httpx's.
TIMEOUTS: Final = (TimeoutError, httpx.TimeoutException, httpcore.TimeoutException)
TRANSPORT_ERRORS: Final = (
    *(ServiceError, MissingField, OSError, *TIMEOUTS, httpx.HTTPError, httpx.InvalidURL),
    *(httpcore.NetworkError, httpcore.ProtocolError, httpcore.UnsupportedProtocol),
)

# Headers that matter to an API user. The others would reveal how this deployment reaches the service.
VISIBLE_HEADERS: Final = re.compile(
    r"content-(type|length|encoding)|date|retry-after|allow|webrpc|(credits|quota)-[a-z-]{1,30}", re.ASCII
)
LONGEST_HEADER: Final = 200
MASK: Final = "…"

_BY_NAME = dict(KNOWN.values())
_BY_STATUS: Final[Mapping[int, type[ServiceError]]] = {
    **dict.fromkeys((400, 405, 411, 413, 414, 415, 422, 431), errors.Invalid),
    **dict.fromkeys((401, 403, 407, 451), errors.AccessDenied),
    **dict.fromkeys((408, 425), Unreachable),
    404: errors.NotFound,
    409: errors.WrongState,
    410: errors.Expired,
    429: errors.TooBusy,
}
_url = cache(httpx.URL)  # one for each operation


@dataclass(eq=False)
class Exchange[T]:
    """One call: send `request`, feed the response to `begin` and `add`, parse it with `result`.

    Use it as a context manager around all of that, so that its share of the memory is held that long. Map any of
    TRANSPORT_ERRORS with `failure`. `known` is the cached response: the same text again is the same object, with what
    pages derived from it.
    """

    call: ServiceCall[T]
    config: ServiceConfig
    health: Health
    known: CacheEntry | None = None
    request_id: str = field(default_factory=request_context.call_id)
    began: float = field(default_factory=time.monotonic)
    seconds: float = 0.0  # until the response was complete
    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytearray = field(default_factory=bytearray)  # of the response, so far
    text: str = ""
    network_stream: Any = None
    reserved: int = 0  # pieces of memory

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if not self.seconds:
            self.content.clear()
        if self.reserved:
            memory.release(self.reserved)

    @property
    def policy(self) -> Policy:
        return self.config.policies[self.call.kind]

    def request(self) -> httpx.Request:
        config, body, url = self.config, self.call.written, _url(self.config.url(self.call.operation))
        headers = [*HEADERS, (b"Host", url.netloc), (b"Content-Length", str(len(body)).encode())]
        headers.append((b"X-Request-Id", self.request_id.encode()))
        if config.key:
            headers.append((b"X-Access-Key", config.key.encode()))
        policy, pool = self.policy, time_left(config.connection_wait, expired=errors.OutOfTime)
        timeout = {"connect": policy.connect, "read": policy.read, "write": policy.read, "pool": pool}
        # Given the stream instead of the content, httpx doesn't look for what kind of content it is.
        return httpx.Request(
            "POST", url, headers=headers, stream=httpx.ByteStream(body), extensions={"timeout": timeout}
        )

    def begin(self, response: httpx.Response) -> None:
        """Raise a ServiceError for a response that is compressed or too large, before it is read."""
        self.status = response.status_code
        self.headers = {str(name.lower(), "latin-1"): str(value, "latin-1") for name, value in response.headers.raw}
        self.network_stream = response.extensions.get("network_stream")
        if self.headers.get("content-encoding", "").strip().lower() not in ("", "identity"):
            raise self._flawed(Reason.ENCODING)
        length = self.headers.get("content-length", "")
        if length.isdecimal() and (len(length) > 18 or int(length) > self.policy.size):
            raise self._flawed(Reason.TOO_LARGE)

    def add(self, piece: bytes) -> None:
        """Add a piece of the body. Raises the error for one that is too large, and Overloaded without memory for it."""
        self.content += piece
        if len(self.content) > self.policy.size:
            raise self._flawed(Reason.TOO_LARGE)
        while len(self.content) > max(self.reserved, 1) * LARGE:
            if not memory.acquire(blocking=False):
                raise errors.Overloaded("as many large answers are in hand as there is room for")
            self.reserved += 1

    def result(self) -> T:
        """Parse the complete response. Raises the service's error if it is one."""
        self.seconds = time.monotonic() - self.began
        log.debug("%s answered in %d ms, request %s", self.call.operation, self.seconds * 1000, self.request_id)
        self.health.learn_date(self.headers.get("date"))
        if 300 <= self.status < 400:
            raise Unreadable(reason=Reason.REDIRECT, status=self.status)
        kind = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        if self._is_success and kind not in ("", "application/json", "text/json") and not kind.endswith("+json"):
            raise Unreadable(reason=Reason.CONTENT_TYPE, status=self.status)
        with parsing if len(self.content) > LARGE else nullcontext():
            return self._parsed()

    def _parsed(self) -> T:
        try:
            self.text = self.content.decode("utf-8", "strict" if self._is_success else "replace")
            if self.known and self._is_success and self.known.text_hash == hash(self.text):
                return cast(T, self.known.answer)
            document = decode.read(self.text)
        except ValueError:
            raise self._flawed(Reason.NOT_JSON) from None
        if not isinstance(document, dict):
            raise self._flawed(Reason.WRONG_SHAPE)
        wrapped = document.get("webrpcError")  # an error object can come in either form, with any HTTP status
        if isinstance(wrapped, dict):
            raise self._refused(wrapped)
        if isinstance(document.get("error"), str) and "code" in document:
            raise self._refused(document)
        if not self._is_success:
            raise self._flawed(Reason.WRONG_SHAPE)
        return self.call.read(Answer(self.config.names.read(document), self.text))

    @property
    def _is_success(self) -> bool:
        return 200 <= self.status < 300

    def _flawed(self, reason: Reason) -> ServiceError:
        """Return the error for a response that can't be parsed, by its HTTP status if that isn't a success."""
        if self._is_success:
            return Unreadable(reason=reason, status=self.status)
        if self.status == 404:  # doesn't mean an unknown intent. Most likely the base URL is wrong
            return Unreadable(status=404, cause=self._quoted(self.text))
        return self._refused({"cause": self.text})

    def _refused(self, found: Mapping[str, Any]) -> ServiceError:
        """Return the error for an error object of the service.

        Its code and name take precedence over the HTTP status: "not found" is code 8000 with HTTP 400.
        """
        status, code = self.status, _code(found.get("code"))
        name = self._quoted(found.get("error") or found.get("name"))
        known = KNOWN.get(code) if code is not None else None
        claimed = status if status >= 400 else _code(found.get("status") or found.get("httpStatus")) or status
        by_status = _BY_STATUS.get(claimed, Unreachable if claimed >= 500 else errors.Refused)
        kind = known[1] if known else _BY_NAME.get(name or "", by_status)
        message, cause = self._quoted(found.get("msg") or found.get("message")), self._quoted(found.get("cause"))
        error = kind(message or "", status=status, code=code, name=name, cause=cause)
        if isinstance(error, errors.TooBusy):
            error.retry_after = _seconds(self.headers.get("retry-after", ""))
        if isinstance(error, Unreachable) and (code == 1900 or status in (408, 425, 504)):
            error.reason = Reason.TIMEOUT
        return error

    def failure(self, error: Exception) -> ServiceError:
        """Return the error to raise for a failed call, with the call's name.

        Raise it outside the `except` block. Inside, it would be chained to the HTTP library's exception, which holds
        the request's headers.
        """
        failure = _as_ours(error)
        failure.__cause__ = failure.__context__ = None
        failure.operation, failure.request_id = self.call.operation, self.request_id
        milliseconds = (time.monotonic() - self.began) * 1000
        about = self.call.operation, milliseconds, self.request_id, failure.summary
        log.log(_level(failure), "%s failed after %d ms, request %s: %s", *about)
        return failure

    def attempt(self, error: ServiceError | None) -> Attempt:
        """Return the record of a raw call, which ended with the error, if any."""
        return Attempt(
            operation=self.call.operation,
            sent=self.call.written.decode(),
            request_id=self.request_id,
            seconds=self.seconds or time.monotonic() - self.began,
            status=self.status or None,
            text=self._masked(self.content.decode("utf-8", "replace")),
            size=len(self.content),
            headers={
                name: self._masked(value)[:LONGEST_HEADER]
                for name, value in self.headers.items()
                if VISIBLE_HEADERS.fullmatch(name)
            },
            error=error,
        )

    def _masked(self, text: str) -> str:
        """Return the text without the access key, each character of which JSON may escape."""
        letters = (f"(?:\\\\?{re.escape(letter)}|(?i:\\\\u{ord(letter):04x}))" for letter in self.config.key)
        return re.sub("".join(letters), MASK, text) if self.config.key else text

    def _quoted(self, value: object) -> str | None:
        """Return the beginning of a text from the service, which may have echoed the access key."""
        if value is None or value == "":
            return None
        text = value if isinstance(value, str) else json.dumps(value, default=str)
        return read_text(self._masked(text[: 10 * errors.LONGEST_TEXT])[: errors.LONGEST_TEXT])


def _seconds(retry_after: str) -> float:
    if seconds := re.fullmatch(r"[ \t]*([0-9]{1,20})[ \t]*", retry_after):
        return min(float(seconds[1]), errors.MAX_PAUSE_SECONDS)
    at = read_http_date(retry_after)
    if at is None:
        return errors.SLOW_DOWN_SECONDS
    return min(max((at - datetime.now(UTC)).total_seconds(), 0.0), errors.MAX_PAUSE_SECONDS)


def _code(value: object) -> int | None:
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,9}", value):
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**9 else None


def _level(failure: ServiceError) -> int:
    if failure.reason is Reason.TLS or failure.code in OUTDATED:
        return logging.ERROR  # neither resolves without an operator
    expected = isinstance(failure, errors.Refused) and not isinstance(failure, errors.AccessDenied | errors.TooBusy)
    return logging.INFO if expected else logging.WARNING


def _as_ours(error: Exception) -> ServiceError:
    match error:
        case ServiceError():
            return error
        case MissingField():
            return Unreadable(error.field, status=200)
        case httpx.PoolTimeout() | httpcore.PoolTimeout():
            return errors.OutOfTime() if is_over() else errors.Overloaded(ALL_IN_USE)
        case TimeoutError() | httpx.TimeoutException() | httpcore.TimeoutException():
            # The call's own deadline has ended here, so only the page's can have passed.
            return errors.OutOfTime() if is_over() else Unreachable(reason=Reason.TIMEOUT)
        case httpx.ConnectError() | httpcore.ConnectError():
            return Unreachable(reason=_reason_not_connected(error))
    return Unreachable(reason=Reason.BROKEN)


def _reason_not_connected(error: BaseException) -> Reason:
    behind: BaseException | None = error
    while behind is not None:
        if isinstance(behind, ssl.SSLError):
            return Reason.TLS
        if isinstance(behind, socket.gaierror | UnicodeError):
            return Reason.DNS
        behind = behind.__cause__ or behind.__context__
    return Reason.REFUSED
