"""One HTTP call to the service, without I/O: build the request, validate the response, map failures to errors.

The blocking and the async client share this logic and differ only in how they wait.
"""

import functools
import logging
import socket
import ssl
import time
from datetime import UTC, datetime
from typing import Any

import httpcore
import httpx

from intents_ui.service import decode
from intents_ui.service.context import request_context
from intents_ui.service.context.request_context import is_over
from intents_ui.service.error_mapping import bare_refusal, envelope, refusal
from intents_ui.service.errors import (
    AccessDenied,
    Flaw,
    OutOfTime,
    Overloaded,
    Reason,
    Refused,
    ServiceError,
    TooBusy,
    Unreachable,
    Unreadable,
)
from intents_ui.service.health import Health
from intents_ui.service.http.body import ACCEPTED_ENCODINGS, LARGE, Body, ResponseMemory
from intents_ui.service.http.deadline import NameNotResolved
from intents_ui.service.operations.config import Limits, ServiceConfig
from intents_ui.service.operations.operations import Answer, ServiceCall
from intents_ui.service.wire.entry_cache import EntryCache
from intents_ui.service.wire.lenient_models import MissingField

log = logging.getLogger("intents_ui.service")

URLS = 64  # parsed URLs to keep. There is one for each operation

# Error codes which mean that this client is outdated: the operation changed or was removed.
OUTDATED = frozenset({-2, -3, 1003, 3000, 8009})

# Exceptions that a call can end with. Our own transport raises httpcore's, others raise httpx's.
TROUBLE = (
    ServiceError,
    MissingField,
    UnicodeDecodeError,
    httpx.HTTPError,
    httpx.InvalidURL,
    httpcore.TimeoutException,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.UnsupportedProtocol,
    httpcore.ProxyError,
    TimeoutError,
    OSError,
)


class Exchange[T]:
    """One call: send `request`, feed the response to `body`, parse it with `result`.

    Map any of TROUBLE with `failure`.
    """

    def __init__(
        self,
        call: ServiceCall[T],
        config: ServiceConfig,
        health: Health,
        memory: ResponseMemory,
        entries: EntryCache | None = None,
    ) -> None:
        self.call = call
        self.request_id = request_context.call_id()
        self.content = bytearray()  # of the response
        self._config = config
        self._health = health
        self._memory = memory
        self._entries = entries
        self._began = time.monotonic()

    @property
    def limits(self) -> Limits:
        return self._config.limits[self.call.group]

    def request(self) -> httpx.Request:
        # Serialize before the access key is in a local variable, which a traceback could reveal.
        content = decode.write(self._config.names.write(self.call.request))
        url = _url(self._config.url(self.call.operation))
        headers = {
            "Host": url.netloc.decode(),
            "Content-Length": str(len(content)),
            "Accept": "application/json",
            "Accept-Encoding": ACCEPTED_ENCODINGS,
            "Content-Type": "application/json",
            "User-Agent": "intents-ui",
            "X-Request-Id": self.request_id,
        }
        key = self._config.access_key
        if key and key.get_secret_value():
            headers["X-Access-Key"] = key.get_secret_value()
        limits, wait = self.limits, self._config.connection_wait
        timeout = {"connect": limits.connect, "read": limits.read, "write": limits.read, "pool": wait}
        # With `content` instead of `stream`, httpx would build the headers twice.
        stream = httpx.ByteStream(content)
        return httpx.Request("POST", url, headers=headers, stream=stream, extensions={"timeout": timeout})

    def body(self, response: httpx.Response) -> Body:
        """Return a buffer for the response. Raises a ServiceError if its headers rule out a valid one."""
        if 300 <= response.status_code < 400:
            raise Unreadable.because(Flaw.REDIRECT, status=response.status_code)
        if response.is_success and not _is_json(response.headers.get("content-type", "")):
            raise Unreadable.because(Flaw.CONTENT_TYPE, status=response.status_code)
        length = response.headers.get("content-length", "")
        if length.isdecimal() and (len(length) > 18 or int(length) > self.limits.size):
            raise self._flawed(response, Flaw.TOO_LARGE)
        encoding = response.headers.get("content-encoding", "").strip().lower()
        flawed = functools.partial(self._flawed, response)
        return Body(encoding=encoding, limit=self.limits.size, memory=self._memory, flawed=flawed)

    def result(self, response: httpx.Response, content: bytearray) -> T:
        """Parse the response. Raises the service's error if it is one."""
        if len(content) <= LARGE:
            return self._result(response, content)
        with self._memory.parsing:
            return self._result(response, content)

    def _result(self, response: httpx.Response, content: bytearray) -> T:
        self.content = content
        self._health.clock_offset.learn(response.headers.get("date"))
        text = content.decode("utf-8", "strict" if response.is_success else "replace")
        try:
            document = self._parsed(text)
        except ValueError:
            raise self._flawed(response, Flaw.NOT_JSON, text) from None
        said_no = envelope(document)
        if said_no is not None:
            raise refusal(said_no, **_response_info(response))
        if not response.is_success or not isinstance(document, dict):
            raise self._flawed(response, Flaw.WRONG_SHAPE, text)
        answer = self._read(document, text)
        log.debug("%s answered in %d ms, request %s", self.call.operation, self._elapsed(), self.request_id)
        return answer

    def recalled(self, text: str) -> T:
        """Parse a cached response, which another version of this program may have written. Raises ValueError."""
        return self._read(self._parsed(text), text)

    def _parsed(self, text: str) -> Any:
        if self._entries and self.call.entries:
            return self._entries.read(text, *self.call.entries)
        return decode.read(text)

    def _read(self, document: Any, text: str) -> T:
        return self.call.read(Answer(self._config.names.read(document), text))

    def _flawed(self, response: httpx.Response, flaw: Flaw, text: str = "") -> ServiceError:
        """Return the error for a response that can't be parsed, by its HTTP status if that isn't a success."""
        if response.is_success:
            return Unreadable.because(flaw, status=response.status_code)
        return bare_refusal(text, **_response_info(response))

    def failure(self, error: Exception) -> ServiceError:
        """Return the error to raise for a failed call, with the call's name and without secrets.

        Raise it outside the `except` block. Inside, it would be chained to the HTTP library's exception, which holds
        the request's headers.
        """
        failure = _as_ours(error)
        failure.__cause__ = failure.__context__ = None
        failure.operation = self.call.operation
        failure.request_id = self.request_id
        if self._config.access_key and self._config.access_key.get_secret_value():
            failure.without(self._config.access_key.get_secret_value())
        self._log(failure)
        return failure

    def _log(self, failure: ServiceError) -> None:
        log.log(
            _level(failure),
            "%s failed after %d ms, request %s: %s",
            self.call.operation,
            self._elapsed(),
            self.request_id,
            failure.summary,
        )

    def _elapsed(self) -> int:
        return round((time.monotonic() - self._began) * 1000)


@functools.lru_cache(URLS)
def _url(url: str) -> httpx.URL:
    return httpx.URL(url)


def _level(failure: ServiceError) -> int:
    is_insecure = isinstance(failure, Unreachable) and failure.reason is Reason.TLS
    if is_insecure or failure.code in OUTDATED:
        return logging.ERROR  # neither resolves without an operator
    expected = isinstance(failure, Refused) and not isinstance(failure, AccessDenied | TooBusy)
    return logging.INFO if expected else logging.WARNING


def _as_ours(error: Exception) -> ServiceError:
    match error:
        case ServiceError():
            return error
        case MissingField():
            return Unreadable.because(Flaw.WRONG_SHAPE, error.field, status=200)
        case UnicodeDecodeError():
            return Unreadable.because(Flaw.NOT_JSON, status=200)
        case httpx.PoolTimeout() | httpcore.PoolTimeout():
            return Overloaded("all connections to the service are in use")
        case httpx.TimeoutException() | httpcore.TimeoutException() | TimeoutError():
            # The call's own deadline has ended here, so only the page's can have passed.
            return OutOfTime() if is_over() else Unreachable.because(Reason.TIMEOUT)
        case httpx.ConnectError() | httpcore.ConnectError():
            return Unreachable.because(_reason_not_connected(error))
        case _:
            return Unreachable.because(Reason.BROKEN)


def _reason_not_connected(error: BaseException) -> Reason:
    behind: BaseException | None = error
    while behind is not None:
        if isinstance(behind, ssl.SSLError):
            return Reason.TLS
        if isinstance(behind, NameNotResolved | socket.gaierror):
            return Reason.DNS
        behind = behind.__cause__ or behind.__context__
    return Reason.REFUSED


def _response_info(response: httpx.Response) -> dict[str, Any]:
    return {
        "status": response.status_code,
        "retry_after": response.headers.get("retry-after"),
        "now": datetime.now(UTC),
    }


def _is_json(content_type: str) -> bool:
    kind = content_type.partition(";")[0].strip().lower()
    return kind in ("", "application/json", "text/json") or kind.endswith("+json")
