"""Opens, changes and closes incidents, minute by minute. Has neither a clock nor a database."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from intents_ui.mirror.incidents.counting import (
    LONGEST,
    WINDOWS,
    Counts,
    Ended,
    Ending,
    Level,
    OwnerCounts,
    Routes,
    Scope,
    route_scope,
)
from intents_ui.mirror.incidents.likelihood import likelihood_ratio
from intents_ui.mirror.incidents.rules import (
    ALERTS,
    BETTER,
    CLOSES_AFTER,
    CLOSES_WITH,
    CONTINUES,
    CONTINUES_WITHIN,
    EXPECTED_OWNERS,
    LEAST_ROUTES,
    RECOVERING_AFTER,
    SILENT_AFTER,
    UNUSUAL_FOR,
    YOUNG,
    Evidence,
    Incident,
    Kind,
    Knowledge,
    State,
    is_calm,
    is_worse,
    weighed,
)
from intents_ui.mirror.incidents.usual import DAYS, Usual
from intents_ui.mirror.windows import DAY, HOUR

LEVELS = list(Level)
# Kinds whose incidents explain another kind of incident.
EXPLAINED_BY = {
    Kind.FAILING: {Kind.FAILING},
    Kind.SLOW: {Kind.SLOW, Kind.FAILING},
    Kind.SILENT: {Kind.SILENT},
}
EVERYWHERE = range(len(WINDOWS))
ALL_KNOWN = Knowledge()


class Detector:
    """The incidents of the service, as of the last minute that was judged.

    `incidents` are those of the last two weeks. `start`: from when on it is told all endings.
    """

    def __init__(self, routes: Routes, usual: Usual, *, start: int, incidents: Iterable[Incident] = ()) -> None:
        self.routes = routes
        self.usual = usual
        self.unknown_since: int | None = None
        self._start = start
        self._incidents = {each.number: each for each in incidents}
        self._counts: dict[Scope, OwnerCounts] = {}
        self._touched: dict[Kind, dict[Scope, None]] = {Kind.FAILING: {}, Kind.SLOW: {}}
        self._heard: list[Scope] = []
        self._hour = 0

    @property
    def incidents(self) -> Sequence[Incident]:
        return list(self._incidents.values())

    def learn(self, hour: int, found: dict[int, Counts]) -> None:
        """Learn an hour of what is usual, without the routes that had an incident."""
        unusual = {route for each in self._incidents.values() if each.is_unusual(hour) for route in each.routes}
        self.usual.learn(hour, {route: counts for route, counts in found.items() if route not in unusual})

    def observe(self, endings: Iterable[Ending], *, is_past: bool = False) -> None:
        """Count endings, in their order. Those of the past open no incident."""
        for ending in endings:
            scopes = self.routes.scopes(ending.route)
            for scope in scopes:
                counts = self._counts.get(scope)
                if counts is None:
                    counts = self._counts[scope] = OwnerCounts()
                counts.add(ending)
            if ending.is_failed and not is_past:
                self._touched[Kind.FAILING].update(dict.fromkeys(scopes))
            if ending.is_late and not is_past:
                self._touched[Kind.SLOW].update(dict.fromkeys(scopes))

    def judge(self, now: int, knowledge: Knowledge = ALL_KNOWN) -> list[Incident]:
        """Return the incidents that have opened, changed or closed."""
        touched = {kind: list(scopes) for kind, scopes in self._touched.items()}
        for each in self._touched.values():
            each.clear()
        unknown_since = knowledge.unknown_since(now=now, shortest=WINDOWS[0])
        if unknown_since is not None:
            self.unknown_since = min(unknown_since, self.unknown_since or unknown_since)
            return []
        self.unknown_since = None
        self._keep_up(now)
        before = dict(self._incidents)
        places = [place for place in EVERYWHERE if not knowledge.has_hole(now - WINDOWS[place], now)]
        for incident in self._open():
            if incident.kind is Kind.SILENT:
                self._follow_silence(incident, now, knowledge)
            else:
                self._follow(incident, now, knowledge, places)
        for kind, scopes in touched.items():
            self._continue(kind, scopes, now)
            self._find(kind, scopes, now, knowledge, places)
        self._find_silent(now, knowledge)
        self._fold(now)
        return [each for number, each in self._incidents.items() if before.get(number) != each]

    # What opens

    def _continue(self, kind: Kind, scopes: Sequence[Scope], now: int) -> None:
        """Open incidents again that have just closed."""
        for each in list(self._incidents.values()):
            if each.is_open or each.folded_into or each.kind is not kind or each.scope not in scopes:
                continue
            if now - (each.closed or 0) > CONTINUES_WITHIN:
                continue
            bad, owners = self._bad_since(each.scope, kind, (each.recovered or 0) + 1, now)
            if weighed(each.scope, 0, bad=bad, owners=owners, usual=each.usual, limit=CONTINUES):
                self._put(replace(each, state=State(kind), recovered=None, closed=None), now)

    def _find(self, kind: Kind, scopes: Sequence[Scope], now: int, knowledge: Knowledge, places: Sequence[int]) -> None:
        """Open incidents of scopes with new bad endings. The one that explains most comes first."""
        while scopes:
            covered = self._covered(kind, now)
            found = [each for scope in scopes if (each := self._evidence(scope, kind, now, places, covered))]
            if not found:
                return
            best = max(found, key=lambda each: (each.ratio, -LEVELS.index(each.scope.level)))
            scopes = [each.scope for each in found if each is not best]
            if self._calm_since(best.scope, kind, now, knowledge, CLOSES_AFTER) is None:
                self._begin(best, kind, now, covered[best.place])

    def _evidence(
        self, scope: Scope, kind: Kind, now: int, places: Sequence[int], covered: Sequence[set[int]]
    ) -> Evidence | None:
        """Return the best evidence for an incident of a scope, besides the routes that other incidents cover."""
        usual = self.usual.share(scope, late=kind is Kind.SLOW)
        best = None
        for place in places:
            owners, bad = self._rest(scope, kind, place, now, covered[place])
            found = weighed(scope, place, bad=bad, owners=owners, usual=usual)
            if found is None or (best and best.ratio >= found.ratio):
                continue
            if scope.level is Level.ROUTE or len(self._worse(scope, kind, place, now, covered[place])) >= LEAST_ROUTES:
                best = found
        return best

    def _rest(self, scope: Scope, kind: Kind, place: int, now: int, covered: set[int]) -> tuple[int, int]:
        """Return the owners of a scope, and those with bad endings, besides the covered routes."""
        routes = self.routes.within(scope)
        if covered and routes <= covered:
            return 0, 0
        counts = self._counts[scope].counts(place, now=now)
        owners, bad = counts.owners, _bad(counts, kind)
        for route in routes & covered if covered else ():
            one = self._counted(route_scope(route), place, now)
            owners, bad = owners - one.owners, bad - _bad(one, kind)
        return max(0, owners), max(0, bad)

    def _worse(self, scope: Scope, kind: Kind, place: int, now: int, covered: Iterable[int] = ()) -> set[int]:
        """Return the routes of a scope that look worse than usual in a window."""
        found = set()
        for route in self.routes.within(scope).difference(covered):
            one = route_scope(route)
            counts = self._counted(one, place, now)
            bad = _bad(counts, kind)
            if bad and is_worse(bad, counts.owners, self.usual.share(one, late=kind is Kind.SLOW)):
                found.add(route)
        return found

    def _counted(self, scope: Scope, place: int, now: int) -> Counts:
        counts = self._counts.get(scope)
        return counts.counts(place, now=now) if counts else Counts()

    def _covered(self, kind: Kind, now: int, *, besides: int | None = None) -> list[set[int]]:
        """Return the routes of other incidents, for each window: those that it contains bad endings of."""
        found: list[set[int]] = [set() for _ in WINDOWS]
        for each in self._incidents.values():
            if each.number == besides or each.kind not in EXPLAINED_BY[kind]:
                continue
            for place, length in enumerate(WINDOWS):
                if each.lasts_after(now - length):
                    found[place] |= self.routes.within(each.scope)
        return found

    def _begin(self, found: Evidence, kind: Kind, now: int, covered: set[int]) -> None:
        scope = found.scope
        since = self._since(scope, kind, now, covered)
        bad, owners = self._bad_since(scope, kind, since, now)
        self._put(
            Incident(
                number=self._next_number(),
                scope=scope,
                kind=kind,
                state=State(kind),
                since=since,
                opened=now,
                bad=bad,
                owners=owners,
                usual=self.usual.share(scope, late=kind is Kind.SLOW),
                routes=frozenset(self._worse(scope, kind, found.place, now, covered)),
                is_alert=found.tail < ALERTS,
            ),
            now,
        )

    def _find_silent(self, now: int, knowledge: Knowledge) -> None:
        quiet: dict[Scope, int] = {}
        known_since = max(self._start, now - LONGEST, *(end for start, end in knowledge.holes if start < now))
        for scope in self._heard:
            counts = self._counts.get(scope)
            since = max(counts.last_at if counts else 0, known_since)
            if now - since >= SILENT_AFTER:
                quiet[scope] = since
        while quiet:
            covered = self._covered(Kind.SILENT, now)[0]
            found = {scope: self._missed(scope, since, now, covered) for scope, since in quiet.items()}
            scope = max(quiet, key=lambda each: (found[each], -LEVELS.index(each.level)))
            if found[scope] < EXPECTED_OWNERS:
                return
            since = quiet.pop(scope)
            routes = {
                route
                for route in self.routes.within(scope) - covered
                if self.usual.expected(route_scope(route), since=since, until=now) >= 1
            }
            if scope.level is not Level.ROUTE and len(routes) < LEAST_ROUTES:
                continue
            opened = Incident(
                number=self._next_number(),
                scope=scope,
                kind=Kind.SILENT,
                state=State.SILENT,
                since=since,
                opened=now,
                bad=0,
                owners=0,
                usual=found[scope],
                routes=frozenset(routes),
                is_alert=True,
            )
            self._put(opened, now)

    def _missed(self, scope: Scope, since: int, now: int, covered: set[int]) -> float:
        """Return the owners that were expected, besides the routes that other incidents cover."""
        routes = self.routes.within(scope)
        if routes <= covered:
            return 0.0
        others = sum(
            self.usual.expected(route_scope(route), since=since, until=now) for route in sorted(routes & covered)
        )
        return self.usual.expected(scope, since=since, until=now) - others

    # What is open

    def _follow(self, incident: Incident, now: int, knowledge: Knowledge, places: Sequence[int]) -> None:
        kind = incident.kind
        place = next((each for each in EVERYWHERE if now - WINDOWS[each] <= incident.since), EVERYWHERE[-1])
        covered = self._covered(kind, now, besides=incident.number)
        scope, since, is_alert = incident.scope, incident.since, incident.is_alert
        if now - incident.opened < YOUNG and place in places:
            scope = self._best_scope(incident, place, now, covered)
            since = min(since, self._since(scope, kind, now, covered[-1])) if scope == incident.scope else since
        if not is_alert:
            evidence = self._evidence(scope, kind, now, places, covered)
            is_alert = evidence is not None and evidence.tail < ALERTS
        state, recovered, closed = State(kind), None, None
        for after, calm in ((CLOSES_AFTER, State.OVER), (RECOVERING_AFTER, State.RECOVERING)):
            recovered = self._calm_since(scope, kind, now, knowledge, after)
            if recovered is not None:
                state = calm
                closed = now if calm is State.OVER else None
                break
        bad, owners = incident.bad, incident.owners
        routes = incident.routes
        if state is State(kind):
            bad, owners = self._bad_since(scope, kind, since, now)
            routes = frozenset(self._worse(scope, kind, place, now) | (routes if scope == incident.scope else set()))
        self._put(
            replace(
                incident,
                scope=scope,
                state=state,
                since=since,
                bad=bad,
                owners=owners,
                routes=routes,
                is_alert=is_alert,
                recovered=recovered,
                closed=closed,
            ),
            now,
        )

    def _best_scope(self, incident: Incident, place: int, now: int, covered: Sequence[set[int]]) -> Scope:
        """Return the scope that explains a young incident best."""
        kind = incident.kind
        usual = self.usual.share(incident.scope, late=kind is Kind.SLOW)
        owners, bad = self._rest(incident.scope, kind, place, now, covered[place])
        present = likelihood_ratio(bad, owners, usual)
        others = {scope for route in incident.routes for scope in self.routes.scopes(route)} - {incident.scope}
        found = [each for scope in sorted(others) if (each := self._evidence(scope, kind, now, [place], covered))]
        best = max(found, key=lambda each: each.ratio, default=None)
        return best.scope if best and best.ratio > present + BETTER else incident.scope

    def _follow_silence(self, incident: Incident, now: int, knowledge: Knowledge) -> None:
        counts = self._counts.get(incident.scope)
        ended = list(counts.newest(since=max(incident.since + 1, now - LONGEST))) if counts else []
        resumed = incident.recovered or (ended[-1].at if ended else None)
        if resumed is None:
            expected = self.usual.expected(incident.scope, since=now - DAY, until=now)
            if expected < EXPECTED_OWNERS:  # what was silent for so long isn't expected any more
                self._put(replace(incident, state=State.OVER, recovered=now, closed=now), now)
            return
        age, owners = now - resumed, len({each.owner for each in ended})
        is_known = not knowledge.has_hole(now - CLOSES_AFTER, now)
        is_over = is_known and (age >= LONGEST or (age >= CLOSES_AFTER and owners >= CLOSES_WITH))
        state = State.OVER if is_over else State.RECOVERING
        self._put(replace(incident, state=state, recovered=resumed, closed=now if is_over else None), now)

    def _calm_since(self, scope: Scope, kind: Kind, now: int, knowledge: Knowledge, after: int) -> int | None:
        """Return when the last bad ending was, if so many seconds and enough owners since then were as usual."""
        counts = self._counts.get(scope)
        ended = counts.newest(since=now - LONGEST) if counts else iter(())
        firsts: dict[object, bool] = {}
        start = now - LONGEST
        for each in ended:
            if each.at < now - after and len(firsts) >= CLOSES_WITH:
                start = each.at
                break
            firsts[each.owner] = _is_bad(each, kind)
        bad, usual = sum(firsts.values()), self.usual.share(scope, late=kind is Kind.SLOW)
        is_enough = len(firsts) >= CLOSES_WITH or bad == 0
        if not is_enough or not is_calm(bad, len(firsts), usual) or knowledge.has_hole(start, now):
            return None
        return start if start == now - LONGEST else _last_bad(counts, kind, start)

    def _since(self, scope: Scope, kind: Kind, now: int, covered: set[int]) -> int:
        """Return the time from which on the endings are least like the usual. Repetitions of an owner count once."""
        usual = self.usual.share(scope, late=kind is Kind.SLOW)
        ended: list[Ended] = []
        last: dict[object, bool] = {}
        for each in reversed(list(self._counts[scope].newest(since=now - LONGEST))):
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

    def _bad_since(self, scope: Scope, kind: Kind, since: int, now: int) -> tuple[int, int]:
        """Return the owners with bad endings, and all owners, since a time of the last six hours."""
        found: dict[object, bool] = {}
        for each in self._counts[scope].newest(since=max(since, now - LONGEST)) if scope in self._counts else ():
            found[each.owner] = _is_bad(each, kind)
        return sum(found.values()), len(found)

    # Incidents

    def _open(self) -> Iterator[Incident]:
        for number in list(self._incidents):
            if self._incidents[number].is_open:  # it may have been folded meanwhile
                yield self._incidents[number]

    def _put(self, incident: Incident, now: int) -> None:
        """Store an incident. It continues or absorbs those that it contains."""
        before = self._incidents.get(incident.number)
        is_same = before and before.is_open and before.scope == incident.scope
        if incident.is_open and not is_same:
            incident = self._united(incident, now)
        self._incidents[incident.number] = incident
        if incident.kind is not Kind.SILENT:
            for route in incident.routes - (before.routes if before else frozenset()):
                until = min(now, incident.since + UNUSUAL_FOR)
                self.usual.forget(route, since=incident.since // HOUR, until=until // HOUR)

    def _united(self, incident: Incident, now: int) -> Incident:
        """Return an incident that is the continuation of what it contains or of what has just closed there."""
        routes = self.routes.within(incident.scope)
        older = [
            each
            for each in self._incidents.values()
            if each.number != incident.number
            and each.folded_into is None
            and (each.kind is incident.kind or (incident.kind is Kind.FAILING and each.kind is Kind.SLOW))
            and (
                self.routes.within(each.scope) <= routes
                if each.is_open
                else each.kind is incident.kind
                and now - (each.closed or 0) <= CONTINUES_WITHIN
                and not routes.isdisjoint(self.routes.within(each.scope))
            )
        ]
        if not older:
            return incident
        oldest = min([incident, *older], key=lambda each: each.number)
        for each in older:
            if each is not oldest:
                over = replace(each, state=State.OVER, closed=now, recovered=now, folded_into=oldest.number)
                self._incidents[each.number] = over
        if incident.number in self._incidents and incident is not oldest:
            over = replace(incident, state=State.OVER, closed=now, recovered=now, folded_into=oldest.number)
            self._incidents[incident.number] = over
        scope = max([incident.scope, *(each.scope for each in older)], key=lambda each: len(self.routes.within(each)))
        return replace(
            incident,
            number=oldest.number,
            scope=scope,
            opened=oldest.opened,
            since=min(each.since for each in (incident, *older)),
            is_alert=any(each.is_alert for each in (incident, *older)),
            routes=incident.routes.union(*(each.routes for each in older)),
        )

    def _fold(self, now: int) -> None:
        """Make one incident of those of three or more routes of a provider or a chain."""
        for kind in (Kind.FAILING, Kind.SLOW):
            alone = [each for each in self._open() if each.kind is kind and each.scope.level is Level.ROUTE]
            shared: dict[Scope, list[Incident]] = {}
            for each in alone if len(alone) >= LEAST_ROUTES else ():
                for scope in self.routes.scopes(int(each.scope.name))[1:-1]:
                    shared.setdefault(scope, []).append(each)
            if not shared:
                continue
            scope = max(shared, key=lambda each: (len(shared[each]), -len(self.routes.within(each))))
            if len(shared[scope]) >= LEAST_ROUTES:
                oldest = min(shared[scope], key=lambda each: each.number)
                bad, owners = self._bad_since(scope, kind, oldest.since, now)
                self._put(replace(oldest, scope=scope, bad=bad, owners=owners), now)

    def _next_number(self) -> int:
        return max(self._incidents, default=0) + 1

    def _keep_up(self, now: int) -> None:
        """Do once an hour what needn't be done each minute."""
        if now // HOUR == self._hour:
            return
        self._hour = now // HOUR
        for counts in self._counts.values():
            counts.tidy(now=now)
        until = (now // HOUR + 1) * HOUR
        self._heard = [
            scope
            for scope in self.usual.scopes()
            if self.usual.expected(scope, since=until - LONGEST, until=until) >= EXPECTED_OWNERS
        ]
        old = now - DAYS * DAY
        for number in [n for n, each in self._incidents.items() if not each.is_open and (each.closed or 0) < old]:
            if number != max(self._incidents):
                del self._incidents[number]


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
