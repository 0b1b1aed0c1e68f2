"""Incidents and open transfers of the mirror, for pages: with the names of what incidents are of."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.http import Http404

from intents_ui import app
from intents_ui.mirror import coverage, readonly
from intents_ui.mirror.figures import queries as figures
from intents_ui.mirror.figures.queries import Course, OpenCounts
from intents_ui.mirror.figures.scopes import ScopeName, scope_of_token, scopes_of
from intents_ui.mirror.incidents import keeper
from intents_ui.mirror.incidents.detector import Incident
from intents_ui.mirror.readonly import CopyUnreadable, reading, understanding
from intents_ui.mirror.windows import optional_utc, utc
from intents_ui.transfers.incidents import IncidentFacts
from intents_ui.transfers.transfer import Transfer
from intents_ui.web.scopes import NamedScope, named

LONGEST_NUMBER = 15  # digits
SAME = ("number", "kind", "state", "bad", "owners", "usual", "is_alert")  # as the mirror has them


@dataclass(frozen=True, kw_only=True)
class ListedIncident(IncidentFacts):
    """An incident with what it is of, when it was noticed, and the routes where it was seen."""

    scope: NamedScope
    opened: datetime
    routes: Sequence[NamedScope]


@dataclass(frozen=True)
class RecentIncidents:
    """The newest incidents, and when they were last judged.

    Nothing opens or closes since `unknown_since`, or while the mirror is learning what is usual.
    """

    judged: datetime | None
    unknown_since: datetime | None
    is_learning: bool
    incidents: Sequence[ListedIncident]

    @property
    def open_now(self) -> Sequence[ListedIncident]:
        return [each for each in self.incidents if each.closed is None]

    @property
    def over(self) -> Sequence[ListedIncident]:
        return [each for each in self.incidents if each.closed is not None]

    def on_route(self, transfer: Transfer) -> tuple[ListedIncident, ...]:
        """Return the incidents of a transfer's route and, if it is one of a token, of its token; the newest first."""
        ends, listed = (transfer.origin_chain_id, transfer.destination_chain_id), transfer.summary
        addresses = listed.origin_token_address, listed.destination_token_address
        tokens = {scope_of_token(str(chain), address or "") for chain, address in zip(ends, addresses, strict=True)}
        return tuple(
            each
            for each in self.incidents
            if any(on.scope.route == transfer.route for on in each.routes)
            and (not each.scope.scope.token or each.scope.scope in tokens)
        )

    def of(self, scope: ScopeName) -> Sequence[ListedIncident]:
        """Return the open incidents of a scope or of a part of it, and those that were seen on it."""
        return [
            each
            for each in self.open_now
            if each.scope.scope == scope or any(scope in scopes_of(on.scope.route) for on in each.routes)
        ]


def recent() -> RecentIncidents | None:
    """Return the incidents as read in the last seconds. None if the database can't be read."""

    def read() -> RecentIncidents | None:
        try:
            with understanding():
                with reading():
                    judgment, found = keeper.judgment(), keeper.recent_incidents()
                judged, unknown_since = (optional_utc(judgment.get(each)) for each in ("judged", "unknown_since"))
                return RecentIncidents(judged, unknown_since, judgment["is_learning"], listed(found))
        except CopyUnreadable:
            return None

    return app.current().recent_reads.get("incidents", read, max_age=readonly.MAX_AGE)


def read() -> RecentIncidents:
    """Return the same. Raises CopyUnreadable."""
    found = recent()
    if found is None:
        raise CopyUnreadable("incidents")
    return found


def listed(found: Sequence[Incident]) -> list[ListedIncident]:
    """Name incidents. The names of their chains are loaded together."""
    names = iter(named(scope for each in found for scope in (each.scope, *sorted(each.routes))))
    return [
        ListedIncident(
            title=whole.title,
            since=utc(each.since),
            recovered=optional_utc(each.recovered),
            closed=optional_utc(each.closed),
            scope=whole,
            opened=utc(each.opened),
            routes=[next(names) for _ in each.routes],
            **{name: getattr(each, name) for name in SAME},
        )
        for each, whole in ((each, next(names)) for each in found)
    ]


def report(number: str) -> tuple[ListedIncident, Course]:
    """Return an incident by its digits, and what ended since it began.

    Raises Http404 for an unknown number, and CopyUnreadable.
    """
    with reading():
        found = next(iter(keeper.stored(pk=int(number))), None) if len(number) <= LONGEST_NUMBER else None
        if found is None:
            raise Http404("There is no incident with this number.")
        until = optional_utc(found.closed) or coverage.service_now()
        course = figures.course(found.scope, since=utc(found.since), until=until)
    return listed([found])[0], course


def still_open() -> OpenCounts:
    """Return the counts of open transfers as read in the last seconds. Raises CopyUnreadable."""

    def read() -> OpenCounts:
        with reading():
            return figures.count_open(now=coverage.service_now())

    return app.current().recent_reads.get("open", read, max_age=readonly.MAX_AGE)
