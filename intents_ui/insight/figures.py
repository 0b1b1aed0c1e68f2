"""Figures and single transfers of the mirror as pages show them. Functions that read raise CopyUnreadable."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest
from django.urls import reverse

from intents_ui import app
from intents_ui.formatting import amounts, hashes, text
from intents_ui.formatting.amounts import Amount
from intents_ui.http import operator_auth
from intents_ui.insight import charts
from intents_ui.insight.charts import Chart, Columns
from intents_ui.insight.choices import PERIODS, Choices
from intents_ui.mirror import models, readonly
from intents_ui.mirror.entry import TokenKey
from intents_ui.mirror.figures import queries
from intents_ui.mirror.figures.queries import FailureCount, PeriodFigures
from intents_ui.mirror.figures.scopes import Level, ScopeName
from intents_ui.mirror.figures.snapshots import Basis, Order, Period
from intents_ui.mirror.models import ENDED
from intents_ui.mirror.readonly import CopyUnreadable, reading
from intents_ui.service.outcome import Outcome
from intents_ui.tokens import names
from intents_ui.tokens.token_amounts import Identity, Money
from intents_ui.transfers import statuses
from intents_ui.transfers.statuses import Tone
from intents_ui.transfers.transfer import Transfer
from intents_ui.web import incidents, scopes
from intents_ui.web.scopes import NamedScope, named

STEPS = ("Deposit", "Origin", "Destination", "Refund")
NO_REASON, OTHER = "No reason reported", "Other reasons"
BASES = {Basis.ROUTE: "usual on its route", Basis.PROVIDER: "usual of its provider", Basis.RULE: "the usual maximum"}
UNUSUAL = 95  # of 100 that are faster
IN_TIME_LEVELS = ((0.95, Tone.GOOD), (0.85, Tone.ATTENTION))  # of a share, from the best on
COMPARED = (Period.WEEK, Period.DAY)  # with a transfer, the first that is complete


@dataclass(frozen=True)
class FigureRow:
    """The figures of a scope with its names, its lists, and the trend of its hours or days."""

    scope: NamedScope
    figures: PeriodFigures

    @property
    def outcomes(self) -> Sequence[tuple[str, int, str]]:
        """How the transfers ended, with the lists of these."""
        counts = self.figures.counts
        return [
            (each.value, counts[each], self.listed(outcome=each.value))
            for each in ENDED
            if counts[each] or each is not Outcome.UNCONFIRMED
        ]

    @property
    def late_path(self) -> str:
        return f"{reverse('late')}?{urlencode(scopes.query(self.scope.scope) | {'age': 'any'})}"

    @property
    def tone(self) -> Tone:
        """The tone of the share that was delivered in time, if it is known."""
        value = self.figures.on_time.value if self.figures.on_time else 0.0
        return next((tone for least, tone in IN_TIME_LEVELS if value >= least), Tone.BAD)

    @cached_property
    def spark(self) -> Columns:
        return charts.columns(self.figures.trend, height=charts.SPARK_HEIGHT, pitch=charts.SPARK_PITCH)

    def listed(self, **given: str) -> str:
        """Return the URL of the list of its transfers."""
        query = {**scopes.query(self.scope.scope), "from": int(self.figures.since.timestamp()), **given}
        return f"{reverse('insight-transfers')}?{urlencode(query)}"


@dataclass(frozen=True)
class ReasonRow:
    """Why transfers were not delivered: the step that failed, the reason without numbers, an example, and how many."""

    step: str
    reason: str
    example: str
    count: int
    share: str
    pattern: str | None = None  # as the mirror has it


@dataclass(frozen=True)
class Report:
    """Figures of a scope as pages show them, as in `queries.Report`. `fragments`: what pages drew from them.

    `tokens` are those of both sides, None if unknown, the number of transfers, and what the delivered ones sent.
    """

    total: FigureRow
    chart: Chart | None
    rows: Sequence[FigureRow]
    reasons: Sequence[ReasonRow]
    tokens: Sequence[tuple[Identity | None, Identity | None, int, Amount | None]]
    fragments: dict[Hashable, Any] = field(default_factory=dict)


def overview(picked: Choices) -> Report:
    """Return the figures of the whole service, and of its routes, providers, chains or tokens."""
    period, level = Period(picked.values["window"]), Level(picked.values["by"])
    order = Order(picked.values["order"])

    def read() -> Report:
        counts = incidents.still_open()
        with reading():
            found = queries.overview(period, counts, level=level, order=order)
        marked = [(each.since, each.closed or found.total.at) for each in incidents.read().incidents]
        return _shown(found, bar=period.bar, marked=marked)

    return app.current().recent_reads.get(("figures", period, level, order), read, max_age=readonly.MAX_AGE)


def report(scope: ScopeName, picked: Choices) -> Report:
    """Return the figures of a route, provider, chain or token. Raises Http404 if nothing is known of it."""
    counts, period = incidents.still_open(), Period(picked.values["window"])
    with reading():
        found = queries.report(scope, period, counts)
        is_known = bool(found.total.funded) or queries.is_known(scope)
    if not is_known and not _is_listed(scope):
        raise Http404("The local copy has no transfers of this.")
    return _shown(found, bar=period.step)


def _shown(found: queries.Report, *, bar: int, marked: Sequence[tuple[datetime, datetime]] = ()) -> Report:
    total, *rows = of_rows([found.total, *found.rows])
    reasons = of_reasons(found.reasons, failed=found.total.failed)
    chart = charts.chart(found.series, length=timedelta(seconds=bar), marked=marked)
    scopes.learn(token.chain for *pair, _, _ in found.tokens for token in pair if token)
    tokens = []
    for origin, destination, count, sent in found.tokens:
        first, second = (each and scopes.identity(each.chain, each.address) for each in (origin, destination))
        tokens.append((first, second, count, origin and _amount(origin, sent)))
    return Report(total, chart, rows, reasons, tokens)


def of_rows(found: Sequence[PeriodFigures]) -> list[FigureRow]:
    return list(map(FigureRow, named(each.scope for each in found), found))


def of_reasons(found: Sequence[FailureCount], *, failed: int) -> Sequence[ReasonRow]:
    """Return why so many failed, most frequent first. Rare reasons are one row at the end."""
    rows = []
    for step, reason, example, count in found:
        share = amounts.share(count, max(failed, count))
        called = step_name(step) or "Unknown step"
        rows.append(ReasonRow(called, shown_reason(reason), shown_reason(example), count, share, reason))
    if rest := failed - sum(each.count for each in rows):
        rows.append(ReasonRow("", OTHER, OTHER, rest, amounts.share(rest, failed)))
    return rows


def shown_reason(written: str) -> str:
    return text.reason(written).shown if written else NO_REASON


def step_name(step: int | None) -> str:
    """Return the name of a step by its position, or "" if it is unknown."""
    return STEPS[step] if step is not None and step < len(STEPS) else ""


def _is_listed(scope: ScopeName) -> bool:
    """Whether other pages link to this: a provider or chain of the service, or anything on such a chain."""
    if scope.level is Level.PROVIDER:
        return scope.providers in names.KNOWN_PROVIDERS
    is_token = scope.level is Level.TOKEN and hashes.any_address(scope.token) is not None
    number = scopes.number_of(scope.origin_chain) if scope.level is Level.CHAIN or is_token else None
    return app.current().catalog.chain(number) is not None


def performance(request: HttpRequest, transfer: Transfer) -> dict[str, Any] | None:
    """Return how a transfer compares with its route in seven days, or in one if the copy is younger.

    `elapsed` is how long it took, or has been open, and `faster` how many of 100 delivered transfers took less time.
    None if this client may not see it, if too few transfers ended, if the time is incomplete or can't be read.
    """
    if not operator_auth.may_see_insight(request):
        return None
    scope = ScopeName(Level.ROUTE, *transfer.route)
    try:
        with reading():
            found = (queries.performance(scope, period=period, now=transfer.now) for period in COMPARED)
            best = next((each for each in found if each.success), None)
    except CopyUnreadable:
        return None
    if best is None:
        return None
    [row] = of_rows([best])
    has_taken = transfer.is_delivered or (transfer.outcome is Outcome.OPEN and transfer.has_arrived)
    elapsed = transfer.elapsed if has_taken else None
    faster = None if elapsed is None else best.longer_than(elapsed)
    return {
        "period": PERIODS[best.period],
        "row": row,
        "elapsed": elapsed,
        "faster": faster,
        "is_usual": faster is not None and faster < UNUSUAL and not transfer.is_late,
    }


def transfer_rows(found: Sequence[models.Transfer], *, late_at: datetime | None = None) -> list[dict[str, Any]]:
    """Return transfers that ended with their names, or those that are late at a time, with how late they are."""
    scopes.learn(each.origin_token.chain for each in found if each.origin_token)
    rows = []
    for each, scope in zip(found, named(ScopeName(Level.ROUTE, *each.route.key) for each in found), strict=True):
        elapsed = late_at - each.began_at if late_at else timedelta()
        factor = elapsed / each.route.limit
        rows.append(
            {
                "transfer": each,
                "scope": scope,
                "status": statuses.intent(each.status or None, now=datetime.now(UTC)),
                "sent": _amount(each.origin_token.key, int(each.sent)) if each.origin_token and each.sent else None,
                "step": step_name(each.failed_step),
                "reason": text.reason(each.reason.example).shown if not late_at and each.reason else "",
                "elapsed": elapsed,
                "basis": BASES[Basis(each.route.late_by)],
                "factor": f"{factor:.1f}" if factor < 10 else f"{factor:,.0f}",
            }
        )
    return rows


def _amount(token: TokenKey, value: int) -> Amount:
    return Money(value, scopes.number_of(token.chain), token.address, names=app.current().catalog).amount
