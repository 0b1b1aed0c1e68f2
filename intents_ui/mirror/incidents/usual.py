"""What is usual: shares, their variation and starts of the last two weeks, without the time of incidents."""

from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from intents_ui.mirror.figures.scopes import EVERYTHING, Level, ScopeName
from intents_ui.mirror.incidents.rules import CHANCE, EXPECTED_OWNERS, MAX_CHANCE, MAX_CORRELATION, MIN_CORRELATION
from intents_ui.mirror.windows import DAY, HOUR

DAYS = 14
HOURS_OF_DAY = DAY // HOUR
HOURS_OF_WEEK = 7 * HOURS_OF_DAY
GROWTH = 1 + 1 / (DAYS * HOURS_OF_DAY - 1)  # of the weight of each hour that is learned, so that earlier ones fade
# What is supposed of a route without a past: as if so many owners had this share. Limits let 1% be late.
SUPPOSED_OWNERS, SUPPOSED_SHARE, MIN_USUAL = 50, 0.03, 0.01
# Sums over hours: bad owners, owners, both squared, their product, and the owners that start at each hour of the day.
SUMS = 5
NOTHING = [0.0] * (SUMS + HOURS_OF_DAY)


class Counts(NamedTuple):
    """The owners of an hour: those whose transfers were decided, the bad ones of them, and those who started some."""

    bad: int
    owners: int
    started: int = 0


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
        """Add the counts of an hour."""
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
