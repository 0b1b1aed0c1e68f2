"""The filters of a list of intents: read from a URL, checked before anything is asked, written back as the one URL.

Every filter, sort and page size of GetIntentHistory (interface.md 4.2, 2.16).
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Self
from urllib.parse import urlencode
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from intents_ui.display import hashes, names, near_misses, solana, text
from intents_ui.service.wire import ChainInfo, IntentStatus, Page

IN_FLIGHT = (IntentStatus.QUOTED, IntentStatus.COMMITTED, IntentStatus.EXECUTING)
IN_FLIGHT_WORD = "in-flight"
SORTS = {"createdAt": "creation", "id": "id"}
ORDERS = {"DESC": "newest first", "ASC": "oldest first"}
LARGEST_SIZE = 100
LARGEST_NUMBER = 2**64 - 1
# Later seconds would be milliseconds by mistake (domain.md 7, row 13).
LARGEST_SECONDS = 10**11
LONGEST_ECHO = 100

type Query = Mapping[str, Sequence[str]]


class Problem(ValueError):
    """A sentence for the reader: what of a filter cannot be asked, and how to mend it."""


@dataclass(frozen=True)
class Filters:
    """Times are Unix seconds, both included. The defaults are the list without filters, and stay out of its URL.

    `balances`, `ids`: columns to show; of these the service is asked for balances alone."""

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
        """The one way to write these filters: every list has one address."""
        return urlencode(list(_written(self)))

    def with_(self, **changes: Any) -> Self:
        return replace(self, **changes)

    @property
    def first(self) -> Page:
        return Page.first(size=self.size, column=self.sort, order=self.order)

    @property
    def request(self) -> dict[str, Any]:
        """The arguments of `get_intent_history` beside its page. What can be had back is asked for with its amount."""
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
        """The whole list in the same order and with the same columns."""
        return type(self)(sort=self.sort, order=self.order, size=self.size, balances=self.balances, ids=self.ids)

    @property
    def narrows(self) -> bool:
        """Whether anything is left out."""
        return self != self.bare


@dataclass(frozen=True)
class Asked:
    """Filters as somebody wrote them: `problems` by filter name, `typed` what to show again in their fields."""

    filters: Filters
    problems: Mapping[str, str]
    typed: Mapping[str, str]

    def field(self, name: str) -> str:
        """What stands in a filter's field: as somebody wrote it while something cannot be asked for."""
        if self.is_typed(name) or name in self.problems:
            return self.typed.get(TYPED_TIMES.get(name, name)) or self.typed.get(name, "")
        value = getattr(self.filters, name)
        if value is None:
            return ""
        return _typeable(value) if name in TYPED_TIMES else hashes.checksum(value) if name == "owner" else str(value)

    def is_typed(self, name: str) -> bool:
        """Whether a time stands in its field in the zone beside it."""
        return TYPED_TIMES.get(name) in self.typed

    @property
    def zone(self) -> str:
        return self.typed.get("zone", "UTC")


def read(query: Query, *, chains: Sequence[ChainInfo] = ()) -> Asked:
    """What of a URL's query is about filters; other names in it are left alone."""
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
        except Problem as problem:
            problems[name] = str(problem)
    zone = _last(query, "zone") or "UTC"
    for name, field in TYPED_TIMES.items():
        written_at = _last(query, field)
        if written_at:
            typed |= {field: text.visible(written_at)[:LONGEST_ECHO], "zone": text.visible(zone)[:LONGEST_ECHO]}
            try:
                found[name] = _typed_time(written_at, zone=zone)
            except Problem as problem:
                problems[name] = str(problem)
    since, until = found.get("since"), found.get("until")
    if since is not None and until is not None and since > until:
        problems["until"] = "This is before the beginning: nothing can have been created between the two."
    return Asked(Filters(**found), problems, typed)


# `from` is a word of the language.
WIRE_NAMES = {"since": "from", "until": "to"}
TYPED_TIMES = {"since": "from_at", "until": "to_at"}


def _parsers(query: Query, chains: Sequence[ChainInfo]) -> dict[str, Callable[[list[str]], Any]]:
    def chain(written: list[str]) -> int:
        """A number is taken as it is: transfers also use chains that the service does not list."""
        word = written[-1]
        number = _number(word, what="A chain's id") if word.isdigit() else 0
        return number or chain_id(word, chains)

    return {
        "project": lambda written: _number(written[-1], what="A project"),
        "owner": lambda written: _owner(written[-1]),
        "status": _statuses,
        "origin": chain,
        "destination": chain,
        "since": lambda written: _seconds(written[-1]),
        "until": lambda written: _seconds(written[-1]),
        "balances": lambda written: _switch(written[-1]),
        "ids": lambda written: _switch(written[-1]),
        "recoverable": lambda written: _switch(written[-1]),
        "sort": lambda written: _one_of(written[-1], {word.lower(): word for word in SORTS}, "sorted by"),
        "order": lambda written: _one_of(written[-1], {word.lower(): word for word in ORDERS}, "ordered"),
        "size": lambda written: _size(written[-1]),
    }


def _last(query: Query, name: str) -> str:
    written = query.get(name) or ("",)
    return written[-1].strip()


def _number(written: str, *, what: str) -> int:
    if problem := near_misses.of_number(written, what=what, most=LARGEST_NUMBER):
        raise Problem(problem)
    return int(written.lstrip("0") or "0")


def _size(written: str) -> int:
    size = _number(written, what="The length of a page")
    if not 1 <= size <= LARGEST_SIZE:
        raise Problem(f"A page has between 1 and {LARGEST_SIZE} intents.")
    return size


def _owner(written: str) -> str:
    found = written if solana.is_address(written) else hashes.canonical_address(written)
    if found is None:
        raise Problem(near_misses.of_address(written))
    return found


def _statuses(written: list[str]) -> tuple[IntentStatus, ...]:
    """A word that is no status is refused: the service would take it for QUOTED (domain.md 2.6)."""
    words = [word.upper() for each in written for word in re.split(r"[,\s]+", each) if word]
    chosen: set[str] = set()
    for word in words:
        if word == IN_FLIGHT_WORD.upper():
            chosen.update(IN_FLIGHT)
        elif word in IntentStatus:
            chosen.add(word)
        elif word == "EXPIRED":
            raise Problem("The service has no status for an expired quote. Filter by QUOTED or COMMITTED.")
        else:
            known = ", ".join(IntentStatus)
            raise Problem(f"“{text.name(word).shown}” is no status. There are {known}.")
    every = len(chosen) == len(IntentStatus)
    return () if every else tuple(status for status in IntentStatus if status in chosen)


def chain_id(written: str, chains: Sequence[ChainInfo]) -> int:
    """By number or by name. While the catalogue is away, a number is taken as it is."""
    named = {chain.id: names.chain(chain.id, info=chain) for chain in chains}
    if written.isdigit():
        number = _number(written, what="A chain's id")
        if not named or number in named:
            return number
    for number, name in named.items():
        if written.lower() == name.lower():
            return number
    if not named:
        raise Problem("The list of chains could not be had just now, so a chain is asked for by its number.")
    raise Problem(f"The service knows no chain “{text.name(written).shown}”. It knows {', '.join(named.values())}.")


def _seconds(written: str) -> int:
    seconds = _number(written, what="A time in a link")
    if seconds > LARGEST_SECONDS:
        raise Problem("A time in a link is in seconds since 1970; this one looks like milliseconds.")
    return seconds


def _typed_time(written: str, *, zone: str) -> int:
    """`2026-11-21T14:03` in the reader's zone, to Unix seconds."""
    try:
        at = datetime.fromisoformat(written)
    except ValueError:
        raise Problem("A time is written as 2026-11-21 14:03.") from None
    try:
        local = at if at.tzinfo else at.replace(tzinfo=UTC if zone.upper() == "UTC" else ZoneInfo(zone))
        seconds = int(local.timestamp())
    except (ZoneInfoNotFoundError, OSError, ValueError, OverflowError):
        raise Problem("A time zone has a name such as Europe/Berlin, or UTC.") from None
    if not 0 <= seconds <= LARGEST_SECONDS:
        raise Problem("There were no transfers at that time.")
    if datetime.fromtimestamp(seconds, local.tzinfo).replace(tzinfo=None) != local.replace(tzinfo=None, microsecond=0):
        raise Problem("This hour was left out there: the clocks were put forward.")
    return seconds


def _typeable(seconds: int) -> str:
    """As a field for date and time has it, in UTC."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def _switch(written: str) -> bool:
    if written.lower() in ("1", "true", "on", "yes"):
        return True
    if written.lower() in ("0", "false", "off", "no"):
        return False
    raise Problem("This is on (1) or off (0).")


def _one_of(written: str, words: Mapping[str, str], what: str) -> str:
    if written.lower() not in words:
        raise Problem(f"A list can be {what} {' or '.join(words.values())}.")
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
