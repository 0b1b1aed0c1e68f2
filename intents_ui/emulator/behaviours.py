"""Fault injection: optional behaviors of a real service, turned on per operation by name.

Faults replace the operation's response, and rewrites modify it. The operations themselves check for the remaining
names.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import formatdate
from threading import Lock
from typing import Final

from intents_ui.emulator import rewrites
from intents_ui.emulator.documents import Document, encode
from intents_ui.emulator.errors import Refusal

EVERY_OPERATION: Final = "*"
SLOW: Final = "slow-"

# Errors returned instead of the operation's response: name -> (error code, Retry-After).
REFUSALS: Final[dict[str, tuple[int, str | None]]] = {
    "busy-60": (1201, "60"),
    "busy-1": (1201, "1"),
    "busy": (1201, None),
    "busy-date": (1201, "date"),
    "quota-used-up": (1200, None),
    "failing-500": (2001, None),
    "panic-500": (-6, None),
    "node-down-503": (9001, None),
    "disabled": (9000, None),
    "unavailable": (2002, None),
    "timeout-408": (1900, None),
    "not-found": (8000, None),
    "outdated": (8009, None),
    "geoblocked": (1006, None),
}
REWRITES: Final[dict[str, Callable[[Document], Document]]] = {
    "numbers": rewrites.amounts_as_numbers,
    "exponents": rewrites.amounts_with_exponents,
    "mixed-case": rewrites.mixed_case,
    "extra-fields": rewrites.extra_fields,
    "no-ids": rewrites.without_ids,
    "fraction-0": rewrites.fraction_digits(0),
    "fraction-3": rewrites.fraction_digits(3),
    "fraction-6": rewrites.fraction_digits(6),
    "fraction-9": rewrites.fraction_digits(9),
    "offset-times": rewrites.offset_times,
    "sparse": rewrites.sparse,
    "chains-flat": rewrites.chains_flat,
    "chains-nested": rewrites.chains_nested,
    "second-names": rewrites.second_names,
    "both-names": rewrites.both_names,
    "intents-null": rewrites.intents_null,
    "last-page-absent": rewrites.last_page_absent,
    "last-page-more-false": rewrites.last_page_more_false,
    "duplicate-rows": rewrites.duplicate_rows,
    "unsorted": rewrites.unsorted,
    "states-without-refund": rewrites.states_without_refund,
    "prices-missing": rewrites.prices_missing,
    "prices-zero": rewrites.prices_zero,
    "balances-bare": rewrites.balances_bare,
}
# Fixed responses: name -> (status, content type, body).
PAGES: Final = {
    "html-502": (
        502,
        b"text/html",
        b"<html><head><title>502 Bad Gateway</title></head><body><h1>502</h1></body></html>",
    ),
    "broken-json": (200, b"application/json", b'{"intent":{"intentId":"0x'),
    "empty-200": (200, b"application/json", b""),
}
WORDS: Final = frozenset(
    {
        "wrapped-errors",  # {"webrpcError": …} around errors
        "error-200",  # an error body with status 200
        "cut-body",  # the connection closes in the middle of the body
        "slow-first-byte",  # 35 s before the first byte, or slow-<seconds> for other delays
        "clock-ahead",  # the service's clock is 90 s ahead
        "clock-behind",
        "wait-at-once",  # WaitIntentReceipt returns without waiting
        "wait-same-cursor",  # … with the caller's own cursor
        "done-only-success-or-failure",
        "quoted-not-found",  # no receipt before execution
        "deposit-hash-ignored",  # byDepositTransactionHash isn't in the schema
        "search-capped",  # the ten newest matches, without quotes
        "empty-search-refused",  # a search without criteria is an error
        "routes-stub",  # both route operations return an empty list
        "next-page-repeats",  # the next cursor is the current one
    }
)
NAMES: Final = frozenset(REFUSALS) | frozenset(REWRITES) | frozenset(PAGES) | WORDS
SLOW_SECONDS: Final = 35.0
CLOCK_SKEW: Final = 90


@dataclass(frozen=True, slots=True)
class Answer:
    """Response to send.

    `cut` truncates the body to half, and `skew` is how many seconds the service's clock is ahead.
    """

    status: int
    body: bytes
    content_type: bytes = b"application/json"
    headers: tuple[tuple[bytes, bytes], ...] = ()
    cut: bool = False
    skew: int = 0


class Behaviours:
    """The behaviors turned on per operation, and for how many more requests."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._active: defaultdict[str, dict[str, int | None]] = defaultdict(dict)

    def switch_on(self, operation: str, name: str, *, times: int | None = None) -> None:
        """Turn on a behavior until switched off, or for `times` requests. Raises ValueError for an unknown name."""
        if name not in NAMES and seconds_of(name) is None:
            raise ValueError(f"Unknown fault {name!r}. Valid faults: {', '.join(sorted(NAMES))}, slow-<seconds>")
        with self._lock:
            self._active[operation][name] = times

    def switch_off(self, operation: str | None = None) -> None:
        with self._lock:
            if operation is None:
                self._active.clear()
            else:
                self._active.pop(operation, None)

    def for_request(self, operation: str) -> frozenset[str]:
        """Return the behaviors for one request, and count it."""
        if not self._active:
            return frozenset()
        with self._lock:
            return frozenset(
                name
                for each in (operation, EVERY_OPERATION)
                if each in self._active
                for name in list(self._active[each])
                if self._consume(each, name)
            )

    def _consume(self, operation: str, name: str) -> bool:
        left = self._active[operation][name]
        if left is None:
            return True
        if left > 1:
            self._active[operation][name] = left - 1
        else:
            del self._active[operation][name]
        return left > 0


def seconds_of(name: str) -> float | None:
    """Return the delay of `slow-first-byte` or `slow-<seconds>`, or None for other behaviors."""
    if name == "slow-first-byte":
        return SLOW_SECONDS
    try:
        return float(name.removeprefix(SLOW)) if name.startswith(SLOW) else None
    except ValueError:
        return None


def delay(behaviours: frozenset[str]) -> float:
    return sum(seconds_of(name) or 0.0 for name in behaviours)


def skew(behaviours: frozenset[str]) -> int:
    """Return how many seconds the service's clock is ahead."""
    return CLOCK_SKEW * (("clock-ahead" in behaviours) - ("clock-behind" in behaviours))


def fault(behaviours: frozenset[str], now: float) -> Answer | None:
    """Return the response that replaces the operation's, or None."""
    for name in sorted(behaviours):
        if name in PAGES:
            status, content_type, body = PAGES[name]
            return Answer(status, body, content_type)
        if name in REFUSALS:
            code, retry_after = REFUSALS[name]
            if retry_after == "date":
                retry_after = formatdate(now + 60, usegmt=True)
            headers = ((b"retry-after", retry_after.encode()),) if retry_after else ()
            return refused(Refusal(code), behaviours, headers)
    return None


def answered(document: Document, behaviours: frozenset[str]) -> Answer:
    for name in sorted(behaviours & REWRITES.keys()):
        document = REWRITES[name](document)
    return Answer(200, encode(document), cut="cut-body" in behaviours, skew=skew(behaviours))


def refused(refusal: Refusal, behaviours: frozenset[str], headers: tuple[tuple[bytes, bytes], ...] = ()) -> Answer:
    envelope, status = refusal.envelope(), refusal.status
    if "wrapped-errors" in behaviours:
        envelope = rewrites.wrapped(envelope)
    if "error-200" in behaviours:
        status = 200
    return Answer(status, encode(envelope), headers=headers, cut="cut-body" in behaviours, skew=skew(behaviours))
