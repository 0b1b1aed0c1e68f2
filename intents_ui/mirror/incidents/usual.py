"""What is usual on a route, with a provider or on a chain: from two weeks, without the time of incidents."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from intents_ui.mirror.figures.scopes import Level
from intents_ui.mirror.incidents.counting import Counts, Ending, Routes, Scope
from intents_ui.mirror.windows import DAY, HOUR

DAYS = 14
WEEK = 7 * DAY
HOURS_OF_DAY = DAY // HOUR
# What is supposed of a route without a past: as if so many owners had these shares.
SUPPOSED_OWNERS = 50
SUPPOSED_FAILED, SUPPOSED_LATE = 0.02, 0.01


def tally(endings: Iterable[Ending]) -> dict[int, Counts]:
    """Return the owners of each route, by their first ending, of the endings of an hour in their order."""
    first: dict[tuple[int, object], Ending] = {}
    for each in endings:
        first.setdefault((each.route, each.owner), each)
    found: dict[int, list[int]] = {}
    for each in first.values():
        counts = found.setdefault(each.route, [0, 0, 0])
        counts[0] += 1
        counts[1] += each.is_failed
        counts[2] += each.is_late
    return {route: Counts(*counts) for route, counts in found.items()}


@dataclass(slots=True)
class _Sums:
    failed: int = 0
    late: int = 0
    owners: int = 0
    by_hour_of_day: list[int] = field(default_factory=lambda: [0] * HOURS_OF_DAY)


class Usual:
    """Sums of the hours that are known. Hours are numbered from 1970 on."""

    def __init__(self, routes: Routes) -> None:
        self._routes = routes
        self._hours: dict[int, dict[int, Counts]] = {}
        self._sums: dict[Scope, _Sums] = {}
        self._known = [0] * HOURS_OF_DAY

    def __contains__(self, hour: int) -> bool:
        return hour in self._hours

    def __len__(self) -> int:
        return len(self._hours)

    def learn(self, hour: int, found: Mapping[int, Counts]) -> None:
        """Add an hour, once. Hours of more than two weeks before it are forgotten."""
        if hour in self._hours:
            return
        self._hours[hour] = dict(found)
        self._known[hour % HOURS_OF_DAY] += 1
        for route, counts in found.items():
            self._add(hour, route, counts, 1)
        for old in [each for each in self._hours if each <= hour - DAYS * HOURS_OF_DAY]:
            for route, counts in self._hours.pop(old).items():
                self._add(old, route, counts, -1)
            self._known[old % HOURS_OF_DAY] -= 1

    def forget(self, route: int, *, since: int, until: int) -> None:
        """Remove a route's hours from one to another."""
        for hour in range(since, until + 1):
            counts = self._hours.get(hour, {}).pop(route, None)
            if counts:
                self._add(hour, route, counts, -1)

    def share(self, scope: Scope, *, late: bool = False) -> float:
        """Return the share of owners whose transfers fail or are late. By definition, at least 1% are late."""
        sums = self._sums.get(scope) or _Sums()
        found, supposed = (sums.late, SUPPOSED_LATE) if late else (sums.failed, SUPPOSED_FAILED)
        share = (found + SUPPOSED_OWNERS * supposed) / (sums.owners + SUPPOSED_OWNERS)
        return max(share, SUPPOSED_LATE) if late else share

    def expected(self, scope: Scope, *, since: int, until: int) -> float:
        """Return the number of owners that are usual between two Unix times, at these hours of the day."""
        sums, expected = self._sums.get(scope), 0.0
        if sums is None:
            return expected
        while since < until:
            end = min(until, (since // HOUR + 1) * HOUR)
            place = since // HOUR % HOURS_OF_DAY
            expected += sums.by_hour_of_day[place] / max(1, self._known[place]) * (end - since) / HOUR
            since = end
        return expected

    def per_week(self, scope: Scope) -> float:
        """Return the number of owners of a usual week, from the hours that are known."""
        sums = self._sums.get(scope)
        return sums.owners * WEEK / HOUR / len(self) if sums else 0.0

    def scopes(self) -> list[Scope]:
        """Return what has a past, the narrowest first."""
        levels = list(Level)
        return sorted(self._sums, key=lambda each: levels.index(each.level))

    def _add(self, hour: int, route: int, counts: Counts, sign: int) -> None:
        for scope in self._routes.scopes(route):
            sums = self._sums.setdefault(scope, _Sums())
            sums.owners += sign * counts.owners
            sums.failed += sign * counts.failed
            sums.late += sign * counts.late
            sums.by_hour_of_day[hour % HOURS_OF_DAY] += sign * counts.owners
            if not sums.owners:
                del self._sums[scope]
