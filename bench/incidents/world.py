"""Endings of transfers on many routes, by chance: most owners come once, some often, and some retry what fails."""

from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import accumulate
from random import Random

from intents_ui.mirror.incidents.counting import Counts, Ending, Routes
from intents_ui.mirror.incidents.detector import Detector
from intents_ui.mirror.incidents.rules import Incident, Knowledge
from intents_ui.mirror.incidents.usual import DAYS, Usual, tally
from intents_ui.mirror.windows import DAY, HOUR, MINUTE

START = 1_800_000_000 // DAY * DAY
FAILING, LATE = 0.02, 0.01
PROVIDERS, CHAINS = 7, 10
# Endings per hour of a route: the share of routes, and the range.
RATES = ((0.6, 0.3, 3.0), (0.3, 3.0, 15.0), (0.1, 15.0, 100.0))
REGULARS = 6  # owners of a route that come again and again
REGULAR_SHARE = 0.2
RETRYING_SHARE = 0.4  # of owners whose transfer fails
MOST_RETRIES = 40
RETRY_FAILS = 0.9
NIGHT, DAYTIME = 0.4, 1.6  # times the rate


@dataclass(frozen=True)
class Fault:
    """A share of the transfers of some routes fails for a time."""

    routes: frozenset[int]
    start: int
    end: int
    share: float


@dataclass
class World:
    """Routes with the rates of their endings per hour."""

    random: Random
    rates: Sequence[float]
    faults: list[Fault] = field(default_factory=list)
    is_even: bool = False  # the same rate at night
    now: int = START

    def __post_init__(self) -> None:
        self.places = [self._place() for _ in self.rates]
        self._reach = list(accumulate(self.rates))
        self._retries: list[tuple[int, int, int, int]] = []  # time, number, route, owner
        self._number = 0

    def _place(self) -> tuple[str, tuple[str, str]]:
        origin, destination = self.random.sample(range(CHAINS), 2)
        provider = min(int(self.random.expovariate(0.4)), PROVIDERS - 1)
        return f"P{provider}", (str(origin), str(destination))

    def routes(self) -> Routes:
        found = Routes()
        for route, (provider, chains) in enumerate(self.places):
            found.add(route, providers=[provider], chains=chains)
        return found

    def minute(self) -> list[Ending]:
        """Return the endings of the next minute, in order."""
        end, found = self.now + MINUTE, []
        rate = self._reach[-1] / HOUR * (1.0 if self.is_even else self._rhythm())
        at = self.now + self.random.expovariate(rate)
        while at < end:
            route = bisect(self._reach, self.random.random() * self._reach[-1])
            found.append(self._ending(route, self._owner(route), int(at), self._share(route, at)))
            at += self.random.expovariate(rate)
        while self._retries and self._retries[0][0] < end:
            at, left, route, owner = heappop(self._retries)
            share = max(RETRY_FAILS if owner % 2 else 0.0, self._share(route, at))
            found.append(self._ending(route, owner, at, share, retries=left))
        self.now = end
        return sorted(found, key=lambda each: each.at)

    def _rhythm(self) -> float:
        return NIGHT if self.now % DAY < DAY // 2 else DAYTIME

    def _owner(self, route: int) -> int:
        """Return an owner. Odd ones have a problem of their own if a transfer fails, so that retries fail, too."""
        if self.random.random() < REGULAR_SHARE:
            return -(route * REGULARS + min(int(self.random.expovariate(1.0)), REGULARS - 1)) - 1
        self._number += 1
        return self._number

    def _share(self, route: int, at: float) -> float:
        return max(
            (each.share for each in self.faults if route in each.routes and each.start <= at < each.end),
            default=FAILING,
        )

    def _ending(self, route: int, owner: int, at: int, share: float, *, retries: int = -1) -> Ending:
        is_failed = self.random.random() < share
        if is_failed and retries < 0 and self.random.random() < RETRYING_SHARE:
            retries = self.random.randint(1, MOST_RETRIES)
        if is_failed and retries > 0:
            heappush(self._retries, (at + self.random.randint(60, 300), retries - 1, route, owner))
        return Ending(route, owner, at, is_failed, self.random.random() < LATE)


class Run:
    """A detector that follows a world. `opened` are incidents as they opened, `latest` as they are."""

    def __init__(self, world: World) -> None:
        self.world = world
        routes = world.routes()
        usual = Usual(routes)
        for hour, found in past(world):
            usual.learn(hour, found)
        self.detector = Detector(routes, usual, start=world.now)
        self.opened: dict[int, Incident] = {}
        self.latest: dict[int, Incident] = {}
        self._unread: list[Ending] = []
        self._hours: dict[int, list[Ending]] = {}

    def minute(self, knowledge: Knowledge | None = None, *, is_read: bool = True) -> list[Incident]:
        """Let a minute pass. Return what changed."""
        endings = self.world.minute()
        now = self.world.now
        self._hours.setdefault((now - 1) // HOUR, []).extend(endings)
        if now % HOUR == 0:
            for hour in [each for each in self._hours if each < now // HOUR - 1]:
                self.detector.learn(hour, tally(self._hours.pop(hour)))
        if is_read:
            self.detector.observe(endings)
        else:
            self._unread += endings
        changed = self.detector.judge(now, knowledge or Knowledge())
        for each in changed:
            self.opened.setdefault(each.number, each)
            self.latest[each.number] = each
        return changed

    def resume(self) -> None:
        """Read what was not read, as a process does that starts."""
        self.detector.observe(self._unread, is_past=True)
        self._unread.clear()


def past(world: World) -> Iterator[tuple[int, dict[int, Counts]]]:
    """Yield two weeks of hours with the usual share, without endings."""
    draw = world.random
    for hour in range(world.now // HOUR - DAYS * 24, world.now // HOUR):
        rhythm = 1.0 if world.is_even else (NIGHT if hour * HOUR % DAY < DAY // 2 else DAYTIME)
        found = {}
        for route, rate in enumerate(world.rates):
            owners = max(0, round(draw.gauss(rate * rhythm, (rate * rhythm) ** 0.5)))
            if owners:
                failed = sum(draw.random() < FAILING for _ in range(owners))
                found[route] = Counts(owners, failed, sum(draw.random() < LATE for _ in range(owners)))
        yield hour, found


def mixed_rates(random: Random, routes: int) -> list[float]:
    found = []
    for _ in range(routes):
        (_, low, high), *_ = random.choices(RATES, [share for share, *_ in RATES])
        found.append(low * (high / low) ** random.random())
    return found
