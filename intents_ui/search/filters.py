"""Filters in a URL: parsers with messages for invalid values, and the canonical query.

Those of a list of transfers, with its order and page size, cover everything that GetIntentHistory supports, and those
of the advanced search everything of SearchIntents.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple, Self
from urllib.parse import urlencode
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from intents_ui import tables
from intents_ui.formatting import hashes, text, times
from intents_ui.formatting.text import Sentence
from intents_ui.search import identifiers, input_errors
from intents_ui.search.facts import chains_by_name
from intents_ui.search.identifiers import LONGEST_WORDS, SHORTEST_WORDS, Kind
from intents_ui.service import results
from intents_ui.service.models import ChainInfo, IntentStatus, Page, TokenInfo
from intents_ui.tokens import names
from intents_ui.transfers import statuses

LARGEST_NUMBER = 2**64 - 1
LONGEST_ECHO = 100  # characters of an invalid value
SHORTEST_OF_OTHER_CHAINS = 25  # characters of an address

type Query = Mapping[str, Sequence[str]]
type Parser = Callable[[str], Any]


class InvalidParameter(ValueError):
    """A validation message for the user. `choices` are suggested tokens."""

    def __init__(self, message: str, *choices: TokenInfo) -> None:
        super().__init__(message)
        self.choices = choices


@dataclass(frozen=True)
class UrlFilters:
    """Base of filters in a URL. `PARAMETERS`: names of parameters that differ from the field's."""

    PARAMETERS: ClassVar[Mapping[str, str]] = {}

    @cached_property
    def query(self) -> str:
        """Return the canonical query string, so that every list has one URL."""
        return encode(self.written)

    @property
    def written(self) -> dict[str, object]:
        """Return the parameters without defaults."""
        given = ((each, getattr(self, each.name)) for each in fields(self))
        return {self.PARAMETERS.get(each.name, each.name): value for each, value in given if value != each.default}

    def with_(self, **changes: Any) -> Self:
        return replace(self, **changes)


@dataclass(frozen=True)
class Parsed[T]:
    """Filters from the valid parameters. By filter name: `problems` are messages, `typed` the text to show again in
    the fields, and `choices` suggested tokens.
    """

    filters: T
    problems: Mapping[str, str]
    typed: Mapping[str, str]
    choices: Mapping[str, Sequence[TokenInfo]] = field(default_factory=dict)

    def field(self, name: str) -> str:
        return self.typed[name]


@dataclass(frozen=True)
class Chip:
    """An active filter. `without` is the list's query without it."""

    name: str
    label: str
    value: str
    without: str

    @property
    def text(self) -> str:
        """Return `Status: open`, `From Base` or `Recoverable only`."""
        return Sentence(self.label, " " if self.label and self.value else "", self.value)


def parse[T](
    query: Query,
    parsers: Mapping[str, Parser],
    make: Callable[..., T],
    *,
    called: Mapping[str, str] = {},
    repeated: Collection[str] = (),
) -> Parsed[T]:
    """Parse each filter's parameter, and ignore other parameters and blank values.

    `called`: names of parameters that differ from the filter's. `repeated`: filters with several values, which their
    parser gets with commas between them. Other parsers get the last value.
    """
    found: dict[str, Any] = {}
    problems: dict[str, str] = {}
    typed: dict[str, str] = {}
    choices: dict[str, Sequence[TokenInfo]] = {}
    for name, parser in parsers.items():
        given = _values(query, called.get(name, name))
        typed[name] = echo(given[-1]) if given else ""
        try:
            if given:
                found[name] = parser(",".join(given) if name in repeated else given[-1])
                typed[name] = text.visible(given[-1])
        except InvalidParameter as problem:
            problems[name], choices[name] = str(problem), problem.choices
    return Parsed(make(**found), problems, typed, choices)


def encode(given: Mapping[str, object]) -> str:
    """Return the query string. A parameter is left out with None and repeated for each value of a tuple."""
    written = {name: "1" if value is True else value for name, value in given.items() if value is not None}
    return urlencode(written, doseq=True)


def last(query: Query, name: str) -> str:
    """Return the parameter's last value, or ""."""
    return next(reversed(_values(query, name)), "")


def echo(written: str) -> str:
    return text.visible(written)[:LONGEST_ECHO]


def _values(query: Query, name: str) -> list[str]:
    return [value.strip() for value in query.get(name, ()) if value.strip()]


# Parsers


def number(written: str, *, what: str) -> int:
    """Return a whole number. Python refuses to convert more than 4,300 digits."""
    if not (written.isascii() and written.isdigit()):
        raise InvalidParameter(f"{what} must be a whole number.")
    digits = written.lstrip("0") or "0"
    if len(digits) > len(str(LARGEST_NUMBER)) or int(digits) > LARGEST_NUMBER:
        raise InvalidParameter(f"{what} must be at most {LARGEST_NUMBER}.")
    return int(digits)


def address(written: str) -> str:
    """Return the only address in the text."""
    if found := identifiers.only(written, identifiers.ADDRESSES):
        return found
    read = identifiers.read(written)
    problem = "" if any(each.kind is Kind.WORDS for each in read.findings) else read.refusal
    if not problem and len(written) >= SHORTEST_OF_OTHER_CHAINS and written[:2].lower() != "0x":
        problem = input_errors.UNKNOWN
    raise InvalidParameter(problem or input_errors.of_address(written))


def chain_id(written: str, chains: Sequence[ChainInfo]) -> int:
    """Return a chain ID by number or name. Accept any number but 0 while the chain list is unavailable."""
    if written.isdigit():
        number(written, what="A chain ID")
    found = find_chain(written, chains)
    if found is None and not chains:
        raise InvalidParameter("Couldn't load the chain list. Enter a chain ID.")
    if found is None:
        known = ", ".join(names.by_id(chains).values())
        raise InvalidParameter(f"Unknown chain “{text.name(written).shown}”. Known chains: {known}.")
    return found


def find_chain(written: str, chains: Sequence[ChainInfo]) -> int | None:
    """Return what `chain_id` returns, but None for an unknown chain."""
    named = names.by_id(chains)
    try:
        given = number(written, what="A chain ID")
    except InvalidParameter:
        exact = next((each for each, name in named.items() if name.lower() == written.lower()), None)
        usual = chains_by_name(chains).get(written.casefold())
        return usual.id if exact is None and usual else exact
    return given if given and (given in named or not named) else None


def switch(written: str) -> bool:
    words = {"1": True, "true": True, "on": True, "yes": True, "0": False, "false": False, "off": False, "no": False}
    return required(words.get(written.lower()), "Use 1 (on) or 0 (off).")


def one_of(written: str, *, known: Iterable[str], what: str) -> str:
    by_name = {word.lower(): word for word in known}
    return required(by_name.get(written.lower()), f"Unknown {what}. Valid values: {', '.join(by_name.values())}.")


def words(written: str) -> list[str]:
    return [word for word in re.split(r"[,\s]+", written) if word]


def required[T](found: T | None, problem: str) -> T:
    """Return the value that was found. Raises InvalidParameter with the message if there is none."""
    if found is None:
        raise InvalidParameter(problem)
    return found


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
    """List filters. Times are Unix seconds, inclusive. Defaults mean no filter. `balances`: show their column."""

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


def read(query: Query, *, chains: Sequence[ChainInfo] = ()) -> ListQuery:
    """Parse the filters in a URL's query and ignore other parameters."""

    def chain(written: str) -> int:
        """Accept any number: transfers also use chains that the service doesn't list."""
        chain_number = number(written, what="A chain ID") if written.isdigit() else 0
        return chain_number or chain_id(written, chains)

    parsers: dict[str, Parser] = {
        "project": partial(number, what="A project ID"),
        "owner": address,
        "status": _statuses,
        "origin": chain,
        "destination": chain,
        "since": _seconds,
        "until": _seconds,
        "balances": switch,
        "recoverable": switch,
        "order": partial(one_of, known=ORDERS, what="order"),
        "size": _size,
    }
    parsed = parse(query, parsers, dict[str, Any], called=Filters.PARAMETERS, repeated=("status",))
    zone = last(query, "zone") or "UTC"
    times = {
        name: partial(_typed_time, zone=zone, is_end=name == "until", former=parsed.filters.get(name))
        for name in TYPED_TIMES
    }
    at = parse(query, times, dict[str, Any], called=TYPED_TIMES)
    # A field that was cleared removes its time.
    kept = {name: value for name, value in parsed.filters.items() if TYPED_TIMES.get(name) not in query}
    filters = Filters(**kept | at.filters)
    problems = {**parsed.problems, **at.problems}
    if filters.since is not None and filters.until is not None and filters.since > filters.until:
        problems["until"] = "End time must be after start time."
    typed = {TYPED_TIMES[name]: written for name, written in at.typed.items() if written}
    if typed:
        typed["zone"] = echo(zone)
    return ListQuery(filters, problems, {**parsed.typed, **typed})


def _size(written: str) -> int:
    size = number(written, what="Rows per page")
    if not 1 <= size <= LARGEST_SIZE:
        raise InvalidParameter(f"Rows per page must be between 1 and {LARGEST_SIZE}.")
    return size


def _statuses(written: str) -> tuple[IntentStatus, ...]:
    """Reject unknown statuses: the service would treat them as QUOTED (docs/contract.md)."""
    chosen: set[str] = set()
    for word in words(written.upper()):
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
    seconds = number(written, what="A time in a URL")
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
    return datetime.fromtimestamp(seconds, zone).replace(tzinfo=None, fold=0)


class ListLabels:
    """Labels of a list and its form.

    `parsed`: its filters. `chips`: active filters by name. `chains`: choices by ID, in order of their names. `ranges`:
    times up to now, each with the list's query for it. `ordered` is `newest first` or `oldest first`, `sorted` the
    `aria-sort` value of the creation column.
    """

    def __init__(self, parsed: ListQuery, *, chains: Iterable[ChainInfo], now: datetime) -> None:
        filters, named = parsed.filters, names.by_id(chains)
        self.parsed = parsed
        self.chips = {chip.name: chip for chip in chips(filters, chains=named, now=now)}
        self.chains = sorted(named.items(), key=lambda chain: chain[1].lower())
        self.open_only = filters.with_(status=IN_FLIGHT).query
        # At a full minute, so that the URLs stay the same for a while.
        minute = int(now.timestamp()) // 60 * 60
        self.ranges = [(label, filters.with_(since=minute - ago, until=None).query) for label, ago in RANGES.items()]
        self.sizes = [(size, size) for size in sorted({*SIZES, filters.size})]
        self.ordered = ORDERS[filters.order]
        self.sorted = "descending" if filters.is_newest_first else "ascending"


def chips(filters: Filters, *, chains: Mapping[int, str], now: datetime) -> tuple[Chip, ...]:
    """Return the active filters in form order. Sort, page size and columns aren't filters."""

    def chain(chain_id: int) -> str:
        return chains.get(chain_id) or names.chain(chain_id, info=None)

    def moment(seconds: int) -> str:
        return times.utc(datetime.fromtimestamp(seconds, UTC), now=now)

    words: dict[str, tuple[str, Callable[[Any], str]]] = {
        "status": ("Status:", _chosen),
        "origin": ("From", chain),
        "destination": ("To", chain),
        "owner": ("Owner", hashes.short_address),
        "since": ("Created from", moment),
        "until": ("Created until", moment),
        "project": ("Project", str),
        "recoverable": ("Recoverable only", lambda _: ""),
    }
    empty = Filters()
    return tuple(
        Chip(name, label, shown(getattr(filters, name)), filters.with_(**{name: getattr(empty, name)}).query)
        for name, (label, shown) in words.items()
        if getattr(filters, name) != getattr(empty, name)
    )


def _chosen(chosen: tuple[IntentStatus, ...]) -> str:
    """Return `open`, `failed, aborted, or refunded`, or `all but aborted`."""
    if chosen == IN_FLIGHT:
        return "open"
    others = [status for status in IntentStatus if status not in chosen]
    if 0 < len(others) < 3:
        return f"all but {' and '.join(statuses.INTENTS[status].word.lower() for status in others)}"
    return text.listed([statuses.INTENTS[status].word.lower() for status in chosen], "or")


# The advanced search: the eight criteria of SearchIntents, and the keys of each kind of pasted identifier


class SearchKey(NamedTuple):
    """A field of the advanced search, from form.toml."""

    name: str
    criterion: str
    label: str
    hint: str
    kind: Kind | None


type Criteria = Parsed[dict[str, Any]]

KEYS = [
    SearchKey(**{**row, "kind": Kind(row["kind"]) if row["kind"] else None})
    for row in tables.read(__package__, "form.toml")["keys"]
]
LONGEST_ID = 200
PLAIN_ID = re.compile(rf"[A-Za-z0-9_.:-]{{1,{LONGEST_ID}}}")
HEX_ID = re.compile(r"0[xX][0-9a-fA-F]*")
KEYS_OF_KIND = {
    Kind.INTENT: (results.INTENT_ID,),
    Kind.TRANSACTION: (results.TRANSACTION_HASH,),
    Kind.SOLANA_SIGNATURE: (results.TRANSACTION_HASH,),
    Kind.OTHER_HASH: (results.TRANSACTION_HASH,),
    Kind.HASH: (results.INTENT_ID, results.TRANSACTION_HASH),
    **dict.fromkeys(identifiers.ADDRESSES, results.ADDRESS),
    Kind.WORDS: (results.WORDS,),
}
# What else it may be, tried if nothing is found: people put intent IDs into transaction links and the reverse. The
# hashes of Sui and NEAR look like Solana addresses, those of Starknet like its addresses.
KEYS_AFTER_A_MISS = {
    Kind.TRANSACTION: (results.INTENT_ID,),
    Kind.INTENT: (results.TRANSACTION_HASH,),
    Kind.SOLANA_ADDRESS: (results.TRANSACTION_HASH,),
    Kind.OTHER_HASH: results.ADDRESS,
}


def read_criteria(query: Query) -> Criteria:
    return parse(query, {key.name: partial(_criterion, kind=key.kind) for key in KEYS}, dict)


def _criterion(value: str, *, kind: Kind | None) -> str | int:
    """Return the value to search for. Raises InvalidParameter."""
    match kind:
        case Kind.INTENT:
            found = identifiers.only(value, (Kind.INTENT, Kind.HASH, Kind.TRANSACTION))
            if found is None and HEX_ID.fullmatch(value):
                raise InvalidParameter(input_errors.of_hash(value, what="An intent ID"))
            if found is None and not PLAIN_ID.fullmatch(value):
                raise InvalidParameter(
                    f"Intent IDs use letters, digits and _ - : . only (up to {LONGEST_ID} characters)."
                )
            return found or value
        case Kind.TRANSACTION:
            return required(identifiers.only(value, identifiers.HASHES), input_errors.of_hash(value))
        case Kind.ADDRESS:
            return address(value)
        case Kind.WORDS:
            problem = input_errors.of_words(value, shortest=SHORTEST_WORDS, longest=LONGEST_WORDS)
            if problem and len(value) >= SHORTEST_WORDS:
                problem = f"Text must have at most {LONGEST_WORDS} characters, all visible."
            return required(None if problem else value, problem)
    return number(value, what="A project ID")
