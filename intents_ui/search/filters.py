"""Filters, order and page size of a list of transfers: parse, validate, label and write the canonical query.

Covers everything that GetIntentHistory supports.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from functools import partial
from typing import Any, ClassVar, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from intents_ui.formatting import hashes, text, times
from intents_ui.search import parameters
from intents_ui.search.parameters import Chip, InvalidParameter, Parsed, Parser, Query, UrlFilters
from intents_ui.service.models import ChainInfo, IntentStatus, Page
from intents_ui.tokens import names
from intents_ui.transfers import statuses

IN_FLIGHT = (IntentStatus.QUOTED, IntentStatus.COMMITTED, IntentStatus.EXECUTING)
IN_FLIGHT_WORD = "in-flight"
ORDERS = {"DESC": "newest first", "ASC": "oldest first"}
LARGEST_SIZE = 100
SIZES = (10, 20, 30)
RANGES = {"last hour": 3600, "last 24 h": 86_400, "last 7 days": 7 * 86_400}
# Larger values are most likely milliseconds.
LARGEST_SECONDS = 10**11
# Times as entered in the form, beside their time zone.
TYPED_TIMES = {"since": "from_at", "until": "to_at"}


@dataclass(frozen=True)
class Filters(UrlFilters):
    """List filters. Times are Unix seconds, inclusive. Defaults mean no filter and are left out of the URL.

    `balances`: show the column of balances."""

    PARAMETERS: ClassVar[Mapping[str, str]] = {"since": "from", "until": "to"}

    project: int | None = None
    owner: str | None = None
    status: tuple[IntentStatus, ...] = ()
    origin: int | None = None
    destination: int | None = None
    since: int | None = None
    until: int | None = None
    balances: bool = False
    recoverable: bool = False
    order: str = "DESC"
    size: int = 20

    @property
    def written(self) -> dict[str, object]:
        return super().written | ({"status": IN_FLIGHT_WORD} if self.status == IN_FLIGHT else {})

    @property
    def first(self) -> Page:
        return Page.first(size=self.size, order=self.order)

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
        return type(self)(order=self.order, size=self.size, balances=self.balances)

    @property
    def narrows(self) -> bool:
        """Return whether any filter is set."""
        return self != self.bare


@dataclass(frozen=True)
class ListQuery(Parsed[Filters]):
    """Parsed filters, with the times and the time zone as typed."""

    def field(self, name: str) -> str:
        """Return the text of a filter's field; as typed while it's invalid."""
        if self.is_typed(name) or name in self.problems:
            return self.typed.get(TYPED_TIMES.get(name, name)) or self.typed.get(name, "")
        value = getattr(self.filters, name)
        if value is None:
            return ""
        if name in TYPED_TIMES:  # in the format of a `datetime-local` field
            return datetime.fromtimestamp(value, UTC).strftime("%Y-%m-%dT%H:%M:%S")
        return hashes.checksum(value) if name == "owner" else str(value)

    def is_typed(self, name: str) -> bool:
        """Return whether the time was typed, in the time zone next to it."""
        return TYPED_TIMES.get(name) in self.typed

    @property
    def zone(self) -> str:
        return self.typed.get("zone", "UTC")


def read(query: Query, *, chains: Sequence[ChainInfo] = ()) -> ListQuery:
    """Parse the filters in a URL's query and ignore other parameters."""

    def chain(written: str) -> int:
        """Accept any number: transfers also use chains that the service doesn't list."""
        number = parameters.number(written, what="A chain ID") if written.isdigit() else 0
        return number or parameters.chain_id(written, chains)

    parsers: dict[str, Parser] = {
        "project": partial(parameters.number, what="A project ID"),
        "owner": parameters.address,
        "status": _statuses,
        "origin": chain,
        "destination": chain,
        "since": _seconds,
        "until": _seconds,
        "balances": parameters.switch,
        "recoverable": parameters.switch,
        "order": partial(parameters.one_of, known=ORDERS, what="order"),
        "size": _size,
    }
    parsed = parameters.parse(query, parsers, dict[str, Any], called=Filters.PARAMETERS, repeated=("status",))
    zone = parameters.last(query, "zone") or "UTC"
    times = {
        name: partial(_typed_time, zone=zone, is_end=name == "until", former=parsed.filters.get(name))
        for name in TYPED_TIMES
    }
    at = parameters.parse(query, times, dict[str, Any], called=TYPED_TIMES)
    # A field that was cleared removes its time.
    kept = {name: value for name, value in parsed.filters.items() if TYPED_TIMES.get(name) not in query}
    filters = Filters(**kept | at.filters)
    problems = {**parsed.problems, **at.problems}
    if filters.since is not None and filters.until is not None and filters.since > filters.until:
        problems["until"] = "End time must be after start time."
    typed = {TYPED_TIMES[name]: written for name, written in at.typed.items() if written}
    if typed:
        typed["zone"] = parameters.echo(zone)
    return ListQuery(filters, problems, {**parsed.typed, **typed})


def _size(written: str) -> int:
    size = parameters.number(written, what="Rows per page")
    if not 1 <= size <= LARGEST_SIZE:
        raise InvalidParameter(f"Rows per page must be between 1 and {LARGEST_SIZE}.")
    return size


def _statuses(written: str) -> tuple[IntentStatus, ...]:
    """Reject unknown statuses: the service would treat them as QUOTED (docs/contract.md)."""
    chosen: set[str] = set()
    for word in parameters.words(written.upper()):
        if word == IN_FLIGHT_WORD.upper():
            chosen.update(IN_FLIGHT)
        elif word in IntentStatus:
            chosen.add(word)
        elif word == "EXPIRED":
            raise InvalidParameter("The service has no status for an expired quote. Filter by QUOTED or COMMITTED.")
        else:
            known = ", ".join(IntentStatus)
            raise InvalidParameter(f"Unknown status “{text.name(word).shown}”. Valid values: {known}.")
    every = len(chosen) == len(IntentStatus)
    return () if every else tuple(status for status in IntentStatus if status in chosen)


def _seconds(written: str) -> int:
    seconds = parameters.number(written, what="A time in a URL")
    if seconds > LARGEST_SECONDS:
        raise InvalidParameter("Times in a URL are Unix seconds. This one looks like milliseconds.")
    return seconds


def _typed_time(written: str, *, zone: str, is_end: bool, former: int | None) -> int:
    """Convert `2026-11-21T14:03` in the user's time zone to Unix seconds. A day without a time is the whole day.

    Of an hour that clocks repeat, a range begins with the first and ends with the second, unless the field still has
    its `former` time.
    """
    try:
        at = datetime.fromisoformat(written)
    except ValueError:
        raise InvalidParameter("Use the format 2026-11-21 14:03.") from None
    is_day = len(written) <= len("2026-11-21")
    try:
        local = at if at.tzinfo else at.replace(tzinfo=UTC if zone.upper() == "UTC" else ZoneInfo(zone), fold=is_end)
        if is_day:  # up to the next one, which begins later than midnight where clocks skip that
            local = local.replace(fold=0) + timedelta(days=is_end)
        seconds = int(local.timestamp()) - (is_day and is_end)
    except OverflowError:
        raise InvalidParameter("Enter a valid date range.") from None
    except (ZoneInfoNotFoundError, OSError, ValueError):
        raise InvalidParameter("Enter a time zone such as America/New_York or UTC.") from None
    if not 0 <= seconds <= LARGEST_SECONDS:
        raise InvalidParameter("Enter a valid date range.")
    if is_day:
        return seconds
    wall = local.replace(tzinfo=None, microsecond=0, fold=0)
    if former is not None and _wall(former, local.tzinfo) == wall:
        return former
    if _wall(seconds, local.tzinfo) != wall:
        raise InvalidParameter("This time does not exist in that time zone (daylight saving change).")
    return seconds


def _wall(seconds: int, zone: tzinfo | None) -> datetime:
    """Return what a clock shows."""
    return datetime.fromtimestamp(seconds, zone).replace(tzinfo=None, fold=0)


@dataclass(frozen=True, eq=False)
class ListLabels:
    """Labels of a list and its form, whose filters are `parsed`.

    `chips`: active filters by name. `chains`: choices by ID, in order of their names. `open_only`: the query with open
    transfers only. `ranges`: times up to now, each with the list's query for it. `ordered` is `newest first` or
    `oldest first`, `sorted` the `aria-sort` value of the creation column.
    """

    parsed: ListQuery
    chips: Mapping[str, Chip]
    chains: Sequence[tuple[int, str]]
    open_only: str
    ranges: Sequence[tuple[str, str]]
    sizes: Sequence[tuple[int, str]]
    ordered: str
    sorted: str


def labels(parsed: ListQuery, *, chains: Iterable[ChainInfo], now: datetime) -> ListLabels:
    filters, named = parsed.filters, names.by_id(chains)
    # At a full minute, so that the URLs stay the same for a while.
    minute = int(now.timestamp()) // 60 * 60
    return ListLabels(
        parsed=parsed,
        chips={chip.name: chip for chip in chips(filters, chains=named, now=now)},
        chains=sorted(named.items(), key=lambda chain: chain[1].lower()),
        open_only=filters.with_(status=IN_FLIGHT).query,
        ranges=[(label, filters.with_(since=minute - ago, until=None).query) for label, ago in RANGES.items()],
        sizes=[(size, str(size)) for size in sorted({*SIZES, filters.size})],
        ordered=ORDERS[filters.order],
        sorted="descending" if filters.is_newest_first else "ascending",
    )


def chips(filters: Filters, *, chains: Mapping[int, str], now: datetime) -> tuple[Chip, ...]:
    """Return the active filters in form order. Sort, page size and columns aren't filters."""

    def chain(chain_id: int | None) -> str | None:
        return None if chain_id is None else chains.get(chain_id) or names.chain(chain_id, info=None)

    def moment(seconds: int | None) -> str | None:
        return None if seconds is None else times.utc(datetime.fromtimestamp(seconds, UTC), now=now)

    words: dict[str, tuple[str, str | None]] = {
        "status": ("Status:", _chosen(filters.status)),
        "origin": ("From", chain(filters.origin)),
        "destination": ("To", chain(filters.destination)),
        "owner": ("Owner", None if filters.owner is None else hashes.short_address(filters.owner)),
        "since": ("Created from", moment(filters.since)),
        "until": ("Created until", moment(filters.until)),
        "project": ("Project", None if filters.project is None else str(filters.project)),
        "recoverable": ("Recoverable only", "" if filters.recoverable else None),
    }
    empty = Filters()
    return tuple(
        Chip(name, label, value, filters.with_(**{name: getattr(empty, name)}).query)
        for name, (label, value) in words.items()
        if value is not None
    )


def _chosen(chosen: tuple[IntentStatus, ...]) -> str | None:
    """Return `open`, `failed, aborted, or refunded`, `all but aborted`; None for all statuses."""
    if not chosen:
        return None
    if chosen == IN_FLIGHT:
        return "open"
    others = [status for status in IntentStatus if status not in chosen]
    if 0 < len(others) < 3:
        return f"all but {' and '.join(statuses.INTENTS[status].word.lower() for status in others)}"
    return text.listed([statuses.INTENTS[status].word.lower() for status in chosen], "or")
