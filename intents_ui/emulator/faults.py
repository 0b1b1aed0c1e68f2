"""Fault injection: optional deviations of a real service, turned on per operation by name.

data/faults.json has the errors and pages that replace an operation's response, and the names that the operations
themselves check for. Rewrites return what other service versions send.
"""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from email.utils import formatdate
from math import inf
from threading import Lock
from typing import Any, Final

from intents_ui.emulator import documents
from intents_ui.emulator.catalog import TOKENS
from intents_ui.emulator.documents import MICROSECONDS, Document, encode, micros, stamp
from intents_ui.emulator.errors import Refusal

_TABLE: Final = documents.table("faults.json")
REFUSALS: Final = _TABLE["errors"]
PAGES: Final = _TABLE["pages"]
_FIELDS: Final = documents.table("response_fields.json")
AMOUNTS: Final = frozenset(_FIELDS["amounts"])  # sent as decimal strings
_TIMES: Final = frozenset(_FIELDS["times"])
_ADDRESS: Final = re.compile(r"0x[0-9a-f]{40}")
_FLAT_CHAIN: Final = ("tokenName", "tokenSymbol", "tokenDecimals", "blockExplorerUrl", "isTestnet", "supportsBridging")
_NESTED_CHAIN: Final = ("nativeCurrency", "blockExplorer")
_FIRST_NAMES: Final = [
    f"{side}{suffix}" for side in ("origin", "destination") for suffix in ("Calls", "Precondition", "MetaTxn")
]
_CHECKSUMS: Final = {token.address: token.checksummed for token in TOKENS}
_EXPONENT_FROM: Final = 10**21
TIE: Final = 20 * MICROSECONDS


# Returns what to send in place of a value under a key, of which the members have been rewritten.
type Rewrite = Callable[[str, Any], Any]


def _amounts(written: Callable[[int], Any]) -> Rewrite:
    return lambda key, value: (
        written(int(value)) if key in AMOUNTS and isinstance(value, str) and value.isdigit() else value
    )


def _times(written: Callable[[datetime], str]) -> Rewrite:
    return lambda key, value: (
        written(datetime.fromisoformat(value)) if key in _TIMES and isinstance(value, str) else value
    )


def _lists(name: str, written: Callable[[list[Any]], Any]) -> Rewrite:
    return lambda key, value: written(value) if key == name and isinstance(value, list) else value


def _objects(written: Callable[[Document], Any], *having: str) -> Rewrite:
    """Rewrite the objects that have these fields."""
    return lambda _, value: written(value) if isinstance(value, dict) and value.keys() >= {*having} else value


def _without(document: Document, *names: str) -> Document:
    return {key: value for key, value in document.items() if key not in names}


def _mixed_case(_: str, value: Any) -> Any:
    """Send token addresses checksummed, and every other one of the rest in capitals."""
    if not isinstance(value, str) or not _ADDRESS.fullmatch(value):
        return value
    return _CHECKSUMS.get(value, "0x" + value[2:].upper() if int(value[-1], 16) % 2 else value)


def _fraction(digits: int) -> Rewrite:
    def written(moment: datetime) -> str:
        fraction = f"{moment.microsecond:06}".ljust(9, "0")[:digits]
        return f"{moment:%Y-%m-%dT%H:%M:%S}{'.' if digits else ''}{fraction}Z"

    return _times(written)


def _tied(document: Document) -> Document:
    """Round a creation time down, so that neighbors have the same."""
    created = micros(datetime.fromisoformat(document["createdAt"]).timestamp())
    return document | {"createdAt": stamp(created // TIE * TIE)}


def _second_names(intent: Document) -> Document:
    lists = {"calls": "Calls", "preconditions": "Precondition", "metaTxns": "MetaTxn"}
    return intent | {
        "destinationSalt": intent["salt"],
        **{
            plural: [each for side in ("origin", "destination") if (each := intent[f"{side}{suffix}"]) is not None]
            for plural, suffix in lists.items()
        },
    }


EVERY_OPERATION: Final = "*"
SLOW: Final = "slow-"

REWRITES: Final[dict[str, Rewrite]] = {
    "numbers": _amounts(lambda units: units),
    # Large ones in exponent notation (1e+30), as programs without big integers do.
    "exponents": _amounts(lambda units: float(units) if units >= _EXPONENT_FROM else units),
    "mixed-case": _mixed_case,
    # In every object.
    "extra-fields": _objects(lambda each: each | {"futureField": {"since": "v9", "flags": [1, "two", None]}}),
    # Without the documented fields that real responses hide. Chains keep their ID, which identifies them.
    "no-ids": lambda key, value: (
        _without(value, *_FIELDS["hidden"]) if isinstance(value, dict) and key != "chains" else value
    ),
    **{f"fraction-{digits}": _fraction(digits) for digits in (0, 3, 6, 9)},
    "offset-times": _times(datetime.isoformat),
    # Without nulls, empty strings and empty objects.
    "sparse": _objects(lambda each: {key: value for key, value in each.items() if value not in (None, "", {})}),
    "chains-flat": _objects(lambda chain: _without(chain, *_NESTED_CHAIN), "blockExplorer"),
    "chains-nested": _objects(lambda chain: _without(chain, *_FLAT_CHAIN), "blockExplorer"),
    # Of intents, and not of rows of the history, which aren't complete.
    "second-names": _objects(lambda intent: _without(_second_names(intent), *_FIRST_NAMES), "salt"),
    "both-names": _objects(_second_names, "salt"),
    "intents-null": _lists("intents", lambda rows: rows or None),
    "last-page-absent": _objects(lambda page: _without(page, *[] if page["nextPage"] else ["nextPage"]), "nextPage"),
    "last-page-more-false": _objects(lambda page: page | {"nextPage": page["nextPage"] or {"more": False}}, "nextPage"),
    "duplicate-rows": _lists("intents", lambda rows: rows + rows[-2:]),
    "unsorted": _lists("intents", lambda rows: sorted(rows, key=lambda row: str(row["intentId"]))),
    "states-without-refund": _lists("receiptStates", lambda states: states[:3]),
    "prices-missing": _objects(lambda token: _without(token, "priceUsd", "balanceUsd"), "balanceUsd"),
    "prices-zero": _objects(lambda token: token | {"priceUsd": "0", "balanceUsd": "0"}, "balanceUsd"),
    # Chain 0 means the address's own chain.
    "balances-bare": _objects(lambda token: _without(token, "symbol", "decimals") | {"chainId": 0}, "balanceUsd"),
    # Lists sorted by createdAt continue after all ties.
    "created-ties": _objects(_tied, "createdAt", "expiresAt"),
}
NAMES: Final = frozenset({*_TABLE["others"], *REFUSALS, *REWRITES, *PAGES})
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


class Faults:
    """The faults turned on per operation, and for how many more requests."""

    def __init__(self, operations: Collection[str]) -> None:
        self.operations = operations
        self._lock = Lock()
        self._left: dict[tuple[str, str], float] = {}

    def inject(self, operation: str, *names: str, times: int | None = None) -> None:
        """Turn on faults of one operation or of `*`, for the next `times` requests or until `reset`."""
        if operation not in (EVERY_OPERATION, *self.operations):
            raise ValueError(f"no operation is called {operation!r}")
        for name in names:
            if name not in NAMES and seconds_of(name) is None:
                raise ValueError(f"no fault is called {name!r}; there are {', '.join(sorted(NAMES))}, slow-<seconds>")
            with self._lock:
                self._left[operation, name] = inf if times is None else times

    def reset(self, operation: str | None = None) -> None:
        """Turn off all faults, of one operation or of all."""
        with self._lock:
            self._left = {key: left for key, left in self._left.items() if operation not in (None, key[0])}

    def for_request(self, operation: str) -> frozenset[str]:
        """Return the faults for one request, and count it."""
        with self._lock:
            found = [key for key in self._left if key[0] in (operation, EVERY_OPERATION)]
            self._left.update((key, self._left[key] - 1) for key in found)
            self._left = {key: left for key, left in self._left.items() if left > 0}
        return frozenset(name for _, name in found)


def seconds_of(name: str) -> float | None:
    """Return the delay of `slow-first-byte` or `slow-<seconds>`, or None for other faults."""
    if name == "slow-first-byte":
        return SLOW_SECONDS
    try:
        return float(name.removeprefix(SLOW)) if name.startswith(SLOW) else None
    except ValueError:
        return None


def skew(faults: frozenset[str]) -> int:
    """Return how many seconds the service's clock is ahead."""
    return CLOCK_SKEW * (("clock-ahead" in faults) - ("clock-behind" in faults))


def fault(faults: frozenset[str], now: float) -> Answer | None:
    """Return the response that replaces the operation's, or None."""
    for name in sorted(faults):
        if name in PAGES:
            page = PAGES[name]
            return Answer(page["status"], page["body"].encode(), page["type"].encode())
        if name in REFUSALS:
            wait = REFUSALS[name].get("retryAfter", "").replace("date", formatdate(now + 60, usegmt=True))
            headers = ((b"retry-after", wait.encode()),) if wait else ()
            return refused(Refusal(REFUSALS[name]["error"]), faults, headers)
    return None


def answered(document: Document, faults: frozenset[str]) -> Answer:
    for name in sorted(faults & REWRITES.keys()):
        document = _rewritten(document, REWRITES[name])
    return Answer(200, encode(document), cut="cut-body" in faults, skew=skew(faults))


def _rewritten(value: Any, written: Rewrite, key: str = "") -> Any:
    """Return a copy of a document with each value rewritten, after its members."""
    if isinstance(value, dict):
        value = {name: _rewritten(member, written, name) for name, member in value.items()}
    elif isinstance(value, list):
        return written(key, [_rewritten(member, written, key) for member in value])
    return written(key, value)


def refused(refusal: Refusal, faults: frozenset[str], headers: tuple[tuple[bytes, bytes], ...] = ()) -> Answer:
    envelope, status = refusal.envelope, refusal.status
    if "wrapped-errors" in faults:  # the second documented form
        names = {"code": "code", "name": "error", "message": "msg", "cause": "cause", "httpStatus": "status"}
        envelope = {"webrpcError": {second: envelope.get(first, "") for second, first in names.items()}}
    if "error-200" in faults:
        status = 200
    return Answer(status, encode(envelope), headers=headers, cut="cut-body" in faults, skew=skew(faults))
