"""Opens, changes and closes incidents, minute by minute. Has neither a clock nor a database."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from statistics import fmean
from typing import Any

from intents_ui.mirror.incidents import rules
from intents_ui.mirror.incidents.cohorts import Begun, Cohort, Counts, Skip
from intents_ui.mirror.incidents.rules import (
    LONGEST,
    WINDOWS,
    Evidence,
    Incident,
    Kind,
    Knowledge,
    Level,
    Scope,
    State,
    is_worse,
    likelihood_ratio,
)
from intents_ui.mirror.incidents.usual import DAYS, Usual
from intents_ui.mirror.windows import DAY, HOUR

ALL_KNOWN = Knowledge()


class Detector:
    """The incidents of the service, as of the last minute that was judged.

    `incidents` are those of the last two weeks. `start`: from when on it is told what begins.
    """

    def __init__(self, *, start: int, incidents: Iterable[Incident] = ()) -> None:
        self.usual = Usual()
        self.unknown_since: int | None = None
        self._start = start
        self._incidents = {each.number: each for each in incidents}
        self._begun: dict[Hashable, Begun] = {}
        self._cohorts = defaultdict[Scope, Cohort](Cohort)
        self._last_start: dict[Scope, int] = {}
        self._places: dict[tuple[Scope, ...], int] = {}  # what transfers were a part of, with their routes
        self._touched: dict[Scope, None] = {}
        self._busy: list[Scope] = []
        self._hour = 0
        self._chance = 0.0

    @property
    def incidents(self) -> Sequence[Incident]:
        return list(self._incidents.values())

    def observe(self, found: Mapping[Hashable, Begun | None], *, is_past: bool = False) -> None:
        """Take in transfers by their keys, as they are now. None was taken back. Those of the past open no incident."""
        for key, each in found.items():
            before = self._begun.get(key)
            if before == each:
                continue
            if before:
                del self._begun[key]
                if before.at:
                    for scope in before.scopes:
                        self._cohorts[scope].remove(before)
            if each is None:
                continue
            self._begun[key] = each
            self._places[each.scopes] = each.route
            for scope in each.scopes:
                if each.began > self._last_start.get(scope, 0):
                    self._last_start[scope] = each.began
                if each.at:
                    self._cohorts[scope].add(each)
            if each.is_bad and not is_past:
                self._touched.update(dict.fromkeys(each.scopes))

    def since(self, moment: int) -> set[Hashable]:
        """Return the keys of the transfers that were decided from a time on or aren't yet."""
        return {key for key, each in self._begun.items() if not each.at or each.at >= moment}

    def learn(self, hour: int) -> None:
        """Learn from an hour what is usual, without its incidents. What was decided until then is forgotten."""
        start, end = hour * HOUR, (hour + 1) * HOUR
        unusual = [each for each in self._incidents.values() if each.kind is Kind.UNDELIVERED and not each.folded_into]

        def skip(each: Begun) -> bool:
            return any(
                one.scope in each.scopes
                and one.since <= each.at <= min(one.recovered or end, one.since + rules.UNUSUAL_FOR)
                for one in unusual
            )

        found = {}
        for scope, cohort in self._cohorts.items():
            owners = {each.owner: each.is_bad for each in cohort.newest(since=start, skip=skip) if each.at < end}
            if owners:
                found[scope] = Counts(sum(owners.values()), len(owners))
        starts: dict[Scope, set[Hashable]] = {}
        for begun in self._begun.values():
            if start <= begun.began < end:
                for scope in begun.scopes:
                    starts.setdefault(scope, set()).add(begun.owner)
        self.usual.learn(hour, found, {scope: len(owners) for scope, owners in starts.items()})
        self._forget(end)

    def judge(self, now: int, knowledge: Knowledge = ALL_KNOWN) -> list[Incident]:
        """Return the incidents that have opened, changed or closed."""
        touched, self._touched = list(self._touched), {}
        unknown_since = knowledge.unknown_since(now)
        if unknown_since is not None:
            self.unknown_since = min(unknown_since, self.unknown_since or unknown_since)
            return []
        self.unknown_since = None
        self._keep_up(now)
        before = dict(self._incidents)
        places = [place for place, length in enumerate(WINDOWS) if not knowledge.has_hole(now - length, now)]
        for incident in self._open(Kind.UNDELIVERED):
            self._follow(incident, now, knowledge, places)
        self._find(touched, now, knowledge, places)
        for incident in self._open(Kind.SILENT):
            self._follow_silence(incident, now, knowledge)
        self._find_silent(now, knowledge)
        return [each for number, each in self._incidents.items() if before.get(number) != each]

    # Not delivered in time

    def _find(self, scopes: Sequence[Scope], now: int, knowledge: Knowledge, places: Sequence[int]) -> None:
        """Open incidents of scopes with new bad transfers. The one that explains most comes first."""
        while scopes:
            skip = self._explained(now)
            found = [each for scope in scopes if (each := self._evidence(scope, now, places, skip))]
            if not found:
                return
            best = max(found, key=_merit)
            scopes = [each.scope for each in found if each is not best]
            if self._calm_since(best.scope, now, knowledge, rules.CLOSES_AFTER) is not None:
                continue
            since = self._beginning(best.scope, now, skip)
            opened = Incident(
                number=self._next_number(),
                scope=best.scope,
                kind=Kind.UNDELIVERED,
                since=since,
                opened=now,
                usual=self.usual.share(best.scope),
                is_alert=best.tail < self._chance * rules.ALERTS,
                **self._extent(best.scope, since, now, skip),
            )
            self._put(opened, now)

    def _follow(self, incident: Incident, now: int, knowledge: Knowledge, places: Sequence[int]) -> None:
        incident = self._incidents[incident.number]
        if not incident.is_open:
            return  # it has become a part of another one meanwhile
        skip = self._explained(now, besides=incident.number)
        scope, since = incident.scope, incident.since
        if now - incident.opened < rules.YOUNG:
            scope = self._best_scope(incident, now, places, skip)
            since = self._beginning(scope, now, skip)
        state, recovered = State.OPEN, None
        for after, calm in ((rules.CLOSES_AFTER, State.OVER), (rules.RECOVERING_AFTER, State.RECOVERING)):
            recovered = self._calm_since(scope, now, knowledge, after, before=incident.share)
            if recovered is not None:
                state = calm
                break
        changed = replace(
            incident, scope=scope, state=state, recovered=recovered, closed=now if state is State.OVER else None
        )
        if state is State.OPEN:
            evidence = self._evidence(scope, now, places, skip)
            is_alert = incident.is_alert or (evidence is not None and evidence.tail < self._chance * rules.ALERTS)
            changed = replace(changed, since=since, is_alert=is_alert, **self._extent(scope, since, now, skip))
        self._put(changed, now)

    def _best_scope(self, incident: Incident, now: int, places: Sequence[int], skip: Skip | None) -> Scope:
        """Return the scope that explains a young incident best."""
        counted = self._cohorts[incident.scope].counts(now=now, skip=skip)
        present = max(
            likelihood_ratio(*counts, self._usual_now(incident.scope, now, length, skip))
            for counts, length in zip(counted, WINDOWS, strict=True)
        )
        cohort = self._cohorts[incident.scope]
        others = {
            scope for each in cohort.newest(since=incident.since, skip=skip) if each.is_bad for scope in each.scopes
        }
        found = [each for scope in sorted(others) if (each := self._evidence(scope, now, places, skip))]
        best = max(found, key=_merit, default=None)
        own = Evidence(incident.scope, 0.0, present)
        return best.scope if best and _merit(best) > _merit(own) + rules.BETTER else incident.scope

    def _put(self, incident: Incident, now: int) -> None:
        """Store an incident. It becomes one with those that it explains, or that have just closed on its routes."""
        if incident.is_open:
            for other in list(self._incidents.values()):
                if other.number == incident.number or other.folded_into or other.kind is not incident.kind:
                    continue
                if other.is_open and not self._explains(incident, other, now):
                    continue
                has_just_closed = now - (other.closed or 0) <= rules.CONTINUES_WITHIN
                if not other.is_open and (not has_just_closed or incident.routes.isdisjoint(other.routes)):
                    continue
                older, newer = sorted((incident, other), key=lambda each: each.number)
                self._incidents[newer.number] = replace(
                    newer, state=State.OVER, closed=now, recovered=newer.recovered or now, folded_into=older.number
                )
                incident = replace(
                    incident,
                    number=older.number,
                    opened=older.opened,
                    since=min(older.since, newer.since),
                    is_alert=older.is_alert or newer.is_alert,
                    routes=older.routes | newer.routes,
                )
        self._incidents[incident.number] = incident

    def _explains(self, incident: Incident, other: Incident, now: int) -> bool:
        """Return whether little is left of another incident of the last hour without what is a part of this one."""
        if incident.kind is Kind.SILENT:
            return self._is_within(other.scope, incident.scope)
        if now - max(incident.opened, other.opened) >= rules.YOUNG:
            return False
        usual = self.usual.share(other.scope)
        left = self._cohorts[other.scope].counts(now=now, skip=lambda each: incident.scope in each.scopes)
        return all(likelihood_ratio(*each, usual) < rules.BETTER for each in left)

    def _explained(self, now: int, *, besides: int | None = None) -> Skip | None:
        """Return the test of whether a transfer is a part of an incident, or None if there is none."""
        found = [
            (each.scope, each.since, now if each.is_open else each.recovered or 0)
            for each in self._incidents.values()
            if each.kind is Kind.UNDELIVERED and each.number != besides and not each.folded_into
            and (each.is_open or (each.recovered or 0) > now - LONGEST)
        ]  # fmt: skip
        if not found:
            return None
        return lambda each: any(scope in each.scopes and since <= each.at <= until for scope, since, until in found)

    def _evidence(self, scope: Scope, now: int, places: Iterable[int], skip: Skip | None) -> Evidence | None:
        """Return the best evidence for an incident of a scope."""
        best = None
        counted = self._cohorts[scope].counts(now=now, skip=skip)
        for place in places:
            counts = counted[place]
            if counts.bad < rules.MIN_OWNERS or not is_worse(*counts, self.usual.share(scope)):
                continue
            usual = self._usual_now(scope, now, WINDOWS[place], skip)
            tail = rules.tail(*counts, usual, self.usual.correlation(scope.level))
            found = Evidence(scope, tail, likelihood_ratio(*counts, usual))
            if is_worse(*counts, usual) and tail < self._chance and (best is None or found.ratio > best.ratio):
                best = found
        return best

    def _usual_now(self, scope: Scope, now: int, length: int, skip: Skip | None) -> float:
        """Return the usual share, or the one that is usual on the routes that are used now, if that is higher."""
        recent = islice(self._cohorts[scope].newest(since=now - length, skip=skip), rules.ENOUGH_OWNERS)
        shares = [self.usual.share(Scope(Level.ROUTE, str(each.route))) for each in recent]
        return max(self.usual.share(scope), fmean(shares or [0.0]))

    def _calm_since(
        self, scope: Scope, now: int, knowledge: Knowledge, after: int, *, before: float = 0.0
    ) -> int | None:
        """Return when the last bad one was decided, if so many seconds and enough owners since then were as usual.

        So it is if there was none in the longest window. `before` is the share that was bad during the incident.
        """
        cohort, usual = self._cohorts[scope], self.usual.share(scope)
        firsts: dict[Hashable, bool] = {}
        for each in cohort.newest(since=now - LONGEST):
            if each.at < now - after and len(firsts) >= rules.CLOSES_WITH:
                is_calm = rules.is_calm(sum(firsts.values()), len(firsts), usual, before=before)
                if not is_calm or knowledge.has_hole(each.at, now):
                    return None
                return next((one.at for one in cohort.newest(since=0) if one.is_bad and one.at <= each.at), each.at)
            firsts[each.owner] = each.is_bad
        is_forgotten = not any(firsts.values()) and not knowledge.has_hole(now - LONGEST, now)
        return now - LONGEST if is_forgotten else None

    def _beginning(self, scope: Scope, now: int, skip: Skip | None) -> int:
        """Return the start of the transfer from which on transfers are least like the usual."""
        usual, best, since, bad = self.usual.share(scope), 0.0, now, 0
        last: dict[Hashable, bool] = {}
        distinct = []  # repetitions of an owner count once
        for each in sorted(self._cohorts[scope].newest(since=now - LONGEST, skip=skip), key=lambda one: one.began):
            if last.get(each.owner) is not each.is_bad:
                last[each.owner] = each.is_bad
                distinct.append(each)
        for owners, each in enumerate(reversed(distinct), 1):
            if each.is_bad:
                bad += 1
                ratio = likelihood_ratio(bad, owners, usual)
                if ratio > best:
                    best, since = ratio, each.began
        return since

    def _extent(self, scope: Scope, since: int, now: int, skip: Skip | None) -> dict[str, Any]:
        """Return the bad owners and all owners whose transfers began since then, and the routes that are worse."""
        owners: dict[Hashable, bool] = {}
        by_route: dict[int, dict[Hashable, bool]] = {}
        cohort = self._cohorts[scope]
        for each in cohort.newest(since=max(since, now - LONGEST), skip=skip):
            if each.began >= since:
                owners[each.owner] = each.is_bad
                by_route.setdefault(each.route, {})[each.owner] = each.is_bad
        worse = frozenset(
            route
            for route, found in by_route.items()
            if is_worse(sum(found.values()), len(found), self.usual.share(Scope(Level.ROUTE, str(route))))
        )
        return {"bad": sum(owners.values()), "owners": len(owners), "routes": worse}

    # Nothing starts

    def _find_silent(self, now: int, knowledge: Knowledge) -> None:
        known_since = max(self._start, now - LONGEST, *(end for start, end in knowledge.holes if start < now))
        found: dict[Scope, tuple[float, int]] = {}
        for scope in self._busy:
            since = max(self._last_start.get(scope, 0), known_since)
            if now - since >= rules.SILENT_AFTER:
                expected = self.usual.expected(scope, since=since, until=now)
                if expected >= rules.EXPECTED_OWNERS:
                    found[scope] = expected, since
        for scope in sorted(found, key=lambda each: (-found[each][0], list(Level).index(each.level))):
            expected, since = found[scope]
            if any(self._is_within(scope, each.scope) for each in self._open(Kind.SILENT)):
                continue
            routes = frozenset(route for scopes, route in self._places.items() if scope in scopes)
            opened = Incident(
                number=self._next_number(),
                scope=scope,
                kind=Kind.SILENT,
                since=since,
                opened=now,
                usual=expected,
                routes=routes,
                is_alert=True,
            )
            self._put(opened, now)

    def _follow_silence(self, incident: Incident, now: int, knowledge: Knowledge) -> None:
        last = self._last_start.get(incident.scope, 0)
        resumed = incident.recovered or (last if last > incident.since else None)
        if resumed is None:
            if self.usual.expected(incident.scope, since=now - DAY, until=now) < rules.EXPECTED_OWNERS:
                # What was silent for so long isn't expected any more.
                self._incidents[incident.number] = replace(incident, state=State.OVER, recovered=now, closed=now)
            return
        is_over = now - resumed >= rules.CLOSES_AFTER and not knowledge.has_hole(now - rules.CLOSES_AFTER, now)
        state = State.OVER if is_over else State.RECOVERING
        self._incidents[incident.number] = replace(
            incident, state=state, recovered=resumed, closed=now if is_over else None
        )

    def _is_within(self, scope: Scope, other: Scope) -> bool:
        """Return whether all that is a part of a scope is a part of the other one, too."""
        return all(other in scopes for scopes in self._places if scope in scopes)

    # Housekeeping

    def _open(self, kind: Kind) -> list[Incident]:
        return [each for each in self._incidents.values() if each.is_open and each.kind is kind]

    def _next_number(self) -> int:
        return max(self._incidents, default=0) + 1

    def _forget(self, until: int) -> None:
        self._begun = {key: each for key, each in self._begun.items() if max(each.began, each.at) >= until}
        for cohort in self._cohorts.values():
            cohort.forget(until=until)

    def _keep_up(self, now: int) -> None:
        """Do once an hour what needn't be done each minute."""
        if now // HOUR == self._hour:
            return
        self._hour = now // HOUR
        self._forget(now - LONGEST - 2 * HOUR)
        self.usual.estimate()
        self._chance = min(rules.MAX_CHANCE, rules.CHANCE / max(1.0, self.usual.bad_per_week()))
        until = (now // HOUR + 1) * HOUR
        self._busy = self.usual.busy(since=until - LONGEST, until=until, least=rules.EXPECTED_OWNERS)
        old = now - DAYS * DAY
        for number in [n for n, each in self._incidents.items() if not each.is_open and (each.closed or 0) < old]:
            if number != max(self._incidents):
                del self._incidents[number]


def _merit(found: Evidence) -> float:
    return found.ratio - rules.PENALTIES[found.scope.level]
