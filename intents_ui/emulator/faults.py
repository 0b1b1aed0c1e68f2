"""Fault injection: optional deviations of a real service, turned on per operation by name.

Faults replace the operation's response, and rewrites modify it. The operations themselves check for the remaining
names. Each rewrite takes a document and returns a new one, as other service versions send it.
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

_FIELDS: Final = documents.table("response_fields.json")
AMOUNTS: Final = frozenset(_FIELDS["amounts"])  # sent as decimal strings
_TIMES: Final = frozenset(_FIELDS["times"])
_HIDDEN: Final = frozenset(_FIELDS["hidden"])  # by real responses
_ADDRESS: Final = re.compile(r"0x[0-9a-f]{40}")
_FLAT_CHAIN: Final = ("tokenName", "tokenSymbol", "tokenDecimals", "blockExplorerUrl", "isTestnet", "supportsBridging")
_NESTED_CHAIN: Final = ("nativeCurrency", "blockExplorer")
_EXPONENT_FROM: Final = 10**21
TIE: Final = 20 * MICROSECONDS


def amounts_with_exponents(document: Document) -> Document:
    """Send amounts as numbers, and large ones in exponent notation (1e+30), as programs without big integers do."""

    def written(key: str, value: Any) -> Any:
        if not _is_amount(key, value):
            return value
        return float(value) if int(value) >= _EXPONENT_FROM else int(value)

    return _each(document, written)


def mixed_case(document: Document) -> Document:
    """Send token addresses checksummed, and every other one of the rest in capitals."""
    checksums = Catalogue().checksummed

    def written(key: str, value: Any) -> Any:
        if not isinstance(value, str) or not _ADDRESS.fullmatch(value):
            return value
        shout = int(value[-1], 16) % 2
        return checksums.get(value, "0x" + value[2:].upper() if shout else value)

    return _each(document, written)


def without_ids(document: Document) -> Document:
    """Remove the documented fields that real responses hide. Chains keep their ID, which identifies them."""
    if "chains" in document:
        return document
    return _objects(document, lambda each: {key: value for key, value in each.items() if key not in _HIDDEN})


def fraction_digits(digits: int) -> Callable[[Document], Document]:
    def rewritten(document: Document) -> Document:
        def written(moment: datetime) -> str:
            fraction = f"{moment.microsecond:06}".ljust(9, "0")[:digits]
            return f"{moment:%Y-%m-%dT%H:%M:%S}{'.' if digits else ''}{fraction}Z"

        return _times(document, written)

    return rewritten


def created_ties(document: Document) -> Document:
    """Round the creation times of intents down, so that neighbors have the same."""

    def tied(each: Document) -> Document:
        if "createdAt" not in each or "expiresAt" not in each:  # those of receipts and transactions
            return each
        created = micros(datetime.fromisoformat(each["createdAt"]).timestamp())
        return each | {"createdAt": stamp(created // TIE * TIE)}

    return _objects(document, tied)


def last_page_absent(document: Document) -> Document:
    if document.get("nextPage", True) is None:
        return {key: value for key, value in document.items() if key != "nextPage"}
    return document


def duplicate_rows(document: Document) -> Document:
    rows = document.get("intents") or []
    return document | {"intents": [*rows, *rows[-2:]]} if "intents" in document else document


def unsorted(document: Document) -> Document:
    rows = document.get("intents")
    return document | {"intents": sorted(rows, key=lambda row: row["intentId"])} if rows else document


def states_without_refund(document: Document) -> Document:
    states = document.get("receiptStates")
    return document | {"receiptStates": states[:3]} if states else document


def prices_missing(document: Document) -> Document:
    return _balances(
        document, lambda token: {key: token[key] for key in token if key not in ("priceUsd", "balanceUsd")}
    )


def balances_bare(document: Document) -> Document:
    """Send chain 0, which means the address's own chain, and neither symbol nor decimals."""
    dropped = ("symbol", "decimals")
    return _balances(document, lambda token: {key: token[key] for key in token if key not in dropped} | {"chainId": 0})


def wrapped(envelope: Document) -> Document:
    """Return the second documented form of an error."""
    error = {
        "code": envelope["code"],
        "name": envelope["error"],
        "message": envelope["msg"],
        "cause": envelope.get("cause", ""),
        "httpStatus": envelope["status"],
    }
    return {"webrpcError": error}


def _is_amount(key: str, value: Any) -> bool:
    return key in AMOUNTS and isinstance(value, str) and value.isdigit()


def _each(document: Document, written: Callable[[str, Any], Any]) -> Document:
    return {name: _written(member, written, name) for name, member in document.items()}


def _written(value: Any, written: Callable[[str, Any], Any], key: str) -> Any:
    if isinstance(value, dict):
        return _each(value, written)
    if isinstance(value, list):
        return [_written(member, written, key) for member in value]
    return written(key, value)


def _objects(document: Document, written: Callable[[Document], Document]) -> Document:
    return written({name: _inner_objects(member, written) for name, member in document.items()})


def _inner_objects(value: Any, written: Callable[[Document], Document]) -> Any:
    if isinstance(value, dict):
        return _objects(value, written)
    if isinstance(value, list):
        return [_inner_objects(member, written) for member in value]
    return value


def _balances(document: Document, written: Callable[[Document], Document]) -> Document:
    return _objects(document, lambda each: written(each) if "balanceUsd" in each else each)


def _times(document: Document, written: Callable[[datetime], str]) -> Document:
    return _each(
        document,
        lambda key, value: (
            written(datetime.fromisoformat(value)) if key in _TIMES and isinstance(value, str) else value
        ),
    )


def _chains_without(document: Document, names: tuple[str, ...]) -> Document:
    if "chains" not in document:
        return document
    chains = [{key: value for key, value in chain.items() if key not in names} for chain in document["chains"]]
    return document | {"chains": chains}


def _intents(document: Document, written: Callable[[Document], Document]) -> Document:
    if isinstance(document.get("intent"), dict):
        return document | {"intent": written(document["intent"])}
    # History rows aren't complete intents: they have no calls to rename.
    rows = document.get("intents")
    if rows and "salt" in rows[0]:
        return document | {"intents": [written(row) for row in rows]}
    return document


def _with_second_names(intent: Document, *, keep: bool) -> Document:
    lists = {"calls": "Calls", "preconditions": "Precondition", "metaTxns": "MetaTxn"}
    second: Document = {"destinationSalt": intent["salt"]}
    for plural, suffix in lists.items():
        second[plural] = [each for side in ("origin", "destination") if (each := intent[f"{side}{suffix}"]) is not None]
    first = {f"{side}{suffix}" for side in ("origin", "destination") for suffix in lists.values()}
    first_names = intent if keep else {key: value for key, value in intent.items() if key not in first}
    return first_names | second


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
    "second-names": lambda document: _intents(document, lambda intent: _with_second_names(intent, keep=False)),
    "both-names": lambda document: _intents(document, lambda intent: _with_second_names(intent, keep=True)),
    "intents-null": lambda document: document | {"intents": None} if document.get("intents") == [] else document,
    "last-page-absent": last_page_absent,
    "last-page-more-false": lambda document: (
        document | {"nextPage": {"more": False}} if document.get("nextPage", True) is None else document
    ),
    "duplicate-rows": duplicate_rows,
    "unsorted": unsorted,
    "states-without-refund": states_without_refund,
    "prices-missing": prices_missing,
    "prices-zero": lambda document: _balances(document, lambda token: token | {"priceUsd": "0", "balanceUsd": "0"}),
    "balances-bare": balances_bare,
    "created-ties": created_ties,  # lists sorted by createdAt continue after all ties
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
            status, content_type, body = PAGES[name]
            return Answer(status, body, content_type)
        if name in REFUSALS:
            code, retry_after = REFUSALS[name]
            if retry_after == "date":
                retry_after = formatdate(now + 60, usegmt=True)
            headers = ((b"retry-after", retry_after.encode()),) if retry_after else ()
            return refused(Refusal(code), faults, headers)
    return None


def answered(document: Document, faults: frozenset[str]) -> Answer:
    for name in sorted(faults & REWRITES.keys()):
        document = REWRITES[name](document)
    return Answer(200, encode(document), cut="cut-body" in faults, skew=skew(faults))


def refused(refusal: Refusal, faults: frozenset[str], headers: tuple[tuple[bytes, bytes], ...] = ()) -> Answer:
    envelope, status = refusal.envelope(), refusal.status
    if "wrapped-errors" in faults:
        envelope = wrapped(envelope)
    if "error-200" in faults:
        status = 200
    return Answer(status, encode(envelope), headers=headers, cut="cut-body" in faults, skew=skew(faults))
