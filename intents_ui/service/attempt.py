"""One call by hand: exactly the text that somebody wrote, and what came of it, down to the last byte.

Unlike the typed operations it refuses no question and discards no answer: to see what the service makes of a bad
request is what it is for. Nothing is shared, kept or asked again.
"""

import functools
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass

import httpx

from intents_ui.service.body import Body
from intents_ui.service.config import Group, ServiceConfig
from intents_ui.service.errors import ServiceError
from intents_ui.service.exchange import Exchange
from intents_ui.service.json_text import Verbatim
from intents_ui.service.operations import Call

MASK = "…"
# They say what somebody who calls the service by hand has to know, and nothing about how we reach it.
TOLD_HEADERS = re.compile(
    r"content-(type|length|encoding)|date|retry-after|allow|webrpc|(credits|quota)-[a-z-]{1,30}", re.ASCII
)
LONGEST_HEADER = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """`error` is the service's refusal, or what kept us from an answer; then there may be no `status` and no `text`.

    `size` and `wire_size` are bytes, decoded and as they came; `seconds` until the last byte. The access key stands
    nowhere in it.
    """

    operation: str
    sent: str
    request_id: str
    seconds: float
    status: int | None = None
    text: str = ""
    size: int = 0
    wire_size: int = 0
    headers: Mapping[str, str]
    error: ServiceError | None = None


class ByHand(Exchange[None]):
    """`result` is never raised but told: what the service said stands in `attempt`, whatever it was."""

    def __init__(self, operation: str, text: str, *, group: Group, config: ServiceConfig) -> None:
        call = Call(operation=operation, request=Verbatim(text), read=lambda _: None, group=group, is_read=False)
        super().__init__(call, config)
        self._text = text
        self._secret = _anywhere(config.access_key.get_secret_value() if config.access_key else "")
        self._response: httpx.Response | None = None
        self._body: Body | None = None
        self._content = b""
        self._seconds: float | None = None

    def body(self, response: httpx.Response) -> Body:
        """Takes whatever comes, but for what is too large and what is in an encoding that nobody asked for."""
        self._response = response
        encoding = response.headers.get("content-encoding", "").strip().lower()
        flawed = functools.partial(self._flawed, response)
        self._body = Body(encoding=encoding, limit=self.limits.size, flawed=flawed)
        return self._body

    def result(self, response: httpx.Response, content: bytes) -> None:
        self._content, self._seconds = content, self._so_far()
        super().body(response)  # looks at the headers
        super().result(response, content)

    def attempt(self, error: ServiceError | None) -> Attempt:
        """What came of it. `error`: what the call ended with."""
        response, body = self._response, self._body
        return Attempt(
            operation=self.call.operation,
            sent=self._text,
            request_id=self.request_id,
            seconds=self._so_far() if self._seconds is None else self._seconds,
            status=response.status_code if response else None,
            text=self._masked(self._content.decode("utf-8", "replace")),
            size=len(self._content),
            wire_size=body.wire_bytes if body else 0,
            headers=self._told(response.headers) if response else {},
            error=error,
        )

    def _so_far(self) -> float:
        return time.monotonic() - self._began

    def _told(self, headers: httpx.Headers) -> dict[str, str]:
        return {
            name: self._masked(value)[:LONGEST_HEADER]
            for name, value in headers.items()
            if TOLD_HEADERS.fullmatch(name)
        }

    def _masked(self, text: str) -> str:
        return self._secret.sub(MASK, text) if self._secret else text


def _anywhere(secret: str) -> re.Pattern[str] | None:
    """The secret as it may stand in JSON, where every character may be written as its number."""
    letters = (f"(?:\\\\?{re.escape(letter)}|(?i:\\\\u{ord(letter):04x}))" for letter in secret)
    return re.compile("".join(letters)) if secret else None
