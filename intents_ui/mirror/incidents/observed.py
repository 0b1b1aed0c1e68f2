"""What ended lately on a route, with a provider or on a chain, compared with the usual."""

from collections.abc import Iterable, Sequence

from intents_ui.mirror.figures.scopes import Level
from intents_ui.mirror.incidents.counting import (
    LONGEST,
    SERVICE,
    Counts,
    Ended,
    Ending,
    OwnerCounts,
    Routes,
    Scope,
    route_scope,
)
from intents_ui.mirror.incidents.likelihood import likelihood_ratio
from intents_ui.mirror.incidents.rules import (
    ALERTS,
    CHANCE,
    CLOSES_WITH,
    LEAST_ROUTES,
    Evidence,
    Kind,
    Knowledge,
    chance,
    is_calm,
    is_worse,
    weighed,
)
from intents_ui.mirror.incidents.usual import Usual


class Observed:
    """Endings of the last six hours. `place` is always that of a window, and `covered` are routes to leave out."""

    def __init__(self, routes: Routes, usual: Usual) -> None:
        self._routes = routes
        self._usual = usual
        self._counts: dict[Scope, OwnerCounts] = {}
        self._chance = dict.fromkeys(Kind, 0.0)

    def add(self, ending: Ending, scopes: Iterable[Scope]) -> None:
        """Count an ending in each of its scopes."""
        for scope in scopes:
            counts = self._counts.get(scope)
            if counts is None:
                counts = self._counts[scope] = OwnerCounts()
            counts.add(ending)

    def tidy(self, *, now: int) -> None:
        """Delete what is too old."""
        for counts in self._counts.values():
            counts.tidy(now=now)

    def set_limits(self) -> None:
        """Set by how little chance must explain an incident, from the bad endings that are usual in a week."""
        owners = self._usual.per_week(SERVICE)
        self._chance = {kind: chance(kind, owners * self.share(SERVICE, kind)) for kind in Kind if kind in CHANCE}

    def last_at(self, scope: Scope) -> int:
        """Return when the last transfer ended, or 0."""
        counts = self._counts.get(scope)
        return counts.last_at if counts else 0

    def newest(self, scope: Scope, *, since: int) -> list[Ended]:
        """Return the endings since a time, newest first."""
        counts = self._counts.get(scope)
        return list(counts.newest(since=since)) if counts else []

    def share(self, scope: Scope, kind: Kind) -> float:
        """Return the usual share."""
        return self._usual.share(scope, late=kind is Kind.SLOW)

    def evidence(
        self, scope: Scope, kind: Kind, now: int, places: Sequence[int], covered: Sequence[set[int]]
    ) -> Evidence | None:
        """Return the best evidence for an incident of a scope, besides the routes that other incidents cover."""
        usual = self.share(scope, kind)
        best = None
        for place in places:
            owners, bad = self.rest(scope, kind, place, now, covered[place])
            found = weighed(scope, place, bad=bad, owners=owners, usual=usual, limit=self._chance[kind])
            if found is None or (best and best.ratio >= found.ratio):
                continue
            if scope.level is Level.ROUTE or len(self.worse(scope, kind, place, now, covered[place])) >= LEAST_ROUTES:
                best = found
        return best

    def is_alert(self, evidence: Evidence, kind: Kind) -> bool:
        """Return whether chance explains it even less."""
        return evidence.tail < self._chance[kind] * ALERTS

    def rest(self, scope: Scope, kind: Kind, place: int, now: int, covered: set[int]) -> tuple[int, int]:
        """Return the owners of a scope, and those with bad endings, besides the covered routes."""
        routes = self._routes.within(scope)
        if covered and routes <= covered:
            return 0, 0
        counts = self._counted(scope, place, now)
        owners, bad = counts.owners, _bad(counts, kind)
        for route in routes & covered if covered else ():
            one = self._counted(route_scope(route), place, now)
            owners, bad = owners - one.owners, bad - _bad(one, kind)
        return max(0, owners), max(0, bad)

    def worse(self, scope: Scope, kind: Kind, place: int, now: int, covered: Iterable[int] = ()) -> set[int]:
        """Return the routes of a scope that look worse than usual in a window."""
        found = set()
        for route in self._routes.within(scope).difference(covered):
            one = route_scope(route)
            counts = self._counted(one, place, now)
            bad = _bad(counts, kind)
            if bad and is_worse(bad, counts.owners, self.share(one, kind)):
                found.add(route)
        return found

    def _counted(self, scope: Scope, place: int, now: int) -> Counts:
        counts = self._counts.get(scope)
        return counts.counts(place, now=now) if counts else Counts()

    def calm_since(
        self, scope: Scope, kind: Kind, now: int, knowledge: Knowledge, after: int, *, before: float = 0.0
    ) -> int | None:
        """Return when the last bad ending was, if so many seconds and enough owners since then were as usual.

        `before` is the share that was bad during the incident.

        So it is if there was none in the longest window.
        """
        counts = self._counts.get(scope)
        usual = self.share(scope, kind)
        firsts: dict[object, bool] = {}
        for each in counts.newest(since=now - LONGEST) if counts else ():
            if each.at < now - after and len(firsts) >= CLOSES_WITH:
                is_over = is_calm(sum(firsts.values()), len(firsts), usual, before=before) and not knowledge.has_hole(
                    each.at, now
                )
                return _last_bad(counts, kind, each.at) if is_over else None
            firsts[each.owner] = _is_bad(each, kind)
        is_forgotten = not any(firsts.values()) and not knowledge.has_hole(now - LONGEST, now)
        return now - LONGEST if is_forgotten else None

    def since(self, scope: Scope, kind: Kind, now: int) -> int:
        """Return the time from which on the endings are least like the usual. Repetitions of an owner count once."""
        usual = self.share(scope, kind)
        ended: list[Ended] = []
        last: dict[object, bool] = {}
        for each in reversed(self.newest(scope, since=now - LONGEST)):
            if last.get(each.owner) is not _is_bad(each, kind):
                last[each.owner] = _is_bad(each, kind)
                ended.append(each)
        best, since, bad = 0.0, now, 0
        for owners, each in enumerate(reversed(ended), 1):
            if _is_bad(each, kind):
                bad += 1
                ratio = likelihood_ratio(bad, owners, usual)
                if ratio > best:
                    best, since = ratio, each.at
        return since

    def bad_since(self, scope: Scope, kind: Kind, since: int, now: int) -> tuple[int, int]:
        """Return the owners with bad endings, and all owners, since a time of the last six hours."""
        found: dict[object, bool] = {}
        for each in self.newest(scope, since=max(since, now - LONGEST)):
            found[each.owner] = _is_bad(each, kind)
        return sum(found.values()), len(found)


def _bad(counts: Counts, kind: Kind) -> int:
    return counts.late if kind is Kind.SLOW else counts.failed


def _is_bad(ended: Ended, kind: Kind) -> bool:
    return ended.is_late if kind is Kind.SLOW else ended.is_failed


def _last_bad(counts: OwnerCounts | None, kind: Kind, until: int) -> int:
    """Return when the last bad ending was, until a time."""
    for each in counts.newest() if counts else ():
        if each.at <= until and _is_bad(each, kind):
            return each.at
    return until
