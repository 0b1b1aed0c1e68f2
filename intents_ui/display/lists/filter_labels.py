"""Labels of a list's filters, order and pages."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from intents_ui.display.formatting import hashes, times
from intents_ui.display.lists.filters import IN_FLIGHT, ORDERS, SORTS, Filters, ListQuery
from intents_ui.display.search.parameters import Chip
from intents_ui.display.tokens import names
from intents_ui.display.transfers import statuses
from intents_ui.service.models import ChainInfo, IntentStatus

SIZES = (10, 20, 30)
RANGES = {"last hour": 3600, "last 24 h": 86_400, "last 7 days": 7 * 86_400}


@dataclass(frozen=True)
class Range:
    """A time range up to now. `query` is the list's query with it."""

    label: str
    query: str


@dataclass(frozen=True)
class Steps:
    """Labels of a list's page links."""

    first: str
    previous: str
    following: str


@dataclass(frozen=True, eq=False)
class ListLabels:
    """Labels of a list and its form, whose filters are `parsed`.

    `chips`: active filters by name. `chains`: choices by ID, in order of their names. `open_only`: the query with open
    transfers only. `ordered` is `newest first`, `sorted` the `aria-sort` value of the creation column.
    """

    parsed: ListQuery
    chips: Mapping[str, Chip]
    chains: Sequence[tuple[int, str]]
    open_only: str
    ranges: Sequence[Range]
    sizes: Sequence[tuple[int, str]]
    ordered: str
    sorted: str
    steps: Steps


def labels(parsed: ListQuery, *, chains: Iterable[ChainInfo], now: datetime) -> ListLabels:
    filters, named = parsed.filters, names.by_id(chains)
    return ListLabels(
        parsed=parsed,
        chips={chip.name: chip for chip in chips(filters, chains=named, now=now)},
        chains=sorted(named.items(), key=lambda chain: chain[1].lower()),
        open_only=filters.with_(status=IN_FLIGHT).query,
        ranges=ranges(filters, now=now),
        sizes=sizes(filters),
        ordered=ordered(filters),
        sorted=sorted_as(filters),
        steps=steps(filters),
    )


def chips(filters: Filters, *, chains: Mapping[int, str], now: datetime) -> tuple[Chip, ...]:
    """Return the active filters in form order. Sort, page size and columns aren't filters."""

    def moment(seconds: int) -> str:
        return times.utc(datetime.fromtimestamp(seconds, UTC), now=now)

    words: dict[str, tuple[str, str | None]] = {
        "status": ("Status:", _statuses(filters.status)),
        "origin": ("From", _chain(filters.origin, chains)),
        "destination": ("To", _chain(filters.destination, chains)),
        "owner": ("Owner", None if filters.owner is None else hashes.short_address(filters.owner)),
        "since": ("Created from", None if filters.since is None else moment(filters.since)),
        "until": ("Created until", None if filters.until is None else moment(filters.until)),
        "project": ("Project", None if filters.project is None else str(filters.project)),
        "recoverable": ("Recoverable only", "" if filters.recoverable else None),
    }
    empty = Filters()
    return tuple(
        Chip(name, label, value, filters.with_(**{name: getattr(empty, name)}).query)
        for name, (label, value) in words.items()
        if value is not None
    )


def _statuses(chosen: tuple[IntentStatus, ...]) -> str | None:
    """Return `open`, `failed or refunded`, `all but aborted`; None for all statuses."""
    if not chosen:
        return None
    if chosen == IN_FLIGHT:
        return "open"
    others = [status for status in IntentStatus if status not in chosen]
    if 0 < len(others) < 3:
        return f"all but {' and '.join(statuses.INTENTS[status].word.lower() for status in others)}"
    return " or ".join(statuses.INTENTS[status].word.lower() for status in chosen)


def _chain(chain_id: int | None, chains: Mapping[int, str]) -> str | None:
    return None if chain_id is None else chains.get(chain_id) or names.chain(chain_id, info=None)


def ranges(filters: Filters, *, now: datetime) -> tuple[Range, ...]:
    """Return the ranges, starting at a full minute so that their URLs stay the same for a while."""
    minute = int(now.timestamp()) // 60 * 60
    return tuple(Range(label, filters.with_(since=minute - ago, until=None).query) for label, ago in RANGES.items())


def sizes(filters: Filters) -> tuple[tuple[int, str], ...]:
    """Return the page sizes to choose from, including one set in the URL."""
    return tuple((size, str(size)) for size in sorted({*SIZES, filters.size}))


def ordered(filters: Filters) -> str:
    """Return `newest first` or `oldest first, by ID`."""
    return ORDERS[filters.order] + (f", by {SORTS[filters.sort]}" if filters.sort != "createdAt" else "")


def sorted_as(filters: Filters) -> str:
    """Return the `aria-sort` value of the creation column; "" if another column is sorted."""
    if filters.sort != "createdAt":
        return ""
    return "descending" if filters.is_newest_first else "ascending"


def steps(filters: Filters) -> Steps:
    return Steps("Newest", "Newer", "Older") if filters.is_newest_first else Steps("Oldest", "Earlier", "Later")
