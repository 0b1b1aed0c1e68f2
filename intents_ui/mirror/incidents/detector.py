"""Opens, changes and closes incidents, minute by minute, where more is bad than usual. Has neither clock nor database.

Usual are the shares, their variation and the starts of the last two weeks, without the time of incidents. Owners are
counted instead of transfers, because an owner whose transfer fails may try again many times. Times are Unix seconds by
the service's clock. The limits come from a simulation, which shows what they cost and find: `bench.incidents`.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from itertools import chain
from math import exp, lgamma, log
from operator import attrgetter
from statistics import fmean
from typing import Any, NamedTuple

from intents_ui.mirror.entry import DEPOSIT
from intents_ui.mirror.figures.scopes import EVERYTHING, Level, ScopeName
from intents_ui.mirror.windows import DAY, HOUR, MINUTE, NEVER
from intents_ui.service.models import UNEXECUTED
from intents_ui.service.outcome import Outcome

KNOWN = 15 * MINUTE  # which must be known before anything is judged
WINDOWS = (5 * MINUTE, KNOWN, HOUR, 6 * HOUR)  # sudden outages, those of small routes, and slight ones
LONGEST = WINDOWS[-1]
ENOUGH = 500  # transfers of a window. Three times the usual is beyond chance by then
# Bad: so many owners, this share of them, and so many times the usual. Less is chance, or no outage.
MIN_OWNERS = 3
MIN_SHARE = 0.1
TIMES_USUAL = 3
# An incident opens if chance explains the counts of one window with less than this probability. Each bad transfer is
# another chance, so the probability is this one divided by the number of them in a usual week. A small service has few,
# and would believe two of three owners without the second limit. Incidents alert below a tenth of it.
CHANCE = 0.03
MAX_CHANCE = 5e-4
ALERTS = 0.1
# The addresses of one owner, such as a bot's, may all fail on one route for the same reason. Where more than half of
# what is bad may be that, chance must explain it with so many times less probability. No owner makes transfers late.
OWN_FAILURES = 100
# Nothing starts: in so many seconds or more, in which so many owners were expected.
SILENT_AFTER, EXPECTED_OWNERS = 15 * MINUTE, 20
# An incident closes after so many seconds and owners with at most twice the usual, and is recovering before that.
# A twentieth of the owners don't keep it open.
RECOVERING_AFTER, CLOSES_AFTER, CLOSES_WITH = 15 * MINUTE, 30 * MINUTE, 10
TIMES_USUAL_CALM, CALM_SHARE = 2, 0.05
# Nor does one owner, if the counts are so much likelier with the usual share than with the incident's (logarithm).
CALM_RATIO = 3.0
# An incident that closed so many seconds ago continues if its routes are bad again.
CONTINUES_WITHIN = 30 * MINUTE
# While an incident is this young, what it is of and since when may change.
YOUNG = HOUR
# Something else must explain the incident this much better (logarithm of the likelihood) to take it over.
BETTER = 3.0
# An incident's first day isn't usual. What lasts longer is.
UNUSUAL_FOR = DAY
MAX_LAG = 5 * MINUTE
MIN_CORRELATION, MAX_CORRELATION = 1e-5, 0.2
# To explain as much, the wider must be so much likelier (logarithm).
PENALTIES = dict(zip(Level, (0.0, 0.5, 0.5, 1.0, 1.0, 1.5), strict=True))
UNDECIDED = 0  # time of a decision that isn't made yet

DAYS = 14
HOURS_OF_DAY = DAY // HOUR
HOURS_OF_WEEK = 7 * HOURS_OF_DAY
GROWTH = 1 + 1 / (DAYS * HOURS_OF_DAY - 1)  # of the weight of each hour that is learned, so that earlier ones fade
# What is supposed of a route without a past: as if so many owners had this share. Limits let 1% be late.
SUPPOSED_OWNERS, SUPPOSED_SHARE, MIN_USUAL = 50, 0.03, 0.01
# Sums over hours: bad owners, owners, both squared, their product, and the owners that start at each hour of the day.
SUMS = 5
NOTHING = [0.0] * (SUMS + HOURS_OF_DAY)

type Skip = Callable[[Begun], bool]
type Spans = Sequence[tuple[int, int]]
# Owners of an hour: the bad ones of those whose transfers were decided, all of these, and those who started transfers.
type Counts = tuple[int, int, int]

_at, _began, _is_bad, _owner, _route = map(attrgetter, ("at", "began", "is_bad", "owner", "route"))


class Kind(StrEnum):
    UNDELIVERED = "undelivered"  # in time
    SILENT = "silent"


class State(StrEnum):
    OPEN = "open"
    RECOVERING = "recovering"
    OVER = "over"


class Begun(NamedTuple):
    """A transfer that has begun, in its `scopes`. All without an owner count as one.

    `at`: when it was decided. It is bad if it was late, or, if it `has_failed`, ended without delivery before.
    """

    scopes: tuple[ScopeName, ...]
    owner: Hashable
    began: int
    at: int = UNDECIDED
    is_bad: bool = False
    has_failed: bool = False

    @property
    def route(self) -> ScopeName:
        return self.scopes[0]

    def decided(
        self, outcome: str, status: str, failed_step: int | None, *, ended: int, limit: int, now: int
    ) -> "Begun | None":
        """Return this as it was decided, or None if it says nothing about its route.

        It is decided when it is delivered, when its route fails, or when it is still open after `limit` seconds, and
        then bad at once. `ended` doesn't matter while it is open. The route isn't to blame for rejected or missing
        deposits and for what the owner aborts in time, and nothing is known of unconfirmed ends.
        """
        late_at = self.began + limit
        match outcome:
            case Outcome.OPEN if status not in UNEXECUTED:
                return self._replace(at=late_at, is_bad=True) if late_at <= now else self
            case Outcome.DELIVERED:
                return self._replace(at=min(ended, late_at), is_bad=ended > late_at)
            case Outcome.REFUNDED | Outcome.FAILED if failed_step != DEPOSIT:
                return self._replace(at=min(ended, late_at), is_bad=True, has_failed=ended <= late_at)
            case Outcome.ABORTED if ended > late_at:
                return self._replace(at=late_at, is_bad=True)
        return None


@dataclass(frozen=True, kw_only=True)
class Incident:
    """Something that is worse than usual since a time.

    `bad` of its `owners` whose transfers began since then, at most in the last six hours, did not get them in time, and
    `usual` is the usual share. If nothing starts, it is the number of owners that were expected. `routes` are those
    where this was seen. `recovered`: since when it is not worse than usual. `folded_into` is the number of the incident
    that it became a part of. `is_alert`: chance explains it even less.
    """

    number: int
    scope: ScopeName
    kind: Kind
    since: int
    opened: int
    bad: int = 0
    owners: int = 0
    usual: float
    routes: frozenset[ScopeName]
    is_alert: bool = False
    recovered: int | None = None
    closed: int | None = None
    folded_into: int | None = None

    @property
    def is_open(self) -> bool:
        return self.closed is None

    @property
    def state(self) -> State:
        return State.OVER if not self.is_open else State.OPEN if self.recovered is None else State.RECOVERING


class Evidence(NamedTuple):
    """How a scope compares with `usual`, its share or, if nothing starts, the number of owners that are expected.

    `ratio`: how much likelier the counts are otherwise (logarithm). `tail`: how likely chance alone makes them so bad.
    `since`: when the last transfer started, if nothing starts.
    """

    scope: ScopeName
    usual: float
    ratio: float = 0.0
    tail: float = 1.0
    since: int = 0


class Usual:
    """What is usual in each scope. Hours are numbered from 1970 on, and learned in any order.

    `correlations`: how much two owners of an hour have in common, from 0 to 1. `chance`: how improbable counts must be.
    """

    def __init__(self) -> None:
        self.hours = set[int]()
        self.correlations = dict.fromkeys(Level, MIN_CORRELATION)
        self.chance = MAX_CHANCE
        self._weight = 1.0  # of the last hour, in all sums
        self._known = [0.0] * HOURS_OF_DAY
        self._sums = defaultdict[ScopeName, list[float]](NOTHING.copy)

    def learn(self, hour: int, found: Mapping[ScopeName, Counts]) -> None:
        self.hours.add(hour)
        self._weight *= GROWTH
        self._known[hour % HOURS_OF_DAY] += self._weight
        for scope, (bad, owners, started) in found.items():
            sums = self._sums[scope]
            for place, value in enumerate((bad, owners, bad * bad, owners * owners, bad * owners)):
                sums[place] += value * self._weight
            sums[SUMS + hour % HOURS_OF_DAY] += started * self._weight

    def share(self, scope: ScopeName) -> float:
        """Return the share of owners whose transfers aren't delivered in time."""
        bad, owners, *_ = self._sums.get(scope, NOTHING)
        supposed = SUPPOSED_OWNERS * self._weight
        return max((bad + supposed * SUPPOSED_SHARE) / (owners + supposed), MIN_USUAL)

    def estimate(self) -> None:
        """Estimate the correlations by the method of moments: variance beyond that of independent owners."""
        beyond, possible = dict.fromkeys(Level, 0.0), dict.fromkeys(Level, 0.0)
        for scope, (bad, owners, squared_bad, squared, product, *_) in self._sums.items():
            share = bad / max(self._weight, owners)
            chance = share * (1 - share)
            beyond[scope.level] += squared_bad - 2 * share * product + share**2 * squared - chance * owners
            possible[scope.level] += chance * (squared - owners)
        found = MIN_CORRELATION
        for level in Level:  # a wide scope may consist of one busy route
            found = max(found, beyond[level] / possible[level] if possible[level] > 0 else 0.0)
            self.correlations[level] = min(found, MAX_CORRELATION)
        _, owners, *_ = self._sums.get(EVERYTHING, NOTHING)
        bad_per_week = owners / max(self._weight, sum(self._known)) * HOURS_OF_WEEK * self.share(EVERYTHING)
        self.chance = min(MAX_CHANCE, CHANCE / max(1.0, bad_per_week))

    def expected(self, scope: ScopeName, *, since: int, until: int) -> float:
        """Return the number of owners whose transfers usually begin between two times, at these hours of the day."""
        starts = self._sums.get(scope, NOTHING)[SUMS:]
        per_hour = [n / known if known else 0.0 for n, known in zip(starts, self._known, strict=True)]
        hours = range(since // HOUR, -(-until // HOUR))
        lengths = (min(until, (hour + 1) * HOUR) - max(since, hour * HOUR) for hour in hours)
        return sum(per_hour[hour % HOURS_OF_DAY] * length / HOUR for hour, length in zip(hours, lengths, strict=True))

    def busy(self, *, since: int, until: int) -> list[ScopeName]:
        """Return the scopes in which enough owners are expected between two times to notice that none comes."""
        return [each for each in self._sums if self.expected(each, since=since, until=until) >= EXPECTED_OWNERS]


class Detector:
    """The incidents of the service by their numbers, as of the last minute that was judged."""

    def __init__(self, incidents: Iterable[Incident] = ()) -> None:
        self.usual = Usual()
        self.unknown_since: int | None = None
        self._now = 0
        self._holes: Spans = ()
        self.incidents = {each.number: each for each in incidents}
        self._parts = defaultdict[ScopeName, list[list[Begun]]](list)  # transfers, by what else they are a part of
        self._cohorts: dict[ScopeName, list[Begun]] = {}
        self._last_start = Counter[ScopeName]()
        self._places: dict[tuple[ScopeName, ...], None] = {}  # what transfers were a part of
        self._busy: list[ScopeName] = []

    def learn(self, hours: Iterable[int], transfers: Iterable[Begun]) -> None:
        """Learn from hours what is usual, without their incidents, by what began or was decided in them."""
        self._take(transfers)
        for hour in hours:
            start, end = hour * HOUR, (hour + 1) * HOUR
            skip = self._explained(start, end, longest=UNUSUAL_FOR)
            found = {}
            for scope in self._parts:
                owners = {each.owner: each.is_bad for each in reversed(self._decided(scope, start, end, skip))}
                started = {each.owner for each in self._cohort(scope) if start <= each.began < end}
                found[scope] = sum(owners.values()), len(owners), len(started)
            self.usual.learn(hour, found)

    def judge(self, now: int, transfers: Iterable[Begun], holes: Spans = ()) -> list[Incident]:
        """Return the incidents that have opened, changed or closed, by the transfers of the last six hours.

        `holes`: the times that the mirror read incompletely or not at all.
        """
        if unknown := [start for start, end in holes if end > now - KNOWN and start < now]:
            self.unknown_since = min(*unknown, self.unknown_since or now)
            return []
        lately = [each for each in self._take(transfers) if each.is_bad and each.at > now - MAX_LAG]
        if now // HOUR != self._now // HOUR:
            self.usual.estimate()
            until = (now // HOUR + 1) * HOUR
            self._busy = self.usual.busy(since=until - LONGEST, until=until)
        self.unknown_since, self._now, self._holes = None, now, holes
        before = dict(self.incidents)
        for number, each in before.items():
            if each.is_open and self.incidents[number].is_open:  # and no part of another one meanwhile
                self._follow(self.incidents[number])
        self._find(Kind.UNDELIVERED, dict.fromkeys(scope for each in lately for scope in each.scopes))
        self._find(Kind.SILENT, [each for each in self._busy if now - self._last_start[each] >= SILENT_AFTER])
        return [each for number, each in self.incidents.items() if before.get(number) != each]

    def _take(self, transfers: Iterable[Begun]) -> list[Begun]:
        """Take in transfers. Of those of an owner that are bad one after the other, only the first is decided."""
        found, last = sorted(transfers, key=_at), dict[Hashable, Begun]()
        with_bad = {each.owner for each in found if each.is_bad}
        for place, each in enumerate(found):
            before = last.get(each.owner) if each.owner in with_bad else None
            if before and before.is_bad and each.is_bad and each.at - before.at < LONGEST:
                found[place] = each._replace(at=UNDECIDED, is_bad=False)
            elif each.at and each.owner in with_bad:
                last[each.owner] = each
        alike = defaultdict[int, list[Begun]](list)  # by the identity of what they are a part of: hashes take longer
        for each in found:
            alike[id(each.scopes)].append(each)
        self._parts.clear()
        self._cohorts.clear()
        for part in alike.values():
            self._places[part[0].scopes] = None
            began = max(map(_began, part))
            for scope in part[0].scopes:
                self._parts[scope].append(part)
                self._last_start[scope] = max(began, self._last_start[scope])
        return found

    def _cohort(self, scope: ScopeName) -> list[Begun]:
        """Return the transfers of a scope in the order in which they were decided."""
        if scope not in self._cohorts:
            self._cohorts[scope] = sorted(chain.from_iterable(self._parts.get(scope, ())), key=_at)
        return self._cohorts[scope]

    def _find(self, kind: Kind, scopes: Iterable[ScopeName]) -> None:
        """Open incidents. The one that explains most comes first, then what it doesn't explain."""
        while scopes:
            skip = self._explained(self._now - LONGEST, self._now)
            evidence = [self._silence(each) if kind is Kind.SILENT else self._evidence(each, skip) for each in scopes]
            found = [each for each in evidence if each.tail < self.usual.chance]
            if not found:
                return
            best = max(found, key=_merit)
            scopes = [each.scope for each in found if each is not best]
            if kind is Kind.UNDELIVERED and self._calm(best.scope, CLOSES_AFTER) is not None:
                continue
            opened = Incident(
                number=max(self.incidents, default=0) + 1,
                scope=best.scope,
                kind=kind,
                since=best.since,
                opened=self._now,
                usual=best.usual,
                routes=frozenset(parts[0] for parts in self._places if best.scope in parts),
                is_alert=best.tail < self.usual.chance * ALERTS,
            )
            self._put(opened if kind is Kind.SILENT else replace(opened, **self._extent(best.scope, skip)))

    def _follow(self, incident: Incident) -> None:
        scope, is_silent = incident.scope, incident.kind is Kind.SILENT
        skip = self._explained(self._now - LONGEST, self._now, besides=incident.number)
        is_young = self._now - incident.opened < YOUNG
        if is_young and not is_silent:
            scope = self._best_scope(incident, skip)
        share = incident.bad / max(incident.owners, 1)
        calm = partial(self._resumed, incident) if is_silent else partial(self._calm, scope, before=share)
        recovered = calm(CLOSES_AFTER)
        closed = None if recovered is None else self._now
        if recovered is None:
            recovered = calm(0 if is_silent else RECOVERING_AFTER)
        changed = replace(incident, scope=scope, recovered=recovered, closed=closed)
        if not is_silent and (recovered or self._now) > self._now - LONGEST:  # or its transfers are forgotten
            extent = self._extent(scope, skip, since=None if is_young else incident.since, until=recovered)
            is_alert = self._evidence(scope, skip).tail < self.usual.chance * ALERTS
            changed = replace(changed, is_alert=is_alert or incident.is_alert, **extent)
        self._put(changed)

    def _best_scope(self, incident: Incident, skip: Skip | None) -> ScopeName:
        decided = self._decided(incident.scope, incident.since, self._now + 1, skip)
        others = {scope for each in decided if each.is_bad for scope in each.scopes} - {incident.scope}
        found = [self._evidence(scope, skip) for scope in sorted(others)]
        best = max((each for each in found if each.tail < self.usual.chance), key=_merit, default=None)
        is_better = best and _merit(best) > _merit(self._evidence(incident.scope, skip)) + BETTER
        return best.scope if best and is_better else incident.scope

    def _put(self, incident: Incident) -> None:
        """Store an incident. It becomes one with those that it explains, or that have just closed on its routes."""
        for other in list(self.incidents.values()) if incident.is_open else ():
            if other.number == incident.number or other.folded_into or other.kind is not incident.kind:
                continue
            if other.is_open:
                is_one = self._explains(incident, other)
            else:
                has_just_closed = self._now - (other.closed or 0) <= CONTINUES_WITHIN
                is_one = has_just_closed and not incident.routes.isdisjoint(other.routes)
            if not is_one:
                continue
            older, newer = sorted((incident, other), key=attrgetter("number"))
            recovered = newer.recovered or self._now
            self.incidents[newer.number] = replace(
                newer, closed=self._now, recovered=recovered, folded_into=older.number
            )
            incident = replace(
                incident,
                number=older.number,
                opened=older.opened,
                since=min(older.since, newer.since),
                is_alert=older.is_alert or newer.is_alert,
                routes=older.routes | newer.routes,
            )
        self.incidents[incident.number] = incident

    def _explains(self, incident: Incident, other: Incident) -> bool:
        """Return whether little is left of another incident of the last hour without what is a part of this one."""
        if incident.kind is Kind.SILENT:
            return self._is_within(other.scope, incident.scope)
        if self._now - max(incident.opened, other.opened) >= YOUNG:
            return False
        left = self._evidence(other.scope, lambda each: incident.scope in each.scopes)
        return left.ratio < BETTER

    def _explained(self, since: int, until: int, *, besides: int | None = None, longest: int = NEVER) -> Skip | None:
        """Return the test of whether a transfer is a part of an incident between two times, or None if none is."""
        spans = [
            (each.scope, each.since, min(until if each.is_open else each.recovered or 0, each.since + longest))
            for each in self.incidents.values()
            if each.kind is Kind.UNDELIVERED and each.number != besides and not each.folded_into
        ]
        spans = [each for each in spans if each[2] >= since]
        if not spans:
            return None
        return lambda each: any(scope in each.scopes and begin <= each.at <= end for scope, begin, end in spans)

    def _decided(self, scope: ScopeName, since: int, until: int, skip: Skip | None = None) -> list[Begun]:
        """Return what was decided from a time until before another one, in this order."""
        cohort = self._cohort(scope)
        found = cohort[bisect_left(cohort, since, key=_at) : bisect_left(cohort, until, key=_at)]
        return [each for each in found if not skip(each)] if skip else found

    def _evidence(self, scope: ScopeName, skip: Skip | None) -> Evidence:
        """Return the strongest evidence that a scope is worse. An owner counts once, by the first transfer."""
        usual, now = self.usual.share(scope), self._now
        best = Evidence(scope, usual)
        recent = self._decided(scope, now - LONGEST, now + 1, skip)[-ENOUGH:]
        owners: dict[Hashable, Begun] = {}
        for length in WINDOWS if sum(map(_is_bad, recent)) >= MIN_OWNERS else ():
            start = bisect_left(recent, now - length, key=_at)
            newest = recent[: start - 1 if start else None : -1]
            owners.update(zip(map(_owner, newest), newest, strict=True))
            del recent[start:]
            bad, expected, chance = sum(map(_is_bad, owners.values())), usual, 1.0
            is_known = not self._has_hole(now - length, now)
            if bad >= MIN_OWNERS and is_worse(bad, len(owners), usual) and is_known:
                # If more is usually bad on the routes that are used now, that is no incident.
                routes = Counter(map(_route, owners.values()))
                expected = max(usual, fmean(map(self.usual.share, routes), routes.values()))
                if is_worse(bad, len(owners), expected):
                    chance = tail(bad, len(owners), expected, self.usual.correlations[scope.level])
                    failed = Counter(each.route for each in owners.values() if each.has_failed)
                    if max(failed.values(), default=0) > bad / 2:
                        chance = min(1.0, chance * OWN_FAILURES)
            found = Evidence(scope, usual, likelihood_ratio(bad, len(owners), expected), chance)
            best = max(best, found, key=lambda each: (each.tail < self.usual.chance, each.ratio))
        return best

    def _calm(self, scope: ScopeName, after: int, *, before: float = 0.0) -> int | None:
        """Return when the last bad one was decided, if so many seconds and enough owners since then were as usual.

        So it is if there was none in the longest window. `before` is the share that was bad during the incident.
        """
        cohort, usual, now = self._cohort(scope), self.usual.share(scope), self._now
        firsts: dict[Hashable, bool] = {}
        for each in reversed(self._decided(scope, now - LONGEST, now + 1)):
            if each.at < now - after and len(firsts) >= CLOSES_WITH:
                is_usual = is_calm(sum(firsts.values()), len(firsts), usual, before=before)
                if not is_usual or self._has_hole(each.at, now):
                    return None
                return next((one.at for one in reversed(cohort) if one.is_bad and one.at <= each.at), each.at)
            firsts[each.owner] = each.is_bad
        is_forgotten = not any(firsts.values()) and not self._has_hole(now - LONGEST, now)
        return now - LONGEST if is_forgotten else None

    def _extent(
        self, scope: ScopeName, skip: Skip | None, *, since: int | None = None, until: int | None = None
    ) -> dict[str, Any]:
        """Return when an incident began, how many owners it hit until a time, and the routes that are worse.

        It began with the transfer from which on transfers are least like the usual. If it is known since when it lasts,
        it is the first bad one from then on.
        """
        decided = self._decided(scope, self._now - LONGEST, (until or self._now) + 1, skip)
        decided = sorted((each for each in decided if each.began >= (since or 0)), key=_began, reverse=True)
        usual, best, bad, last = self.usual.share(scope), 0.0, 0, len(decided)
        owners: dict[Hashable, bool] = {}
        found = {"since": since or self._now, "bad": 0, "owners": len({each.owner for each in decided})}
        for place, each in enumerate(decided, 1):
            bad += each.is_bad - owners.get(each.owner, False)
            owners[each.owner] = each.is_bad
            ratio = likelihood_ratio(bad, len(owners), usual)
            if each.is_bad and (since or ratio > best):
                best, last = ratio, place
                found = {"since": each.began, "bad": bad, "owners": len(owners)}
        if since and since < self._now - LONGEST:  # the first ones are forgotten
            found["since"] = since
        by_route = defaultdict[ScopeName, dict[Hashable, bool]](dict)
        for each in decided[:last]:
            by_route[each.route][each.owner] = each.is_bad
        worse = (
            route for route, hit in by_route.items() if is_worse(sum(hit.values()), len(hit), self.usual.share(route))
        )
        return {**found, "routes": frozenset(worse)}

    def _has_hole(self, since: int, until: int) -> bool:
        return any(start < until and end > since for start, end in self._holes)

    # Nothing starts

    def _silence(self, scope: ScopeName) -> Evidence:
        """Return the evidence that nothing starts in a scope."""
        holes = (end for start, end in self._holes if start < self._now)
        since = max(self._last_start[scope], self._now - LONGEST, *holes)
        expected = self.usual.expected(scope, since=since, until=self._now)
        silent = (each.scope for each in self.incidents.values() if each.is_open and each.kind is Kind.SILENT)
        is_short = self._now - since < SILENT_AFTER or expected < EXPECTED_OWNERS
        if is_short or any(self._is_within(scope, each) for each in silent):
            return Evidence(scope, expected)
        return Evidence(scope, expected, expected, exp(-expected), since)

    def _resumed(self, incident: Incident, after: int) -> int | None:
        """Return when transfers started again, if so many seconds ago, or now if none are expected any more."""
        now, scope = self._now, incident.scope
        resumed = incident.recovered or self._last_start[scope]
        if resumed > incident.since:
            return resumed if now - resumed >= after and not self._has_hole(now - after, now) else None
        is_expected = self.usual.expected(scope, since=now - DAY, until=now) >= EXPECTED_OWNERS
        return None if is_expected else now

    def _is_within(self, scope: ScopeName, other: ScopeName) -> bool:
        """Return whether all that is a part of a scope is a part of the other one, too."""
        return all(other in scopes for scopes in self._places if scope in scopes)


def _merit(found: Evidence) -> float:
    return found.ratio - PENALTIES[found.scope.level]


def odds_times(factor: int, share: float) -> float:
    """Return the share with odds that are so many times higher. It is about `factor` times a small share."""
    return factor * share / (1.0 + (factor - 1) * share)


def is_worse(bad: int, owners: int, usual: float) -> bool:
    """Return whether the share is far above the usual, however likely that is by chance."""
    return bad >= max(1.0, MIN_SHARE * owners, odds_times(TIMES_USUAL, usual) * owners)


def is_calm(bad: int, owners: int, usual: float, *, before: float) -> bool:
    """Return whether the share is near the usual one. `before` is the share that it was during the incident."""
    if bad <= max(CALM_SHARE, odds_times(TIMES_USUAL_CALM, usual)) * owners:
        return True
    preference = log(usual / before) + (owners - 1) * log((1 - usual) / (1 - before)) if usual < before < 1 else 0.0
    return bad == 1 and preference > CALM_RATIO


def tail(bad: int, owners: int, usual: float, correlation: float) -> float:
    """Return the probability of at least `bad` of `owners` by a beta-binomial distribution.

    `correlation` of two owners: how much the share itself varies from hour to hour.
    """
    a, b = (share * (1 - correlation) / correlation for share in (usual, 1 - usual))
    term = total = exp(
        lgamma(owners + 1) - lgamma(bad + 1) - lgamma(owners - bad + 1)
        + lgamma(bad + a) + lgamma(owners - bad + b) - lgamma(owners + a + b)
        + lgamma(a + b) - lgamma(a) - lgamma(b)
    )  # fmt: skip
    for number in range(bad, owners):
        term *= (owners - number) / (number + 1) * (number + a) / (owners - number - 1 + b)
        total += term
        if term < total * 1e-12:
            break
    return min(total, 1.0)


def likelihood_ratio(bad: int, owners: int, usual: float) -> float:
    """Return the logarithm of how much likelier the share that was found is than this lower one."""
    if bad <= owners * usual:
        return 0.0
    rest = owners - bad
    return bad * log(bad / (owners * usual)) + (rest * log(rest / (owners * (1.0 - usual))) if rest else 0.0)
