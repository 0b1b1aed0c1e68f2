"""Filters, sort order and page size of a list of transfers: parse, validate and write the canonical query.

Covers everything that GetIntentHistory supports.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Self
from urllib.parse import urlencode
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from intents_ui.display.formatting import hashes, text
from intents_ui.display.search import input_errors
from intents_ui.display.tokens import names
from intents_ui.service.wire.models import ChainInfo, IntentStatus, Page

IN_FLIGHT = (IntentStatus.QUOTED, IntentStatus.COMMITTED, IntentStatus.EXECUTING)
IN_FLIGHT_WORD = "in-flight"
SORTS = {"createdAt": "creation time", "id": "ID"}
ORDERS = {"DESC": "newest first", "ASC": "oldest first"}
LARGEST_SIZE = 100
LARGEST_NUMBER = 2**64 - 1
# Larger values are most likely milliseconds.
LARGEST_SECONDS = 10**11
LONGEST_ECHO = 100

type Query = Mapping[str, Sequence[str]]


class FilterProblem(ValueError):
    """A validation message for the user."""


@dataclass(frozen=True)
class Filters:
    """List filters. Times are Unix seconds, inclusive. Defaults mean no filter and are left out of the URL.

    `balances`, `ids`: columns to show. Only `balances` changes the request."""

    project: int | None = None
    owner: str | None = None
    status: tuple[IntentStatus, ...] = ()
    origin: int | None = None
    destination: int | None = None
    since: int | None = None
    until: int | None = None
    balances: bool = False
    ids: bool = False
    recoverable: bool = False
    sort: str = "createdAt"
    order: str = "DESC"
    size: int = 20

    @cached_property
    def query(self) -> str:
        """Return the canonical query string, so that every list has one URL."""
        return urlencode(list(_written(self)))

    def with_(self, **changes: Any) -> Self:
        return replace(self, **changes)

    @property
    def first(self) -> Page:
        return Page.first(size=self.size, column=self.sort, order=self.order)

    @property
    def request(self) -> dict[str, Any]:
        """Return the arguments of `get_intent_history` besides the page. Recoverable lists include balances."""
        one = self.status[0] if len(self.status) == 1 else None
        return {
            "by_project_id": self.project,
            "by_owner_address": self.owner,
            "by_status": one,
            "by_statuses": () if one else self.status,
            "origin_chain_id": self.origin,
            "destination_chain_id": self.destination,
            "from_time": self.since,
            "to_time": self.until,
            "include_balances": self.balances or self.recoverable,
            "only_recoverable": self.recoverable,
        }

    @property
    def is_newest_first(self) -> bool:
        return self.order == "DESC"

    @property
    def bare(self) -> Self:
        """Return the same order and columns without filters."""
        return type(self)(sort=self.sort, order=self.order, size=self.size, balances=self.balances, ids=self.ids)

    @property
    def narrows(self) -> bool:
        """Return whether any filter is set."""
        return self != self.bare


@dataclass(frozen=True)
class ListQuery:
    """Parsed filters. `problems`: messages by filter name. `typed`: text to show again in the fields."""

    filters: Filters
    problems: Mapping[str, str]
    typed: Mapping[str, str]

    def field(self, name: str) -> str:
        """Return the text of a filter's field; as typed while it's invalid."""
        if self.is_typed(name) or name in self.problems:
            return self.typed.get(TYPED_TIMES.get(name, name)) or self.typed.get(name, "")
        value = getattr(self.filters, name)
        if value is None:
            return ""
        return _typeable(value) if name in TYPED_TIMES else hashes.checksum(value) if name == "owner" else str(value)

    def is_typed(self, name: str) -> bool:
        """Return whether the time was typed, in the time zone next to it."""
        return TYPED_TIMES.get(name) in self.typed

    @property
    def zone(self) -> str:
        return self.typed.get("zone", "UTC")


def read(query: Query, *, chains: Sequence[ChainInfo] = ()) -> ListQuery:
    """Parse the filters in a URL's query and ignore other parameters."""
    found: dict[str, Any] = {}
    problems: dict[str, str] = {}
    typed: dict[str, str] = {}
    for name, parse in _parsers(query, chains).items():
        written = [word.strip() for word in query.get(WIRE_NAMES.get(name, name), ()) if word.strip()]
        if not written:
            continue
        typed[name] = text.visible(written[-1])[:LONGEST_ECHO]
        try:
            found[name] = parse(written)
        except FilterProblem as problem:
            problems[name] = str(problem)
    zone = _last(query, "zone") or "UTC"
    for name, field in TYPED_TIMES.items():
        written_at = _last(query, field)
        if written_at:
            typed |= {field: text.visible(written_at)[:LONGEST_ECHO], "zone": text.visible(zone)[:LONGEST_ECHO]}
            try:
                found[name] = _typed_time(written_at, zone=zone)
            except FilterProblem as problem:
                problems[name] = str(problem)
    since, until = found.get("since"), found.get("until")
    if since is not None and until is not None and since > until:
        problems["until"] = "End time must be after start time."
    return ListQuery(Filters(**found), problems, typed)


# `from` is a Python keyword.
WIRE_NAMES = {"since": "from", "until": "to"}
TYPED_TIMES = {"since": "from_at", "until": "to_at"}


def _parsers(query: Query, chains: Sequence[ChainInfo]) -> dict[str, Callable[[list[str]], Any]]:
    def chain(written: list[str]) -> int:
        """Accept any number: transfers also use chains that the service doesn't list."""
        word = written[-1]
        number = _number(word, what="A chain ID") if word.isdigit() else 0
        return number or chain_id(word, chains)

    return {
        "project": lambda written: _number(written[-1], what="A project ID"),
        "owner": lambda written: _owner(written[-1]),
        "status": _statuses,
        "origin": chain,
        "destination": chain,
        "since": lambda written: _seconds(written[-1]),
        "until": lambda written: _seconds(written[-1]),
        "balances": lambda written: _switch(written[-1]),
        "ids": lambda written: _switch(written[-1]),
        "recoverable": lambda written: _switch(written[-1]),
        "sort": lambda written: _one_of(written[-1], {word.lower(): word for word in SORTS}, "sort"),
        "order": lambda written: _one_of(written[-1], {word.lower(): word for word in ORDERS}, "order"),
        "size": lambda written: _size(written[-1]),
    }


def _last(query: Query, name: str) -> str:
    written = query.get(name) or ("",)
    return written[-1].strip()


def _number(written: str, *, what: str) -> int:
    if problem := input_errors.of_number(written, what=what, most=LARGEST_NUMBER):
        raise FilterProblem(problem)
    return int(written.lstrip("0") or "0")


def _size(written: str) -> int:
    size = _number(written, what="Rows per page")
    if not 1 <= size <= LARGEST_SIZE:
        raise FilterProblem(f"Rows per page must be between 1 and {LARGEST_SIZE}.")
    return size


def _owner(written: str) -> str:
    found = written if hashes.is_solana_address(written) else hashes.canonical_address(written)
    if found is None:
        raise FilterProblem(input_errors.of_address(written))
    return found


def _statuses(written: list[str]) -> tuple[IntentStatus, ...]:
    """Reject unknown statuses: the service would treat them as QUOTED (docs/contract.md)."""
    words = [word.upper() for each in written for word in re.split(r"[,\s]+", each) if word]
    chosen: set[str] = set()
    for word in words:
        if word == IN_FLIGHT_WORD.upper():
            chosen.update(IN_FLIGHT)
        elif word in IntentStatus:
            chosen.add(word)
        elif word == "EXPIRED":
            raise FilterProblem("The service has no status for an expired quote. Filter by QUOTED or COMMITTED.")
        else:
            known = ", ".join(IntentStatus)
            raise FilterProblem(f"Unknown status “{text.name(word).shown}”. Valid values: {known}.")
    every = len(chosen) == len(IntentStatus)
    return () if every else tuple(status for status in IntentStatus if status in chosen)


def chain_id(written: str, chains: Sequence[ChainInfo]) -> int:
    """Return a chain ID by number or name. Accept any number while the chain list is unavailable."""
    named = {chain.id: names.chain(chain.id, info=chain) for chain in chains}
    if written.isdigit():
        number = _number(written, what="A chain ID")
        if not named or number in named:
            return number
    for number, name in named.items():
        if written.lower() == name.lower():
            return number
    if not named:
        raise FilterProblem("Couldn't load the chain list. Enter a chain ID.")
    raise FilterProblem(f"Unknown chain “{text.name(written).shown}”. Known chains: {', '.join(named.values())}.")


def _seconds(written: str) -> int:
    seconds = _number(written, what="A time in a URL")
    if seconds > LARGEST_SECONDS:
        raise FilterProblem("Times in a URL are Unix seconds. This one looks like milliseconds.")
    return seconds


def _typed_time(written: str, *, zone: str) -> int:
    """Convert `2026-11-21T14:03` in the user's time zone to Unix seconds."""
    try:
        at = datetime.fromisoformat(written)
    except ValueError:
        raise FilterProblem("Use the format 2026-11-21 14:03.") from None
    try:
        local = at if at.tzinfo else at.replace(tzinfo=UTC if zone.upper() == "UTC" else ZoneInfo(zone))
        seconds = int(local.timestamp())
    except (ZoneInfoNotFoundError, OSError, ValueError, OverflowError):
        raise FilterProblem("Enter a time zone such as America/New_York or UTC.") from None
    if not 0 <= seconds <= LARGEST_SECONDS:
        raise FilterProblem("Enter a valid date range.")
    if datetime.fromtimestamp(seconds, local.tzinfo).replace(tzinfo=None) != local.replace(tzinfo=None, microsecond=0):
        raise FilterProblem("This time does not exist in that time zone (daylight saving change).")
    return seconds


def _typeable(seconds: int) -> str:
    """Format for a `datetime-local` field, in UTC."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def _switch(written: str) -> bool:
    if written.lower() in ("1", "true", "on", "yes"):
        return True
    if written.lower() in ("0", "false", "off", "no"):
        return False
    raise FilterProblem("Use 1 (on) or 0 (off).")


def _one_of(written: str, words: Mapping[str, str], what: str) -> str:
    if written.lower() not in words:
        raise FilterProblem(f"Unknown {what}. Valid values: {', '.join(words.values())}.")
    return words[written.lower()]


def _written(filters: Filters) -> Iterator[tuple[str, str]]:
    default = Filters()
    for field in fields(filters):
        value = getattr(filters, field.name)
        if value == getattr(default, field.name):
            continue
        name = WIRE_NAMES.get(field.name, field.name)
        if field.name == "status":
            words = (IN_FLIGHT_WORD,) if value == IN_FLIGHT else value
            yield from ((name, str(word)) for word in words)
        else:
            yield name, "1" if value is True else str(value)
