"""Fault injection: optional deviations of a real service, turned on per operation by name.

Faults replace the operation's response, rewrites modify it, and a few change the course of intents. The operations
themselves check for the remaining names.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from email.utils import formatdate
from threading import Lock
from typing import Final

from intents_ui.emulator import names, response_variants
from intents_ui.emulator.documents import Document, encode
from intents_ui.emulator.errors import Refusal
from intents_ui.emulator.scenario_engine import Scene, postponed

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
    "numbers": response_variants.amounts_as_numbers,
    "exponents": response_variants.amounts_with_exponents,
    "mixed-case": response_variants.mixed_case,
    "extra-fields": response_variants.extra_fields,
    "no-ids": response_variants.without_ids,
    "fraction-0": response_variants.fraction_digits(0),
    "fraction-3": response_variants.fraction_digits(3),
    "fraction-6": response_variants.fraction_digits(6),
    "fraction-9": response_variants.fraction_digits(9),
    "offset-times": response_variants.offset_times,
    "sparse": response_variants.sparse,
    "chains-flat": response_variants.chains_flat,
    "chains-nested": response_variants.chains_nested,
    "second-names": response_variants.second_names,
    "both-names": response_variants.both_names,
    "intents-null": response_variants.intents_null,
    "last-page-absent": response_variants.last_page_absent,
    "last-page-more-false": response_variants.last_page_more_false,
    "duplicate-rows": response_variants.duplicate_rows,
    "unsorted": response_variants.unsorted,
    "states-without-refund": response_variants.states_without_refund,
    "prices-missing": response_variants.prices_missing,
    "prices-zero": response_variants.prices_zero,
    "balances-bare": response_variants.balances_bare,
    "created-ties": response_variants.created_ties,  # lists sorted by createdAt continue after all ties
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
# Changes of the course of intents, for all operations that are read.
COURSES: Final = frozenset(
    {
        "late-visibility",  # intents are committed 1 to 20 minutes after createdAt, so filters by status show them late
        "late-change",  # one in four has its last status 1 to 24 hours later
        "unknown-statuses",  # one in eight executes with statuses that no filter can name
    }
)
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
NAMES: Final = frozenset(REFUSALS) | frozenset(REWRITES) | frozenset(PAGES) | COURSES | WORDS
SLOW_SECONDS: Final = 35.0
CLOCK_SKEW: Final = 90
_UNKNOWN: Final = {"EXECUTING": "SETTLING", "SUCCEEDED": "SETTLED"}


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


class Faults:
    """The faults turned on per operation, and for how many more requests."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._active: defaultdict[str, dict[str, int | None]] = defaultdict(dict)

    def switch_on(self, operation: str, name: str, *, times: int | None = None) -> None:
        """Turn on a fault until switched off, or for `times` requests. Raises ValueError for an unknown name."""
        if name not in NAMES and seconds_of(name) is None:
            raise ValueError(f"no fault is called {name!r}; there are {', '.join(sorted(NAMES))}, slow-<seconds>")
        with self._lock:
            self._active[operation][name] = times

    def switch_off(self, operation: str | None = None) -> None:
        with self._lock:
            if operation is None:
                self._active.clear()
            else:
                self._active.pop(operation, None)

    def for_request(self, operation: str) -> frozenset[str]:
        """Return the faults for one request, and count it."""
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
    """Return the delay of `slow-first-byte` or `slow-<seconds>`, or None for other faults."""
    if name == "slow-first-byte":
        return SLOW_SECONDS
    try:
        return float(name.removeprefix(SLOW)) if name.startswith(SLOW) else None
    except ValueError:
        return None


def delay(faults: frozenset[str]) -> float:
    return sum(seconds_of(name) or 0.0 for name in faults)


def skew(faults: frozenset[str]) -> int:
    """Return how many seconds the service's clock is ahead."""
    return CLOCK_SKEW * (("clock-ahead" in faults) - ("clock-behind" in faults))


def fault(faults: frozenset[str], now: float) -> Answer | None:
    """Return the response that replaces the operation's, or None."""
    for name in sorted(faults):
        if name in PAGES:
            status, content_type, body = PAGES[name]
            return Answer(status, body, content_type)
        if name in REFUSALS:
            code, retry_after = REFUSALS[name]
            if retry_after == "date":
                retry_after = formatdate(now + 60, usegmt=True)
            headers = ((b"retry-after", retry_after.encode()),) if retry_after else ()
            return refused(Refusal(code), faults, headers)
    return None


def changed_course(scenes: tuple[Scene, ...], number: int, stretch: float, faults: frozenset[str]) -> tuple[Scene, ...]:
    """Return the scenes of an intent as its number and the faults change them."""
    if not faults & COURSES:
        return scenes
    delay, hours, is_late, is_unknown = names.noise(number, "faults", 4)
    if "late-visibility" in faults:
        committed = next((place for place, scene in enumerate(scenes) if scene.status != scenes[0].status), 0)
        scenes = postponed(scenes, committed, (60 + delay * 1140 / 255) / stretch)
    if "late-change" in faults and is_late % 4 == 0:
        changes = [place for place in range(1, len(scenes)) if scenes[place].status != scenes[place - 1].status]
        scenes = postponed(scenes, changes[-1] if changes else 0, (1 + hours % 24) * 3600 / stretch)
    if "unknown-statuses" in faults and is_unknown % 8 == 0:
        scenes = tuple(replace(scene, status=_UNKNOWN.get(scene.status, scene.status)) for scene in scenes)
    return scenes


def answered(document: Document, faults: frozenset[str]) -> Answer:
    for name in sorted(faults & REWRITES.keys()):
        document = REWRITES[name](document)
    return Answer(200, encode(document), cut="cut-body" in faults, skew=skew(faults))


def refused(refusal: Refusal, faults: frozenset[str], headers: tuple[tuple[bytes, bytes], ...] = ()) -> Answer:
    envelope, status = refusal.envelope(), refusal.status
    if "wrapped-errors" in faults:
        envelope = response_variants.wrapped(envelope)
    if "error-200" in faults:
        status = 200
    return Answer(status, encode(envelope), headers=headers, cut="cut-body" in faults, skew=skew(faults))
