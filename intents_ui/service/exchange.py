"""One call to the service over HTTP, but for the waiting: what is sent, what is accepted, and what each failure means.

The blocking and the async client differ only in how they wait; everything that decides anything is here.
"""

import functools
import logging
import socket
import ssl
import threading
import time
from datetime import UTC, datetime
from typing import Any

import httpcore
import httpx
from pydantic import ValidationError

from intents_ui.service import clock, json_text, origin, paused
from intents_ui.service.body import ACCEPTED_ENCODINGS, LARGE, Body
from intents_ui.service.config import Limits, ServiceConfig
from intents_ui.service.deadline import ConnectionDied, NameNotResolved, is_over
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
from intents_ui.service.operations import Answer, Call
from intents_ui.service.refusals import bare_refusal, envelope, refusal

log = logging.getLogger("intents_ui.service")

_reading_a_large_one = threading.Lock()

# The service no longer has what we ask for, or not in this way.
OUTDATED = frozenset({-2, -3, 1003, 3000, 8009})

# Whatever a call may end in. Our own transport raises httpcore's exceptions, others raise httpx's.
TROUBLE = (
    ServiceError,
    ValidationError,
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
    """One call: `request` is sent, `body` takes the answer, `result` reads it; `failure` is for any of TROUBLE."""

    def __init__(self, call: Call[T], config: ServiceConfig) -> None:
        self.call = call
        self.request_id = origin.call_id()
        self.content = b""  # of the answer
        self._config = config
        self._began = time.monotonic()

    @property
    def limits(self) -> Limits:
        return self._config.limits[self.call.group]

    def request(self) -> httpx.Request:
        # Before the key is in a variable that a traceback could tell.
        content = json_text.write(self._config.names.write(self.call.request))
        headers = {
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
        timeout = httpx.Timeout(connect=limits.connect, read=limits.read, write=limits.read, pool=wait)
        return httpx.Request(
            "POST",
            self._config.url(self.call.operation),
            headers=headers,
            content=content,
            extensions={"timeout": timeout.as_dict()},
        )

    def check_request_id(self, response: httpx.Response) -> None:
        """Raise Unreadable for the response to another request, where the service says to which one it responds."""
        if response.headers.get("x-request-id", self.request_id) != self.request_id:
            raise Unreadable.because(Flaw.OTHER_REQUEST, status=response.status_code)

    def body(self, response: httpx.Response) -> Body:
        """Takes the answer's bytes, if its headers say that it can be one."""
        if 300 <= response.status_code < 400:
            raise Unreadable.because(Flaw.REDIRECT, status=response.status_code)
        if response.is_success and not _is_json(response.headers.get("content-type", "")):
            raise Unreadable.because(Flaw.CONTENT_TYPE, status=response.status_code)
        length = response.headers.get("content-length", "")
        if length.isdecimal() and (len(length) > 18 or int(length) > self.limits.size):
            raise self._flawed(response, Flaw.TOO_LARGE)
        encoding = response.headers.get("content-encoding", "").strip().lower()
        return Body(encoding=encoding, limit=self.limits.size, flawed=functools.partial(self._flawed, response))

    def result(self, response: httpx.Response, content: bytes) -> T:
        """The answer, or the error that the service answered with."""
        if len(content) <= LARGE:
            return self._result(response, content)
        # Read, it takes many times its bytes; side by side two would not be read any sooner.
        with _reading_a_large_one:
            return self._result(response, content)

    def _result(self, response: httpx.Response, content: bytes) -> T:
        self.content = content
        clock.heard(response.headers.get("date"))
        text = content.decode("utf-8", "strict" if response.is_success else "replace")
        try:
            document = json_text.read(text)
        except ValueError:
            raise self._flawed(response, Flaw.NOT_JSON, text) from None
        said_no = envelope(document)
        if said_no is not None:
            raise refusal(said_no, **_answered(response))
        if not response.is_success or not isinstance(document, dict):
            raise self._flawed(response, Flaw.WRONG_SHAPE, text)
        answer = self._read(document, text)
        log.debug("%s answered in %d ms, request %s", self.call.operation, self._elapsed(), self.request_id)
        paused.heard(None)
        return answer

    def recalled(self, text: str) -> T:
        """What an answer says that was read before, perhaps by another version of ours. Raises ValueError."""
        return self._read(json_text.read(text), text)

    def _read(self, document: Any, text: str) -> T:
        return self.call.read(Answer(self._config.names.read(document), text))

    def _flawed(self, response: httpx.Response, flaw: Flaw, text: str = "") -> ServiceError:
        """What an answer is that cannot be read: a refusal goes by its status all the same."""
        if response.is_success:
            return Unreadable.because(flaw, status=response.status_code)
        return bare_refusal(text, **_answered(response))

    def failure(self, error: Exception) -> ServiceError:
        """The error that the call ends with: it names the call and knows no secret. Raise it outside of the handler.

        Inside, it would hang on to the HTTP library's exception, which knows the request's headers.
        """
        failure = _as_ours(error)
        failure.__cause__ = failure.__context__ = None
        failure.operation = self.call.operation
        failure.request_id = self.request_id
        if failure.code is not None:
            paused.heard(failure.code)
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


def _level(failure: ServiceError) -> int:
    is_insecure = isinstance(failure, Unreachable) and failure.reason is Reason.TLS
    if is_insecure or failure.code in OUTDATED:
        return logging.ERROR  # neither passes by itself
    expected = isinstance(failure, Refused) and not isinstance(failure, AccessDenied | TooBusy)
    return logging.INFO if expected else logging.WARNING


def _as_ours(error: Exception) -> ServiceError:
    match error:
        case ServiceError():
            return error
        case ValidationError():
            return Unreadable.because(Flaw.WRONG_SHAPE, _places(error), status=200)
        case UnicodeDecodeError():
            return Unreadable.because(Flaw.NOT_JSON, status=200)
        case httpx.PoolTimeout() | httpcore.PoolTimeout():
            return Overloaded("all connections to the service are in use")
        case ConnectionDied():
            return Unreachable.because(Reason.IDLE)
        case httpx.TimeoutException() | httpcore.TimeoutException() | TimeoutError():
            # Called when the call's own deadline is left behind: what may be over is the page's.
            return OutOfTime() if is_over() else Unreachable.because(Reason.TIMEOUT)
        case httpx.ConnectError() | httpcore.ConnectError():
            return Unreachable.because(_reason_not_connected(error))
        case httpx.DecodingError():
            return Unreadable.because(Flaw.ENCODING)
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


def _answered(response: httpx.Response) -> dict[str, Any]:
    return {
        "status": response.status_code,
        "retry_after": response.headers.get("retry-after"),
        "now": datetime.now(UTC),
    }


def _is_json(content_type: str) -> bool:
    kind = content_type.partition(";")[0].strip().lower()
    return kind in ("", "application/json", "text/json") or kind.endswith("+json")


def _places(error: ValidationError) -> str:
    """Where an answer has not the expected form; never what stood there."""
    found: list[Any] = error.errors(include_url=False, include_context=False, include_input=False)
    return ", ".join(".".join(map(str, problem["loc"])) for problem in found[:3])
