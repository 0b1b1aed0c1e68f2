"""Fault injection: optional deviations of a real service, turned on per operation by name.

data/faults.json has the errors and pages that replace an operation's response, and the names that the operations
themselves check for. A rewrite takes a document and returns a new one, as other service versions send it.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from email.utils import formatdate
from math import inf
from threading import Lock
from typing import Any, Final

from intents_ui.emulator import documents
from intents_ui.emulator.catalog import Catalogue
from intents_ui.emulator.documents import MICROSECONDS, Document, encode, micros, stamp
from intents_ui.emulator.errors import Refusal

_TABLE: Final = documents.table("faults.json")
REFUSALS: Final = _TABLE["errors"]
PAGES: Final = _TABLE["pages"]
_FIELDS: Final = documents.table("response_fields.json")
AMOUNTS: Final = frozenset(_FIELDS["amounts"])  # sent as decimal strings
_TIMES: Final = frozenset(_FIELDS["times"])
_HIDDEN: Final = frozenset(_FIELDS["hidden"])  # by real responses
_ADDRESS: Final = re.compile(r"0x[0-9a-f]{40}")
_FLAT_CHAIN: Final = ("tokenName", "tokenSymbol", "tokenDecimals", "blockExplorerUrl", "isTestnet", "supportsBridging")
_NESTED_CHAIN: Final = ("nativeCurrency", "blockExplorer")
_EXPONENT_FROM: Final = 10**21
TIE: Final = 20 * MICROSECONDS


def amounts_with_exponents(document: Document) -> Any:
    """Send amounts as numbers, and large ones in exponent notation (1e+30), as programs without big integers do."""

    def written(key: str, value: Any) -> Any:
        if not _is_amount(key, value):
            return value
        return float(value) if int(value) >= _EXPONENT_FROM else int(value)

    return _each(document, written)


def mixed_case(document: Document) -> Any:
    """Send token addresses checksummed, and every other one of the rest in capitals."""
    checksums = {token.address: token.checksummed for token in Catalogue().tokens}

    def written(key: str, value: Any) -> Any:
        if not isinstance(value, str) or not _ADDRESS.fullmatch(value):
            return value
        shout = int(value[-1], 16) % 2
        return checksums.get(value, "0x" + value[2:].upper() if shout else value)

    return _each(document, written)


def without_ids(document: Document) -> Any:
    """Remove the documented fields that real responses hide. Chains keep their ID, which identifies them."""
    if "chains" in document:
        return document
    return _objects(document, lambda each: _without(each, *_HIDDEN))


def fraction_digits(digits: int) -> Callable[[Document], Document]:
    def rewritten(document: Document) -> Any:
        def written(moment: datetime) -> str:
            fraction = f"{moment.microsecond:06}".ljust(9, "0")[:digits]
            return f"{moment:%Y-%m-%dT%H:%M:%S}{'.' if digits else ''}{fraction}Z"

        return _times(document, written)

    return rewritten


def created_ties(document: Document) -> Any:
    """Round the creation times of intents down, so that neighbors have the same."""

    def tied(each: Document) -> Document:
        if "createdAt" not in each or "expiresAt" not in each:  # those of receipts and transactions
            return each
        created = micros(datetime.fromisoformat(each["createdAt"]).timestamp())
        return each | {"createdAt": stamp(created // TIE * TIE)}

    return _objects(document, tied)


def wrapped(envelope: Document) -> Document:
    """Return the second documented form of an error."""
    names = {"code": "code", "error": "name", "msg": "message", "cause": "cause", "status": "httpStatus"}
    return {"webrpcError": {second: envelope.get(first, "") for first, second in names.items()}}


def _without(document: Document, *names: str) -> Document:
    return {key: value for key, value in document.items() if key not in names}


def _with_list(document: Document, name: str, written: Callable[[list[Any]], Any]) -> Document:
    """Return a document with a list as rewritten, if it has one that isn't empty."""
    return document | {name: written(document[name])} if document.get(name) else document


def _is_amount(key: str, value: Any) -> bool:
    return key in AMOUNTS and isinstance(value, str) and value.isdigit()


def _each(value: Any, written: Callable[[str, Any], Any], key: str = "") -> Any:
    """Return a copy of a document with `written(key, value)` in place of its values and, after their own, objects."""
    if isinstance(value, list):
        return [_each(member, written, key) for member in value]
    if isinstance(value, dict):
        value = {name: _each(member, written, name) for name, member in value.items()}
    return written(key, value)


def _objects(document: Document, written: Callable[[Document], Document]) -> Any:
    return _each(document, lambda _, value: written(value) if isinstance(value, dict) else value)


def _balances(document: Document, written: Callable[[Document], Document]) -> Any:
    return _objects(document, lambda each: written(each) if "balanceUsd" in each else each)


def _times(document: Document, written: Callable[[datetime], str]) -> Any:
    def rewritten(key: str, value: Any) -> Any:
        is_time = key in _TIMES and isinstance(value, str)
        return written(datetime.fromisoformat(value)) if is_time else value

    return _each(document, rewritten)


def _chains_without(document: Document, names: tuple[str, ...]) -> Document:
    return _with_list(document, "chains", lambda chains: [_without(chain, *names) for chain in chains])


def _second_names(intent: Document, *, keep: bool) -> Document:
    if "salt" not in intent:  # not an intent, or a row of the history, which isn't complete
        return intent
    lists = {"calls": "Calls", "preconditions": "Precondition", "metaTxns": "MetaTxn"}
    second: Document = {"destinationSalt": intent["salt"]}
    for plural, suffix in lists.items():
        second[plural] = [each for side in ("origin", "destination") if (each := intent[f"{side}{suffix}"]) is not None]
    first = {f"{side}{suffix}" for side in ("origin", "destination") for suffix in lists.values()}
    return {key: value for key, value in intent.items() if keep or key not in first} | second


EVERY_OPERATION: Final = "*"
SLOW: Final = "slow-"

REWRITES: Final[dict[str, Callable[[Document], Document]]] = {
    "numbers": lambda document: _each(document, lambda key, value: int(value) if _is_amount(key, value) else value),
    "exponents": amounts_with_exponents,
    "mixed-case": mixed_case,
    # In every object.
    "extra-fields": lambda document: _objects(
        document, lambda each: each | {"futureField": {"since": "v9", "flags": [1, "two", None]}}
    ),
    "no-ids": without_ids,
    "fraction-0": fraction_digits(0),
    "fraction-3": fraction_digits(3),
    "fraction-6": fraction_digits(6),
    "fraction-9": fraction_digits(9),
    "offset-times": lambda document: _times(document, lambda moment: moment.isoformat()),
    # Without nulls, empty strings and empty objects.
    "sparse": lambda document: _objects(
        document, lambda each: {key: value for key, value in each.items() if value not in (None, "", {})}
    ),
    "chains-flat": lambda document: _chains_without(document, _NESTED_CHAIN),
    "chains-nested": lambda document: _chains_without(document, _FLAT_CHAIN),
    "second-names": lambda document: _objects(document, lambda each: _second_names(each, keep=False)),
    "both-names": lambda document: _objects(document, lambda each: _second_names(each, keep=True)),
    "intents-null": lambda document: document | {"intents": None} if document.get("intents") == [] else document,
    "last-page-absent": lambda document: (
        _without(document, "nextPage") if document.get("nextPage", True) is None else document
    ),
    "last-page-more-false": lambda document: (
        document | {"nextPage": {"more": False}} if document.get("nextPage", True) is None else document
    ),
    "duplicate-rows": lambda document: _with_list(document, "intents", lambda rows: rows + rows[-2:]),
    "unsorted": lambda document: _with_list(
        document, "intents", lambda rows: sorted(rows, key=lambda row: str(row["intentId"]))
    ),
    "states-without-refund": lambda document: _with_list(document, "receiptStates", lambda states: states[:3]),
    "prices-missing": lambda document: _balances(document, lambda token: _without(token, "priceUsd", "balanceUsd")),
    "prices-zero": lambda document: _balances(document, lambda token: token | {"priceUsd": "0", "balanceUsd": "0"}),
    # Chain 0 means the address's own chain.
    "balances-bare": lambda document: _balances(
        document, lambda token: _without(token, "symbol", "decimals") | {"chainId": 0}
    ),
    "created-ties": created_ties,  # lists sorted by createdAt continue after all ties
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

    def __init__(self) -> None:
        self._lock = Lock()
        self._left: dict[tuple[str, str], float] = {}

    def switch_on(self, operation: str, name: str, *, times: int | None = None) -> None:
        """Turn on a fault until switched off, or for `times` requests. Raises ValueError for an unknown name."""
        if name not in NAMES and seconds_of(name) is None:
            raise ValueError(f"no fault is called {name!r}; there are {', '.join(sorted(NAMES))}, slow-<seconds>")
        with self._lock:
            self._left[operation, name] = inf if times is None else times

    def switch_off(self, operation: str | None = None) -> None:
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


def delay(faults: frozenset[str]) -> float:
    return sum(seconds_of(name) or 0.0 for name in faults)


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
        document = REWRITES[name](document)
    return Answer(200, encode(document), cut="cut-body" in faults, skew=skew(faults))


def refused(refusal: Refusal, faults: frozenset[str], headers: tuple[tuple[bytes, bytes], ...] = ()) -> Answer:
    envelope, status = refusal.envelope, refusal.status
    if "wrapped-errors" in faults:
        envelope = wrapped(envelope)
    if "error-200" in faults:
        status = 200
    return Answer(status, encode(envelope), headers=headers, cut="cut-body" in faults, skew=skew(faults))
