"""`/attention`: transfers that need attention, grouped by what is wrong and why.

A transfer is in one group, by the cause in its summary. All of a group have the same message and, apart from numbers,
the same reason of the service, so their next step is the same.

The lists behind this page and the overview are read for all viewers together: at most CALLS calls to the service in
PERIOD seconds, however many pages are open. A list whose turn hasn't come, or that is on its way, is shown as last
received, with its age, unless that is more than SHOWN_FOR ago.
"""

import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cached_property, partial
from http import HTTPStatus
from typing import ClassVar
from zlib import crc32

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from intents_ui import app
from intents_ui.search import filters as parameters
from intents_ui.search.filters import InvalidParameter, Parsed, Parser, Query, UrlFilters
from intents_ui.service import operations, request_context
from intents_ui.service.cache import CacheEntry
from intents_ui.service.errors import ServiceError, StaleResponse
from intents_ui.service.models import UNEXECUTED, ChainInfo, HistoryAnswer, IntentStatus, Page
from intents_ui.service.operations import CacheKey, ServiceCall
from intents_ui.tokens import names
from intents_ui.transfers import balances, placeholders, summary
from intents_ui.transfers.balances import LAST, RecoverableRow, Value
from intents_ui.transfers.route_stats import NUMBERS
from intents_ui.transfers.rules import Cause
from intents_ui.transfers.transfer import Transfer
from intents_ui.web import reading
from intents_ui.web.frame import render

# In the order of the page.
TITLES: Mapping[Cause, str] = {
    Cause.RECOVERABLE: "Funds waiting for their owner",
    Cause.REFUND_FAILED: "Refund failed",
    Cause.CONFLICT: "Service and chain disagree",
    Cause.LATE: "Late",
}
# What the lists are called that the transfers are from.
LISTS: Mapping[str, str] = {
    "recoverable": "transfers with a recoverable balance",
    "open": "open transfers",
    "failed": "failed transfers",
}
USD = re.compile(r"[0-9]{1,12}(\.[0-9]{1,2})?")


@dataclass(frozen=True)
class AttentionFilters(UrlFilters):
    """Filters of the page: transfers from or to a chain, and not known to hold less than `least` USD."""

    PARAMETERS: ClassVar[Mapping[str, str]] = {"least": "min"}

    chain: int | None = None
    least: Decimal | None = None

    def takes(self, row: RecoverableRow) -> bool:
        if self.least is not None and row.value.priced and row.value.usd < self.least:
            return False
        return self.chain is None or self.chain in (
            row.summary.sent.token.chain_id,
            row.summary.received.token.chain_id,
        )


def read_filters(query: Query, *, chains: Sequence[ChainInfo] = ()) -> Parsed[AttentionFilters]:
    """Parse a URL's query. Ignores other parameters."""
    parsers: dict[str, Parser] = {"chain": partial(parameters.chain_id, chains=chains), "least": _usd}
    return parameters.parse(query, parsers, AttentionFilters, called={"least": "min"})


def _usd(written: str) -> Decimal:
    if not USD.fullmatch(written):
        raise InvalidParameter("Enter an amount in USD, such as 100 or 99.50.")
    return Decimal(written)


@dataclass(frozen=True)
class ProblemRows:
    """Transfers with a problem, oldest first."""

    rows: Sequence[RecoverableRow]

    @property
    def count(self) -> int:
        return len(self.rows)

    @property
    def value(self) -> Value:
        return balances.value(holding for row in self.rows for holding in row.holdings)

    @property
    def oldest(self) -> datetime | None:
        return self.rows[0].created_at if self.rows else None


@dataclass(frozen=True)
class ProblemGroup(ProblemRows):
    """Transfers with the same problem. `key`: the group's name in URLs, which stays the same."""

    key: str

    @property
    def headline(self) -> str:
        row = summary.of(self.rows[0].transfer).row
        return row.title or row.headline

    @property
    def explanation(self) -> str:
        """Return the reason in plain language, without token and chain if they differ, or "" if it is unknown."""
        transfers = [row.transfer for row in self.rows]
        return _common(map(placeholders.reason_of_failure, transfers)) or _common(
            map(placeholders.reason_anywhere, transfers)
        )

    @property
    def reason(self) -> str:
        """Return the service's reason."""
        return _common(_reason(row) for row in self.rows)


@dataclass(frozen=True)
class ProblemSection(ProblemRows):
    """Transfers with one cause, and their groups, largest first."""

    cause: Cause

    @property
    def title(self) -> str:
        return TITLES[self.cause]

    @cached_property
    def groups(self) -> Sequence[ProblemGroup]:
        alike: dict[str, list[RecoverableRow]] = {}
        for row in self.rows:
            problem = f"{summary.of(row.transfer).key}\n{NUMBERS.sub('…', _reason(row))}"
            alike.setdefault(f"{self.cause}-{crc32(problem.encode()):08x}", []).append(row)
        groups = [ProblemGroup(same, key) for key, same in alike.items()]
        return sorted(groups, key=lambda group: (-group.count, group.oldest or LAST))


@dataclass(frozen=True)
class Problems:
    rows: Sequence[tuple[Cause, RecoverableRow]]

    @property
    def count(self) -> int:
        return len(self.rows)

    @cached_property
    def sections(self) -> Sequence[ProblemSection]:
        """Return a section for each cause, also if it is empty."""
        return [ProblemSection([row for of, row in self.rows if of is cause], cause) for cause in TITLES]

    def narrowed(self, filters: AttentionFilters) -> "Problems":
        return Problems([(cause, row) for cause, row in self.rows if filters.takes(row)])

    def section(self, cause: Cause) -> ProblemSection:
        return next(each for each in self.sections if each.cause == cause)

    def group(self, key: str) -> ProblemGroup | None:
        return next((group for each in self.sections for group in each.groups if group.key == key), None)


def of(transfers: Iterable[Transfer]) -> Problems:
    """Return those that need attention. Of the same transfer in two lists, the first counts."""
    by_id: dict[str, Transfer] = {}
    for transfer in transfers:
        by_id.setdefault(transfer.intent.intent_id.lower(), transfer)
    found = []
    for each in by_id.values():
        cause = summary.of(each).cause
        if cause in TITLES or each.has_balance:
            found.append((cause if cause in TITLES else Cause.RECOVERABLE, balances.recoverable_row(each)))
    return Problems(sorted(found, key=lambda each: balances.by_age(each[1])))


def _common(texts: Iterable[str]) -> str:
    """Return the text of all, with `…` for numbers that differ, or "" if more differs."""
    found = {*texts}
    if len(found) > 1:
        found = {NUMBERS.sub("…", each) for each in found}
    return found.pop() if len(found) == 1 else ""


def _reason(row: RecoverableRow) -> str:
    found = row.transfer.reason
    return found.whole if found else ""


HOME_SIZE = 40
SIZE = 100  # the service's maximum page size
CALLS, PERIOD = 3, 2.0  # calls and seconds
MAX_AGE = 8.0  # seconds. The newest transfers are read again after PERIOD.
SHOWN_FOR = timedelta(seconds=50)  # pages ask every ten seconds, so that nothing on them is older than a minute
COUNTED_FOR = timedelta(minutes=5)  # how long the navigation shows a count

RECOVERABLE = operations.get_intent_history(page=Page.first(size=SIZE), include_balances=True, only_recoverable=True)
# The oldest first, because those are late.
OPEN = operations.get_intent_history(
    page=Page.first(size=SIZE, order="ASC"), by_status=IntentStatus.EXECUTING, include_balances=True
)
FAILED = operations.get_intent_history(page=Page.first(size=SIZE), by_status=IntentStatus.FAILED, include_balances=True)
FUNDED = operations.get_intent_history(
    page=Page.first(size=HOME_SIZE),
    by_statuses=[each for each in IntentStatus if each not in UNEXECUTED],
)
PROBLEMS = {"recoverable": RECOVERABLE, "open": OPEN, "failed": FAILED}


@dataclass(frozen=True)
class Listing:
    """The first page of a list. `is_whole`: the list has no further page."""

    rows: Sequence[Transfer]
    is_whole: bool
    read_at: datetime


type Read = Listing | ServiceError | None


@dataclass(frozen=True)
class ProblemLists:
    """The transfers with a problem, and the lists that they are from, by their names in PROBLEMS."""

    problems: Problems
    lists: Mapping[str, Read]

    @property
    def unread(self) -> dict[str, ServiceError | None]:
        """Return the lists that are missing: with their error, or None if their turn hasn't come."""
        return {name: each for name, each in self.lists.items() if not isinstance(each, Listing)}

    @property
    def is_awaited(self) -> bool:
        """Return whether a list hasn't been read yet, because there were too many calls at once."""
        return None in self.lists.values()

    def has(self, *names: str) -> bool:
        return all(isinstance(self.lists[name], Listing) for name in names)

    def is_whole(self, *names: str) -> bool:
        """Return whether these lists have no further pages, so that counts are exact."""
        return self.has(*names) and not {*names} & {*self.cut}

    @property
    def cut(self) -> list[str]:
        """Return the lists of which only the first page was read."""
        return [name for name, each in self.lists.items() if isinstance(each, Listing) and not each.is_whole]

    @property
    def read_at(self) -> datetime | None:
        """Return when the oldest of the lists was read."""
        return min((each.read_at for each in self.lists.values() if isinstance(each, Listing)), default=None)


class AttentionReader:
    """Reads the lists within the limit on calls. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sent: dict[CacheKey, float] = {}
        # Three lists are most of what the cache holds, so it may have dropped one.
        self._received: dict[CacheKey, tuple[HistoryAnswer | ServiceError, datetime]] = {}
        self._counted: tuple[int, datetime] | None = None

    def read(self, calls: Sequence[ServiceCall[HistoryAnswer]]) -> list[Read]:
        """Return each list, its error, or None if it wasn't received lately and is yet to come."""
        service = app.current().service
        before = {call.cache_key: service.cache.peek(call) for call in calls}
        due = [call for call in calls if not _is_recent(call, before[call.cache_key])]
        # Missing ones first, in this order, then the oldest.
        due.sort(key=lambda call: -entry.age if (entry := before[call.cache_key]) else float("-inf"))
        turns = [call for call in due if self._take(call)]
        answers = service.threads.together(*(partial(_ask, call) for call in turns))
        asked = {call.cache_key: answer for call, answer in zip(turns, answers, strict=True) if answer}
        waiting = {call.cache_key for call in due} - asked.keys()
        known = service.cache.get_many(calls)
        read = [
            self._last(call, asked.get(call.cache_key), last, is_waiting=call.cache_key in waiting)
            for call, last in zip(calls, known, strict=True)
        ]
        lists = [answer.intents for answer, _ in read if isinstance(answer, HistoryAnswer)]
        rows = iter(reading.of_lists(lists))
        return [
            Listing(next(rows), answer.following is None, at) if isinstance(answer, HistoryAnswer) else answer
            for answer, at in read
        ]

    def problem_lists(self, lists: Sequence[Read]) -> ProblemLists:
        """Return the transfers of these lists, which are those of PROBLEMS, that need attention."""
        read = [each.rows for each in lists if isinstance(each, Listing)]
        found = app.current().transfers.get(
            "problems", read, make=lambda: of([transfer for rows in read for transfer in rows])
        )
        if len(read) == len(PROBLEMS):
            self._counted = found.count, datetime.now(UTC)
        return ProblemLists(found, dict(zip(PROBLEMS, lists, strict=True)))

    def read_problems(self) -> ProblemLists:
        """Read the lists of PROBLEMS. Raises ServiceError if none can be read."""
        lists = self.read([*PROBLEMS.values()])
        errors = [each for each in lists if isinstance(each, ServiceError)]
        if errors and not any(isinstance(each, Listing) for each in lists):
            raise errors[0]
        return self.problem_lists(lists)

    @property
    def count(self) -> int | None:
        """Return how many transfers need attention by the last reading, None if that is too old."""
        count, at = self._counted or (0, datetime.min.replace(tzinfo=UTC))
        return count if datetime.now(UTC) - at < COUNTED_FOR else None

    def _last(
        self,
        call: ServiceCall[HistoryAnswer],
        asked: HistoryAnswer | ServiceError | None,
        cached: CacheEntry | None,
        *,
        is_waiting: bool,
    ) -> tuple[HistoryAnswer | ServiceError | None, datetime]:
        """Return the last known response, or the error if none is known, and when it was received.

        `is_waiting`: a newer one is yet to come, so it is None rather than old.
        """
        now, before = datetime.now(UTC), self._received.get(call.cache_key)
        if cached:
            self._received[call.cache_key] = cached.answer, now - timedelta(seconds=cached.age)
        elif isinstance(asked, HistoryAnswer) or (asked and not (before and isinstance(before[0], HistoryAnswer))):
            self._received[call.cache_key] = asked, now
        elif isinstance(asked, ServiceError) and before:
            request_context.add_stale(StaleResponse(call.operation, before[1], asked, has_balances=call is not FUNDED))
        last, at = self._received.get(call.cache_key, (None, now))
        return (None, now) if is_waiting and now - at > SHOWN_FOR else (last, at)

    def _take(self, call: ServiceCall[HistoryAnswer]) -> bool:
        """Return whether to ask for this call now.

        One that was just sent is requested again while it is pending or cached: the client sends no second request.
        """
        question, now = call.cache_key, app.current().service.cache.clock()
        with self._lock:
            self._sent = {each: at for each, at in self._sent.items() if now - at < PERIOD}
            if question in self._sent:
                return question not in self._received or app.current().service.cache.peek(call) is not None
            if len(self._sent) >= CALLS:
                return False
            self._sent[question] = now
            return True


def _ask(call: ServiceCall[HistoryAnswer]) -> HistoryAnswer | None:
    """Return the response, or None if only an old one has come so far. Raises ServiceError."""
    with request_context.collecting_stale() as stale:
        answer = app.current().service.ask(call, max_age=_max_age(call))
    for each in stale:
        if each.error.is_timeout and not each.again_in and datetime.now(UTC) - each.learned_at > SHOWN_FOR:
            return None
        request_context.add_stale(each)
    return answer


def _max_age(call: ServiceCall[HistoryAnswer]) -> float:
    return PERIOD if call is FUNDED else MAX_AGE


def _is_recent(call: ServiceCall[HistoryAnswer], entry: CacheEntry | None) -> bool:
    if entry is None or entry.age < _max_age(call):
        return entry is not None
    newest = app.current().service.cache.get(call)
    return newest is not None and newest.is_fresh


PAGE_SIZE = 50


@require_safe
def view(request: HttpRequest) -> HttpResponse:
    """Return the groups, one of them with its rows if `group` names it. For htmx, return the groups or those rows."""
    parsed = read_filters(dict(request.GET.lists()), chains=app.current().catalog.chains())
    if parsed.problems:
        return render(request, "lists/attention.html", form(parsed), status=HTTPStatus.BAD_REQUEST)
    found = app.current().attention.read_problems()
    problems = found.problems.narrowed(parsed.filters)
    group = problems.group(request.GET.get("group", ""))
    context = form(parsed) | {
        "found": problems,
        "unread": found.unread,
        "cut": found.cut,
        "as_of": found.read_at,
        "group": group,
        "is_gone": group is None and "group" in request.GET,
        **(page_of(group, parsed.filters, request.GET.get("page", "")) if group else {}),
    }
    return render(request, "lists/attention.html", context, block="rows" if "group" in request.GET else "groups")


def form(parsed: Parsed[AttentionFilters]) -> dict[str, object]:
    chains = names.by_id(app.current().catalog.chains())
    return {
        "parsed": parsed,
        "chains": sorted(chains.items(), key=lambda chain: chain[1].lower()),
        "names": app.current().catalog,
        "called": LISTS,
        **dict.fromkeys(("found", "group"), None),
        "unread": {},
        "late_count": reading.late_count(),
        "cut": (),
        "is_gone": False,
    }


def page_of(group: ProblemGroup, filters: AttentionFilters, written: str) -> dict[str, object]:
    """Return the rows of one page, by default the first, and the URLs of its neighbors."""
    last = -(-len(group.rows) // PAGE_SIZE)
    number = min(max(int(written), 1), last) if written.isascii() and written.isdigit() and len(written) < 6 else 1
    begin = (number - 1) * PAGE_SIZE
    return {
        "rows": group.rows[begin : begin + PAGE_SIZE],
        "begin": begin,
        "shown": url(group, filters, number),
        "previous": url(group, filters, number - 1) if number > 1 else None,
        "next": url(group, filters, number + 1) if number < last else None,
    }


def url(group: ProblemGroup, filters: AttentionFilters, page: int = 1) -> str:
    shown = f"&{filters.query}" if filters.query else ""
    return f"{reverse('attention')}?group={group.key}{f'&page={page}' if page > 1 else ''}{shown}"
