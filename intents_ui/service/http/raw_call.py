"""Raw service calls for the API console: send the exact text, record the exact response.

Unlike the typed operations, a raw call validates neither the request nor the response, because the console exists to
show how the service handles any request. Nothing is cached, coalesced or retried.
"""

import functools
import re
import time

import httpx

from intents_ui.service.decode import Verbatim
from intents_ui.service.errors import ServiceError
from intents_ui.service.health import Health
from intents_ui.service.http.body import Body, ResponseMemory
from intents_ui.service.http.exchange import Exchange
from intents_ui.service.operations.config import Group, ServiceConfig
from intents_ui.service.operations.operations import ServiceCall
from intents_ui.service.wire.results import Attempt

MASK = "…"
# Headers that matter to an API user. The others would reveal how this deployment reaches the service.
TOLD_HEADERS = re.compile(
    r"content-(type|length|encoding)|date|retry-after|allow|webrpc|(credits|quota)-[a-z-]{1,30}", re.ASCII
)
LONGEST_HEADER = 200


class ByHand(Exchange[None]):
    """HTTP exchange that records its result in `attempt()`, whatever the response, instead of raising an error."""

    def __init__(
        self,
        operation: str,
        text: str,
        *,
        group: Group,
        config: ServiceConfig,
        health: Health,
        memory: ResponseMemory,
    ) -> None:
        call = ServiceCall(operation=operation, request=Verbatim(text), read=lambda _: None, group=group, is_read=False)
        super().__init__(call, config, health, memory)
        self._text = text
        self._secret = _secret_pattern(config.access_key.get_secret_value() if config.access_key else "")
        self._response: httpx.Response | None = None
        self._body: Body | None = None
        self._content = bytearray()
        self._seconds: float | None = None

    def body(self, response: httpx.Response) -> Body:
        """Accept any response except one that is too large or has an unsupported encoding."""
        self._response = response
        encoding = response.headers.get("content-encoding", "").strip().lower()
        flawed = functools.partial(self._flawed, response)
        self._body = Body(encoding=encoding, limit=self.limits.size, memory=self._memory, flawed=flawed)
        return self._body

    def result(self, response: httpx.Response, content: bytearray) -> None:
        self._content, self._seconds = content, self._seconds_so_far()
        super().body(response)  # validates the headers
        super().result(response, content)

    def attempt(self, error: ServiceError | None) -> Attempt:
        """Return the recorded result. `error` is the error that the call ended with, if any."""
        response, body = self._response, self._body
        return Attempt(
            operation=self.call.operation,
            sent=self._text,
            request_id=self.request_id,
            seconds=self._seconds_so_far() if self._seconds is None else self._seconds,
            status=response.status_code if response else None,
            text=self._masked(self._content.decode("utf-8", "replace")),
            size=len(self._content),
            wire_size=body.wire_bytes if body else 0,
            headers=self._shown_headers(response.headers) if response else {},
            error=error,
        )

    def _seconds_so_far(self) -> float:
        return time.monotonic() - self._began

    def _shown_headers(self, headers: httpx.Headers) -> dict[str, str]:
        return {
            name: self._masked(value)[:LONGEST_HEADER]
            for name, value in headers.items()
            if TOLD_HEADERS.fullmatch(name)
        }

    def _masked(self, text: str) -> str:
        return self._secret.sub(MASK, text) if self._secret else text


def _secret_pattern(secret: str) -> re.Pattern[str] | None:
    """Return a pattern for the secret as it can appear in JSON, where each character may be escaped."""
    letters = (f"(?:\\\\?{re.escape(letter)}|(?i:\\\\u{ord(letter):04x}))" for letter in secret)
    return re.compile("".join(letters)) if secret else None
