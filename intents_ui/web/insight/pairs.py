"""Success rates and medians between pairs of chains, for the route matrix."""

from collections.abc import Mapping
from datetime import UTC, datetime

from django.http import HttpRequest

from intents_ui.display.insight.scopes import chain_ids
from intents_ui.display.routes.matrix import PairPerformance
from intents_ui.mirror.figures import queries
from intents_ui.mirror.figures.rollups import Period
from intents_ui.mirror.readonly import CopyUnreadable, reading
from intents_ui.web import operator_auth
from intents_ui.web.insight import tables


def by_pair(request: HttpRequest) -> Mapping[tuple[int, int], PairPerformance]:
    """Return the figures of 24 hours that this client may see. Empty if the database can't be read."""
    if not operator_auth.may_see_insight(request):
        return {}
    try:
        with reading():
            found = queries.pairs(Period.DAY, now=datetime.now(UTC))
    except CopyUnreadable:
        return {}
    known = {}
    for pair, figures in found.items():
        rate, _ = tables.rate(figures)
        if rate and len(numbers := chain_ids(pair)) == len(pair):
            known[numbers[0], numbers[1]] = PairPerformance(rate, figures.median, figures.ended)
    return known
