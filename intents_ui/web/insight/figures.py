"""Figures as read in the last seconds. All functions raise CopyUnreadable."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from django.http import Http404

from intents_ui import wiring
from intents_ui.display.formatting import hashes
from intents_ui.display.insight.scopes import chain_ids
from intents_ui.display.tokens import providers
from intents_ui.mirror import readonly
from intents_ui.mirror.figures import queries
from intents_ui.mirror.figures.lateness import OpenCounts, count_open
from intents_ui.mirror.figures.queries import ScopeReport
from intents_ui.mirror.figures.scopes import Level, ScopeName
from intents_ui.mirror.incidents.queries import Judgment
from intents_ui.mirror.readonly import reading
from intents_ui.web.insight import incidents, tables
from intents_ui.web.insight.choices import Choices
from intents_ui.web.insight.incidents import ListedIncident
from intents_ui.web.insight.tables import FigureRow, ReasonRow
from intents_ui.web.recent import reads


@dataclass(frozen=True)
class Overview:
    """Figures of the whole service, and of its routes, providers, chains or tokens."""

    picked: Choices
    total: FigureRow
    rows: Sequence[FigureRow]
    reasons: Sequence[ReasonRow]
    judgment: Judgment
    incidents: Sequence[ListedIncident]


def overview(picked: Choices) -> Overview:
    key = "figures", picked.window, picked.by, picked.order
    found = reads().get(key, lambda: _counted(picked), max_age=readonly.MAX_AGE)
    recent = incidents.read()
    return Overview(picked, *found, recent.judgment, recent.open_now)


def _counted(picked: Choices) -> tuple[FigureRow, Sequence[FigureRow], Sequence[ReasonRow]]:
    """Return the total, the rows and the failure reasons."""
    now, counts = datetime.now(UTC), still_open()
    with reading():
        found = queries.overview(picked.window, now=now, level=picked.by, order=picked.order, still_open=counts)
    [total] = tables.of_rows([found.total])
    return total, tables.of_rows(found.rows), tables.of_reasons(found.reasons, found.total)


def report(scope: ScopeName, picked: Choices) -> ScopeReport:
    """Return the figures of a route, provider, chain or token. Raises Http404 if nothing is known of it."""
    counts = still_open()
    with reading():
        found = queries.report(scope, picked.window, now=datetime.now(UTC), still_open=counts)
        is_known = bool(found.figures.funded) or queries.is_known(scope)
    if not is_known and not _is_listed(scope):
        raise Http404("The local copy has no transfers of this.")
    return found


def still_open() -> OpenCounts:
    """Return the counts of open transfers as read in the last seconds."""
    return reads().get("open", _count_open, max_age=readonly.MAX_AGE)


def _count_open() -> OpenCounts:
    with reading():
        return count_open(now=datetime.now(UTC), slow=providers.SLOW)


def _is_listed(scope: ScopeName) -> bool:
    """Whether other pages link to this: a provider or chain of the service, or anything on such a chain."""
    if scope.level is Level.PROVIDER:
        return scope.providers in providers.KNOWN
    is_token = scope.level is Level.TOKEN and hashes.any_address(scope.token) is not None
    numbers = chain_ids((scope.origin_chain,)) if scope.level is Level.CHAIN or is_token else []
    return any(wiring.catalog().chain(number) for number in numbers)
