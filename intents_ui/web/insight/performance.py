"""How a transfer compares with those delivered on its route lately, by the mirror."""

from dataclasses import dataclass
from datetime import timedelta

from django.http import HttpRequest

from intents_ui.display.transfers.situation import Situation
from intents_ui.mirror.figures import queries
from intents_ui.mirror.figures.scopes import Level, ScopeName
from intents_ui.mirror.figures.snapshots import Period
from intents_ui.mirror.readonly import CopyUnreadable, reading
from intents_ui.service.wire.outcome import Outcome
from intents_ui.web import operator_auth
from intents_ui.web.insight import tables
from intents_ui.web.insight.tables import FigureRow

PERIODS = {Period.WEEK: "7 days", Period.DAY: "24 hours"}


@dataclass(frozen=True)
class RoutePerformance:
    """Figures of a route in a period, `7 days` or `24 hours`, and a transfer's place among them.

    `elapsed` is how long the transfer took, or has been open. `faster` is how many of 100 delivered transfers took less
    time. Both are None if unknown.
    """

    period: str
    row: FigureRow
    elapsed: timedelta | None
    faster: int | None


def of(request: HttpRequest, situation: Situation) -> RoutePerformance | None:
    """Return the performance of a transfer's route in seven days, or in one if the copy is younger.

    None if this client may not see it, if too few transfers ended, if the time is incomplete or if the database can't
    be read.
    """
    if not operator_auth.may_see_insight(request):
        return None
    scope = ScopeName(Level.ROUTE, *situation.facts.route)
    try:
        with reading():
            found = (queries.performance(scope, period=period, now=situation.now) for period in PERIODS)
            figures = next((each for each in found if each.success), None)
    except CopyUnreadable:
        return None
    if figures is None:
        return None
    [row] = tables.of_rows([figures])
    elapsed = elapsed_of(situation)
    return RoutePerformance(
        PERIODS[figures.period], row, elapsed, None if elapsed is None else figures.longer_than(elapsed)
    )


def elapsed_of(situation: Situation) -> timedelta | None:
    """Return how long a delivered transfer took, or an open one with its deposit has taken until now."""
    facts = situation.facts
    if facts.started_at is None:
        return None
    if facts.is_delivered:
        return None if facts.finished_at is None else max(facts.finished_at - facts.started_at, timedelta())
    is_open = situation.outcome is Outcome.OPEN and facts.has_arrived
    return situation.now - facts.started_at if is_open else None
