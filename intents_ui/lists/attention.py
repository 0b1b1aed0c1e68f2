"""`/attention`: transfers that need attention, grouped by what is wrong and why. `/`: the overview.

A transfer is in one group, by the cause in its summary. All of a group have the same message and, apart from numbers,
the same reason of the service, so their next step is the same.

A list of this page and of the overview that the service is slow to return is shown as last received, unless that is
more than SHOWN_FOR ago.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cached_property, partial
from http import HTTPStatus
from itertools import takewhile
from types import SimpleNamespace
from typing import ClassVar, Self
from zlib import crc32

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from intents_ui import app
from intents_ui.http import marks
from intents_ui.search import filters as parameters
from intents_ui.service import operations, request_context
from intents_ui.service.errors import ServiceError
from intents_ui.service.models import UNEXECUTED, ChainInfo, HistoryAnswer, IntentStatus, Page
from intents_ui.tokens import names
from intents_ui.transfers import balances, placeholders, summary
from intents_ui.transfers.balances import Value
from intents_ui.transfers.route_stats import NUMBERS
from intents_ui.transfers.rules import Cause
from intents_ui.transfers.transfer import Transfer
from intents_ui.web import reading
from intents_ui.web.frame import DEFAULT_COLUMNS, chosen_columns, render

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
LAST = datetime.max.replace(tzinfo=UTC)
USD = re.compile(r"[0-9]{1,12}(\.[0-9]{1,2})?")
PAGE_SIZE = 50  # transfers of a group
HOME_SIZE, HOME_SHOWN = 40, 10  # newest transfers of the overview
HOUR = timedelta(hours=1)
SIZE = 100  # the service's maximum page size
SHOWN_FOR = timedelta(seconds=50)  # pages ask every ten seconds, so that nothing on them is older than a minute

_list = partial(operations.get_intent_history, include_balances=True)
PROBLEMS = {
    "recoverable": _list(page=Page.first(size=SIZE), only_recoverable=True),
    # The oldest first, because those are late.
    "open": _list(page=Page.first(size=SIZE, order="ASC"), by_status=IntentStatus.EXECUTING),
    "failed": _list(page=Page.first(size=SIZE), by_status=IntentStatus.FAILED),
}
FUNDED = operations.get_intent_history(
    page=Page.first(size=HOME_SIZE),
    by_statuses=[each for each in IntentStatus if each not in UNEXECUTED],
)


def by_age(transfer: Transfer) -> tuple[datetime, str]:
    """Sort the oldest first."""
    return transfer.quoted_at or LAST, transfer.intent.intent_id


@dataclass(frozen=True)
class AttentionFilters(parameters.UrlFilters):
    """Filters of the page: transfers from or to a chain, and not known to hold less than `least` USD."""

    PARAMETERS: ClassVar[Mapping[str, str]] = {"least": "min"}

    chain: int | None = None
    least: Decimal | None = None

    def takes(self, transfer: Transfer) -> bool:
        if self.least is not None:
            value = balances.total(balances.holdings(transfer))
            if value.priced and value.usd < self.least:
                return False
        shown = summary.of(transfer)
        return self.chain in (None, shown.sent.token.chain_id, shown.received.token.chain_id)


def read_filters(query: parameters.Query, *, chains: Sequence[ChainInfo] = ()) -> parameters.Parsed[AttentionFilters]:
    """Parse a URL's query. Ignores other parameters."""
    parsers: dict[str, parameters.Parser] = {"chain": partial(parameters.chain_id, chains=chains), "least": _usd}
    return parameters.parse(query, parsers, AttentionFilters, called=AttentionFilters.PARAMETERS)


def _usd(written: str) -> Decimal:
    if not USD.fullmatch(written):
        raise parameters.InvalidParameter("Enter an amount in USD, such as 100 or 99.50.")
    return Decimal(written)


@dataclass(frozen=True)
class ProblemRows:
    """Transfers of one cause or one group, oldest first. `key`: the cause, or the group's permanent name in URLs."""

    key: str
    rows: Sequence[Transfer]

    @property
    def count(self) -> int:
        return len(self.rows)

    @property
    def value(self) -> Value:
        return balances.total(holding for each in self.rows for holding in balances.holdings(each))

    @property
    def oldest(self) -> datetime | None:
        return self.rows[0].quoted_at if self.rows else None

    @cached_property
    def groups(self) -> Sequence["ProblemRows"]:
        """The transfers of a cause by their problem, the largest group first."""
        alike: dict[str, list[Transfer]] = {}
        for each in self.rows:
            problem = f"{summary.of(each).key}\n{NUMBERS.sub('…', _reason(each))}"
            alike.setdefault(f"{self.key}-{crc32(problem.encode()):08x}", []).append(each)
        groups = [ProblemRows(key, same) for key, same in alike.items()]
        return sorted(groups, key=lambda group: (-group.count, group.oldest or LAST))

    @property
    def headline(self) -> str:
        row = summary.of(self.rows[0]).row
        return row.title or row.headline

    @property
    def explanation(self) -> str:
        """Return the reason in plain language, without token and chain if they differ, or "" if it is unknown."""
        in_words = _common(placeholders.reason_of_failure(each) for each in self.rows)
        anywhere = self.rows[0].money(None, None, None)
        return in_words or _common(placeholders.explain(each.failure_reason or "", anywhere) for each in self.rows)

    @property
    def reason(self) -> str:
        return _common(map(_reason, self.rows))


def worklist(found: Iterable[Transfer]) -> ProblemRows:
    """Return those of a list's rows, which have their balances, that hold a balance or may hold one."""
    held = [
        each
        for each in found
        if each.has_balance is not False
        or any(token.balance != 0 for group in each.balances.groups for token in group.tokens)
    ]
    return ProblemRows(Cause.RECOVERABLE, sorted(held, key=by_age))


def _common(texts: Iterable[str]) -> str:
    """Return the text of all, with `…` for numbers that differ, or "" if more differs."""
    found = {*texts}
    if len(found) > 1:
        found = {NUMBERS.sub("…", each) for each in found}
    return found.pop() if len(found) == 1 else ""


def _reason(transfer: Transfer) -> str:
    return transfer.reason.whole if transfer.reason else ""


@dataclass(frozen=True)
class Listing:
    """The first page of a list. `is_whole`: the list has no further page."""

    rows: Sequence[Transfer]
    is_whole: bool
    read_at: datetime


type Read = Listing | ServiceError | None


@dataclass(frozen=True)
class Problems:
    """The transfers with a problem, oldest first, and the lists that they are from, by their names in PROBLEMS."""

    rows: Sequence[Transfer]
    lists: Mapping[str, Read] = field(default_factory=dict)

    @property
    def count(self) -> int:
        return len(self.rows)

    @cached_property
    def sections(self) -> Mapping[Cause, ProblemRows]:
        """Return a section for each cause, also if it is empty."""
        found: dict[Cause, list[Transfer]] = {cause: [] for cause in TITLES}
        for each in self.rows:
            found.get(summary.of(each).cause or Cause.RECOVERABLE, found[Cause.RECOVERABLE]).append(each)
        return {cause: ProblemRows(cause, rows) for cause, rows in found.items()}

    def narrowed(self, filters: AttentionFilters) -> Self:
        return replace(self, rows=list(filter(filters.takes, self.rows)))

    def group(self, key: str) -> ProblemRows | None:
        return next((group for each in self.sections.values() for group in each.groups if group.key == key), None)

    @property
    def unread(self) -> dict[str, ServiceError | None]:
        """Return the lists that are missing: with their error, or None if they are on their way."""
        return {name: each for name, each in self.lists.items() if not isinstance(each, Listing)}

    @property
    def is_awaited(self) -> bool:
        return None in self.lists.values()

    def has(self, *names: str) -> bool:
        return not {*names} & self.unread.keys()

    def is_whole(self, *names: str) -> bool:
        """Return whether none of these lists has further pages, so that counts are exact."""
        return not {*names} & {*self.cut}

    @property
    def cut(self) -> list[str]:
        """Return the lists of which only the first page was read."""
        return [name for name, each in self.lists.items() if isinstance(each, Listing) and not each.is_whole]

    @property
    def read_at(self) -> datetime | None:
        """Return when the oldest of the lists was read."""
        return min((each.read_at for each in self.lists.values() if isinstance(each, Listing)), default=None)


def of(transfers: Iterable[Transfer]) -> list[Transfer]:
    """Return those that need attention, oldest first. Of the same transfer in two lists, the first counts."""
    by_id: dict[str, Transfer] = {}
    for transfer in transfers:
        by_id.setdefault(transfer.intent.intent_id.lower(), transfer)
    found = [each for each in by_id.values() if each.has_balance or summary.of(each).cause in TITLES]
    return sorted(found, key=by_age)


def read_lists(calls: Sequence[operations.ServiceCall[HistoryAnswer]]) -> list[Read]:
    """Return each list, its error, or None if a newer response than an old one is on its way."""
    received = app.current().service.threads.together(*(partial(_received, call) for call in calls))
    rows = iter(reading.of_lists([each[0].intents for each in received if isinstance(each, tuple)]))
    return [
        Listing(next(rows), each[0].following is None, each[1]) if isinstance(each, tuple) else each
        for each in received
    ]


def _received(call: operations.ServiceCall[HistoryAnswer]) -> tuple[HistoryAnswer, datetime] | None:
    """Return the response, of the client's cache that all open pages share, and when it came. Raises ServiceError."""
    service = app.current().service
    with request_context.collecting("stale") as used:
        answer = service.ask(call)
    for each in used.stale:
        is_slow = each.error.is_timeout and not each.again_in
        if is_slow and datetime.now(UTC) - each.learned_at > SHOWN_FOR:
            return None
        request_context.current().stale.append(each)
    cached = service.cache.peek(call)
    return answer, datetime.now(UTC) - timedelta(seconds=cached.age if cached else 0)


def problems(lists: Sequence[Read]) -> Problems:
    """Return the transfers of these lists, which are those of PROBLEMS, that need attention."""
    read = [each.rows for each in lists if isinstance(each, Listing)]
    rows = app.current().transfers.get(
        "problems", read, make=lambda: of([transfer for listed in read for transfer in listed])
    )
    if len(read) == len(PROBLEMS):
        app.current().attention_count.learn(len(rows))
    return Problems(rows, dict(zip(PROBLEMS, lists, strict=True)))


def read_problems() -> Problems:
    """Read the lists of PROBLEMS. Raises ServiceError if none can be read."""
    lists = read_lists([*PROBLEMS.values()])
    errors = [each for each in lists if isinstance(each, ServiceError)]
    if errors and not any(isinstance(each, Listing) for each in lists):
        raise errors[0]
    return problems(lists)


@require_safe
def view(request: HttpRequest) -> HttpResponse:
    """Return the groups, one of them with its rows if `group` names it. For htmx, return the groups or those rows."""
    chains = app.current().catalog.chains()
    parsed = read_filters(dict(request.GET.lists()), chains=chains)
    context: dict[str, object] = {
        "parsed": parsed,
        "chains": sorted(names.by_id(chains).items(), key=lambda chain: chain[1].lower()),
        "names": app.current().catalog,
        "titles": TITLES,
        "called": LISTS,
        "late_count": reading.late_count(),
        "found": None,
        "group": None,
    }
    if parsed.problems:
        return render(request, "lists/attention.html", context, status=HTTPStatus.BAD_REQUEST)
    found = read_problems().narrowed(parsed.filters)
    group = found.group(request.GET.get("group", ""))
    context |= {
        "found": found,
        "group": group,
        "is_gone": group is None and "group" in request.GET,
        "rows": Paginator(group.rows, PAGE_SIZE).get_page(request.GET.get("page")) if group else None,
    }
    return render(request, "lists/attention.html", context, block="rows" if "group" in request.GET else "groups")


# The overview


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """The search box, what needs attention, and the newest transfers."""
    funded, *lists = read_lists([FUNDED, *PROBLEMS.values()])
    recent = reading.recent_incidents()
    context = overview(lists) | {"incidents": recent.open_now if recent else ()} | of_newest(request, funded)
    return render(request, "home.html", context)


@marks.Marks(is_whole=True)
@require_safe
def tiles(request: HttpRequest) -> HttpResponse:
    """Refresh the counts of an open page."""
    context = overview(read_lists([*PROBLEMS.values()]))
    return render(request, "home.html", context | {"block": "tiles"})


@marks.Marks(is_whole=True)
@require_safe
def newest(request: HttpRequest) -> HttpResponse:
    """Refresh the rows of an open page. New transfers are announced, not inserted."""
    context = of_newest(request, *read_lists([FUNDED]))
    return render(request, "home.html", context | {"block": "newest"})


def overview(lists: Sequence[Read]) -> dict[str, object]:
    """Context of the counts. `lately`: None if the failed transfers can't be read."""
    found = problems(lists)
    failed = found.lists["failed"]
    return {
        "overview": found,
        "late_count": reading.late_count(),
        "lately": lately(failed) if isinstance(failed, Listing) else None,
    }


def lately(failed: Listing) -> SimpleNamespace:
    """Return the failed transfers created `since`: a minimum unless `is_counted`. `reason`: that of `alike`."""
    since = datetime.now(UTC) - HOUR
    found = [each for each in failed.rows if each.quoted_at and each.quoted_at >= since]
    reasons = Counter(told.whole for each in found if (told := each.reason))
    (reason, alike), *_ = reasons.most_common(1) or [("", 0)]
    is_counted = failed.is_whole or len(found) < len(failed.rows)
    start = int(since.timestamp())
    return SimpleNamespace(since=start, count=len(found), is_counted=is_counted, reason=reason, alike=alike)


def of_newest(request: HttpRequest, funded: Read) -> dict[str, object]:
    """Context of the newest transfers, from those that an open page shows, and the number of newer ones (a minimum
    unless `is_counted`). If they can't be read, a notice says so, and the search box still works.
    """
    rows, top = funded.rows if isinstance(funded, Listing) else (), request.GET.get("top", "")
    newer = len(list(takewhile(lambda each: each.intent.intent_id != top, rows))) if top else 0
    is_counted = newer < len(rows) or not top
    shown = rows[newer if is_counted else 0 :][:HOME_SHOWN]
    return {
        "now": datetime.now(UTC),
        "chosen": tuple(each for each in chosen_columns(request) if each not in DEFAULT_COLUMNS),
        "newest": [summary.of(each) for each in shown],
        "newer": newer,
        "is_counted": is_counted,
        "failed": funded if isinstance(funded, ServiceError) else None,
        "is_awaited": funded is None,
    }
