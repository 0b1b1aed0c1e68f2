"""What can go wrong between us and the service.

ServiceError
├── Unreachable         no answer: `reason` says whether the way there failed or the service itself
│   └── OutOfTime       the page that asked had no time left; it says nothing about the service
├── Refused             the service understood the question and says no
│   ├── NotFound        it does not know the thing
│   ├── AccessDenied    it does not accept our key, our project or our region
│   ├── TooBusy         it asks us to slow down for `retry_after` seconds
│   │   └── Overloaded  it said nothing: all our own places or connections are taken
│   │       └── BeyondShare  this client has as many of them as one address may
│   ├── Invalid         it does not accept the question as it was put
│   ├── Expired         the quote's time is over
│   └── WrongState      the intent has moved on, or cannot move yet
└── Unreadable          something answered, but not as interface.md says: `flaw` says in which way

`code` and `name` are the service's own (domain.md 2.6). No error holds the access key, nor an exception that knows it.
"""

import copy
from enum import StrEnum
from typing import Self

LONGEST_TEXT = 200  # characters of anything that the service says about itself

SLOW_DOWN_SECONDS = 5.0  # when the service does not say for how long
PLACE_SECONDS = 2.0  # after which one of our own places may be free


class Reason(StrEnum):
    """Why no answer came."""

    REFUSED = "connection refused"
    DNS = "name not found"
    TLS = "no secure connection"
    TIMEOUT = "took too long"
    BROKEN = "connection broken off"
    IDLE = "connection was closed while nobody used it"
    FAILED = "the service failed"


class Flaw(StrEnum):
    """What is wrong with an answer."""

    NOT_JSON = "not JSON"
    WRONG_SHAPE = "not of the expected form"
    TOO_LARGE = "too large"
    REDIRECT = "a redirect"
    CONTENT_TYPE = "of another content type"
    ENCODING = "in an encoding that was not asked for"
    OTHER_INTENT = "about another intent"
    OTHER_FILTER = "about intents that do not meet its filter"
    OTHER_REQUEST = "to another request"
    MORE_BYTES = "followed by bytes that were not requested"


class ServiceError(Exception):
    """Anything that kept us from an answer. `request_id` is in our log and was sent to the service as X-Request-Id."""

    def __init__(
        self,
        message: str = "",
        *,
        status: int | None = None,
        code: int | None = None,
        name: str | None = None,
        cause: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.operation: str | None = None
        self.request_id: str | None = None
        # Seconds until such a question is put to the service again; None: this one was.
        self.again_in: float | None = None
        self.status = status  # of HTTP
        self.code = code
        self.name = name
        self.cause = cause

    @property
    def summary(self) -> str:
        """What happened in our own words and the service's numbers; fit for a log line."""
        numbers = [f"code {self.code}"] if self.code is not None else []
        numbers += [f"HTTP {self.status}"] if self.status is not None else []
        return f"{type(self).__name__} ({', '.join(numbers)})" if numbers else type(self).__name__

    def __str__(self) -> str:
        return ": ".join(part for part in (self.operation, self.summary, self.message, self.cause) if part)

    def again(self, operation: str) -> Self:
        """The same for another question: an exception keeps its traceback, and threads must not share one."""
        other = copy.copy(self)
        other.__traceback__ = other.__cause__ = other.__context__ = None
        other.operation = operation
        return other

    def without(self, secret: str) -> None:
        """Takes a secret out of whatever the service may have echoed."""
        self.message = self.message.replace(secret, "…")
        self.args = (self.message,)
        self.name = self.name and self.name.replace(secret, "…")
        self.cause = self.cause and self.cause.replace(secret, "…")


class Unreachable(ServiceError):
    reason = Reason.FAILED

    @property
    def summary(self) -> str:
        return f"{super().summary}, {self.reason}"

    @classmethod
    def because(cls, reason: Reason) -> "Unreachable":
        error = cls()
        error.reason = reason
        return error


class OutOfTime(Unreachable):
    reason = Reason.TIMEOUT


class Refused(ServiceError):
    pass


class NotFound(Refused):
    pass


class AccessDenied(Refused):
    pass


class TooBusy(Refused):
    retry_after = SLOW_DOWN_SECONDS


class Overloaded(TooBusy):
    retry_after = PLACE_SECONDS


class BeyondShare(Overloaded):
    pass


class Invalid(Refused):
    pass


class Expired(Refused):
    pass


class WrongState(Refused):
    pass


class Unreadable(ServiceError):
    flaw = Flaw.WRONG_SHAPE

    @property
    def summary(self) -> str:
        return f"{super().summary}, {self.flaw}"

    @classmethod
    def because(cls, flaw: Flaw, detail: str = "", *, status: int | None = None) -> "Unreadable":
        error = cls(detail, status=status)
        error.flaw = flaw
        return error
