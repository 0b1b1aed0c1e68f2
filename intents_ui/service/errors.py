"""Errors of calls to the service: a class for each cause.

`code` and `name` are the service's own. No error contains the access key or is chained to an exception that does.
"""

import copy
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from datetime import datetime
from enum import StrEnum
from typing import ClassVar, Self

from intents_ui import tables

LONGEST_TEXT = 200  # characters of a text from the service

SLOW_DOWN_SECONDS = 5.0  # default where the service sends no Retry-After
PLACE_SECONDS = 2.0  # estimated time until one of our connections is free

MAX_PAUSE_SECONDS = 30.0  # of a rate limit, whatever the service says. Then one call probes

TRANSIENT_CODES = frozenset({0, -6, -7, 1900, 2001, 9001})
GEOBLOCKED = 1006
PAUSED = 9000  # code of IntentsDisabled: the service is switched off for maintenance


class Reason(StrEnum):
    """Why there was no response, or what is wrong with it."""

    REFUSED = "connection refused"
    DNS = "name not found"
    TLS = "no secure connection"
    TIMEOUT = "took too long"
    BROKEN = "connection broken off"
    FAILED = "the service failed"
    NOT_JSON = "not JSON"
    WRONG_SHAPE = "not of the expected form"
    TOO_LARGE = "too large"
    REDIRECT = "a redirect"
    CONTENT_TYPE = "of another content type"
    ENCODING = "in an encoding that was not requested"
    OTHER_INTENT = "about another intent"
    OTHER_FILTER = "about intents that do not meet its filter"


TRANSIENT_REASONS = frozenset(
    {Reason.REFUSED, Reason.DNS, Reason.TIMEOUT, Reason.BROKEN, Reason.FAILED, Reason.NOT_JSON, Reason.WRONG_SHAPE}
)


@dataclass(eq=False, repr=False)
class ServiceError(Exception):
    """A failed service call. `request_id` is in our log and in the request's X-Request-Id header.

    `again_in` is the number of seconds until the circuit breaker allows the next such request, or None if this one was
    sent.
    """

    usual_reason: ClassVar[Reason | None] = None

    message: str = ""
    _: KW_ONLY
    reason: Reason | None = None
    status: int | None = None  # the HTTP status
    code: int | None = None
    name: str | None = None
    cause: str | None = None
    operation: str | None = None
    request_id: str | None = None
    again_in: float | None = None

    def __post_init__(self) -> None:
        self.reason = self.reason or self.usual_reason

    @property
    def summary(self) -> str:
        """Error class, code, HTTP status and reason, without text from the service. Safe for a log line."""
        numbers = [f"code {self.code}"] if self.code is not None else []
        numbers += [f"HTTP {self.status}"] if self.status is not None else []
        kind = f"{type(self).__name__} ({', '.join(numbers)})" if numbers else type(self).__name__
        return f"{kind}, {self.reason}" if self.reason else kind

    @property
    def is_timeout(self) -> bool:
        return self.reason is Reason.TIMEOUT

    @property
    def is_key_rejected(self) -> bool:
        return isinstance(self, AccessDenied) and self.code != GEOBLOCKED and self.status != 451

    @property
    def is_transient(self) -> bool:
        """Whether the same request can succeed a moment later."""
        if isinstance(self, OutOfTime) or self.again_in is not None:
            return False
        if self.code in KNOWN:
            return self.code in TRANSIENT_CODES
        return self.reason in TRANSIENT_REASONS

    @property
    def may_serve_stale(self) -> bool:
        """Whether a stale response is better than this error, which says nothing about the requested object."""
        return self.is_key_rejected or isinstance(self, Unreachable | Unreadable | TooBusy)

    def __str__(self) -> str:
        return ": ".join(part for part in (self.operation, self.summary, self.message, self.cause) if part)

    def copied(self) -> Self:
        """Return a copy without its traceback, which references every frame that the error passed."""
        other = copy.copy(self)
        other.__traceback__ = other.__cause__ = other.__context__ = None
        return other


class Unreachable(ServiceError):
    """There is no response, or one of a failed service or proxy. `reason` says why."""

    usual_reason = Reason.FAILED


class OutOfTime(Unreachable):
    """The page's own deadline passed, so the service may be healthy."""

    usual_reason = Reason.TIMEOUT


class Unreadable(ServiceError):
    """The response doesn't match the schema. `reason` says how."""

    usual_reason = Reason.WRONG_SHAPE


class Refused(ServiceError):
    """The service responded with an error."""


class NotFound(Refused):
    """The object doesn't exist."""


class AccessDenied(Refused):
    """The access key, project or region isn't accepted."""


class TooBusy(Refused):
    """The service limits the rate of requests. Retry after `retry_after` seconds."""

    retry_after = SLOW_DOWN_SECONDS


class Overloaded(TooBusy):
    """No request was sent, because all of our threads or connections are in use."""

    retry_after = PLACE_SECONDS


class Invalid(Refused):
    """The request isn't valid."""


class Expired(Refused):
    """The quote expired."""


class WrongState(Refused):
    """The intent's status doesn't allow the operation."""


@dataclass(frozen=True, slots=True)
class StaleResponse:
    """A response on a page that was served because the service failed.

    One that is refreshed in the background within its TTL doesn't count. `learned_at` is in UTC, `error` is why there
    is no newer response, and `again_in` is the number of seconds until the next request. `has_balances` marks a list
    of transfers requested with balances.
    """

    operation: str
    learned_at: datetime
    error: ServiceError
    again_in: float | None = None
    has_balances: bool = False


# The documented error codes, each with its name and our error class.
_KINDS = (Unreachable, Refused, NotFound, AccessDenied, TooBusy, Invalid, Expired, WrongState, Unreadable)
_CLASSES: Mapping[str, type[ServiceError]] = {kind.__name__: kind for kind in _KINDS}
KNOWN: Mapping[int, tuple[str, type[ServiceError]]] = {
    int(code): (name, _CLASSES[kind]) for code, (name, kind) in tables.read(__package__, "errors.json").items()
}
