"""Opens, changes and closes incidents, minute by minute. Has neither a clock nor a database."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from intents_ui.mirror.figures.scopes import Level
from intents_ui.mirror.incidents.counting import LONGEST, WINDOWS, Counts, Ending, Routes, Scope, route_scope
from intents_ui.mirror.incidents.likelihood import likelihood_ratio
from intents_ui.mirror.incidents.observed import Observed
from intents_ui.mirror.incidents.rules import (
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
        self._seen = Observed(routes, usual)
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
            self._seen.add(ending, scopes)
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
            bad, owners = self._seen.bad_since(each.scope, kind, (each.recovered or 0) + 1, now)
            if weighed(each.scope, 0, bad=bad, owners=owners, usual=each.usual, limit=CONTINUES):
                self._put(replace(each, state=State(kind), recovered=None, closed=None), now)

    def _find(self, kind: Kind, scopes: Sequence[Scope], now: int, knowledge: Knowledge, places: Sequence[int]) -> None:
        """Open incidents of scopes with new bad endings. The one that explains most comes first."""
        while scopes:
            covered = self._covered(kind, now)
            found = [each for scope in scopes if (each := self._seen.evidence(scope, kind, now, places, covered))]
            if not found:
                return
            best = max(found, key=lambda each: (each.ratio, -LEVELS.index(each.scope.level)))
            scopes = [each.scope for each in found if each is not best]
            if self._seen.calm_since(best.scope, kind, now, knowledge, CLOSES_AFTER) is None:
                self._begin(best, kind, now, covered[best.place])

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
        since = self._seen.since(scope, kind, now)
        bad, owners = self._seen.bad_since(scope, kind, since, now)
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
                usual=self._seen.share(scope, kind),
                routes=frozenset(self._seen.worse(scope, kind, found.place, now, covered)),
                is_alert=self._seen.is_alert(found, kind),
            ),
            now,
        )

    def _find_silent(self, now: int, knowledge: Knowledge) -> None:
        quiet: dict[Scope, int] = {}
        known_since = max(self._start, now - LONGEST, *(end for start, end in knowledge.holes if start < now))
        for scope in self._heard:
            since = max(self._seen.last_at(scope), known_since)
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
            since = min(since, self._seen.since(scope, kind, now)) if scope == incident.scope else since
        if not is_alert:
            evidence = self._seen.evidence(scope, kind, now, places, covered)
            is_alert = evidence is not None and self._seen.is_alert(evidence, kind)
        state, recovered, closed = State(kind), None, None
        for after, calm in ((CLOSES_AFTER, State.OVER), (RECOVERING_AFTER, State.RECOVERING)):
            recovered = self._seen.calm_since(scope, kind, now, knowledge, after, before=incident.share)
            if recovered is not None:
                state = calm
                closed = now if calm is State.OVER else None
                break
        bad, owners = incident.bad, incident.owners
        routes = incident.routes
        if state is State(kind):
            bad, owners = self._seen.bad_since(scope, kind, since, now)
            routes = frozenset(
                self._seen.worse(scope, kind, place, now) | (routes if scope == incident.scope else set())
            )
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
        usual = self._seen.share(incident.scope, kind)
        owners, bad = self._seen.rest(incident.scope, kind, place, now, covered[place])
        present = likelihood_ratio(bad, owners, usual)
        others = {scope for route in incident.routes for scope in self.routes.scopes(route)} - {incident.scope}
        found = [each for scope in sorted(others) if (each := self._seen.evidence(scope, kind, now, [place], covered))]
        best = max(found, key=lambda each: each.ratio, default=None)
        return best.scope if best and best.ratio > present + BETTER else incident.scope

    def _follow_silence(self, incident: Incident, now: int, knowledge: Knowledge) -> None:
        ended = self._seen.newest(incident.scope, since=max(incident.since + 1, now - LONGEST))
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
                bad, owners = self._seen.bad_since(scope, kind, oldest.since, now)
                self._put(replace(oldest, scope=scope, bad=bad, owners=owners), now)

    def _next_number(self) -> int:
        return max(self._incidents, default=0) + 1

    def _keep_up(self, now: int) -> None:
        """Do once an hour what needn't be done each minute."""
        if now // HOUR == self._hour:
            return
        self._hour = now // HOUR
        self._seen.tidy(now=now)
        self._seen.set_limits()
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
