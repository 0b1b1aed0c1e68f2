"""Transfers on many routes, by chance: most owners come once, some often, and some retry what fails."""

import math
from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import accumulate
from random import Random
from typing import NamedTuple

from intents_ui.mirror.entry import RouteKey, TokenKey
from intents_ui.mirror.figures.scopes import ScopeName, scopes_of
from intents_ui.mirror.incidents.detector import Detector
from intents_ui.mirror.incidents.rules import LONGEST, Begun, Incident, Knowledge
from intents_ui.mirror.windows import DAY, HOUR, MINUTE
from intents_ui.service.outcome import Outcome

START = 1_800_000_000 // DAY * DAY
PAST = 3 * DAY  # to learn from
LIMIT = 5 * MINUTE  # of all routes
FAILING, LATE = 0.02, 0.01
PROVIDERS, CHAINS = 7, 10
TOKENS = ("USDC", "USDC", "USDC", "ETH", "ETH", "DAI")
# Transfers per hour of a route: the share of routes, and the range.
RATES = ((0.6, 0.3, 3.0), (0.3, 3.0, 15.0), (0.1, 15.0, 100.0))
MEDIAN_SECONDS, SPREAD = (50.0, 100.0), 0.35  # of a route's durations, the logarithm's deviation
REGULARS = 6  # owners of a route that come again and again
REGULAR_SHARE = 0.2
RETRYING_SHARE = 0.4  # of owners whose transfer fails
MOST_RETRIES = 40
RETRY_FAILS = 0.9
NIGHT, DAYTIME = 0.4, 1.6  # times the rate
BOT = (6, 14)  # addresses of a bot, all of whose transfers fail within half an hour of each day


class Sent(NamedTuple):
    """A transfer. Times are Unix seconds."""

    route: int
    tokens: tuple[str, str]
    owner: int
    began: float
    ended: float
    is_failed: bool


@dataclass(frozen=True)
class Fault:
    """A share of the transfers of some routes hangs, fails, or is six times slower for a time."""

    what: str  # "hang", "fail" or "slow"
    routes: frozenset[int]
    start: int
    end: int
    share: float = 1.0


@dataclass
class World:
    """Routes with their transfers per hour. The share that fails varies by hour with deviation `sigma` (logarithm)."""

    seed: int
    rates: Sequence[float]
    sigma: float = 0.0
    has_bot: bool = False
    is_even: bool = False  # the same rate at night
    now: int = START
    faults: list[Fault] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = Random(self.seed)
        self.places = [self._place() for _ in self.rates]
        self._medians = [self.random.uniform(*MEDIAN_SECONDS) for _ in self.rates]
        self._reach = list(accumulate(self.rates))
        self._retries: list[tuple[float, int, int, int]] = []  # time, number, route, owner
        self._bot: list[tuple[float, int]] = []  # time, route
        self._number = 0
        self._factors: dict[tuple[int, int], float] = {}

    def _place(self) -> RouteKey:
        origin, destination = self.random.sample(range(CHAINS), 2)
        provider = min(int(self.random.expovariate(0.4)), PROVIDERS - 1)
        return RouteKey(f"P{provider}", str(origin), str(destination))

    def minute(self) -> list[Sent]:
        """Return the transfers that begin in the next minute."""
        end, found = self.now + MINUTE, []
        rate = self._reach[-1] / HOUR * (1.0 if self.is_even else self._rhythm())
        at = self.now + self.random.expovariate(rate)
        while at < end:
            route = self._any_route()
            found.append(self._sent(route, self._owner(route), at, self._share(route)))
            at += self.random.expovariate(rate)
        while self._retries and self._retries[0][0] < end:
            at, left, route, owner = heappop(self._retries)
            found.append(self._sent(route, owner, at, RETRY_FAILS if owner % 2 else FAILING, retries=left))
        if self.has_bot and self.now % DAY == 0:
            route, start = self._any_route(), self.now + self.random.random() * (DAY - HOUR)
            self._bot = [(start + self.random.random() * HOUR / 2, route) for _ in range(self.random.randint(*BOT))]
        for at, route in [each for each in self._bot if self.now <= each[0] < end]:
            self._number += 1
            found.append(self._sent(route, self._number, at, 1.0, retries=0))
        self.now = end
        return found

    def _any_route(self) -> int:
        return bisect(self._reach, self.random.random() * self._reach[-1])

    def _rhythm(self) -> float:
        return NIGHT if self.now % DAY < DAY // 2 else DAYTIME

    def _owner(self, route: int) -> int:
        """Return an owner. Odd ones have a problem of their own if a transfer fails, so that retries fail, too."""
        if self.random.random() < REGULAR_SHARE:
            return -(route * REGULARS + min(int(self.random.expovariate(1.0)), REGULARS - 1)) - 1
        self._number += 1
        return self._number

    def _share(self, route: int) -> float:
        if not self.sigma:
            return FAILING
        key = self.now // HOUR, route
        if key not in self._factors:
            self._factors[key] = math.exp(self.random.gauss(0, self.sigma) - self.sigma**2 / 2)
        return min(1.0, FAILING * self._factors[key])

    def _sent(self, route: int, owner: int, at: float, share: float, *, retries: int = -1) -> Sent:
        took = self._medians[route] * math.exp(self.random.gauss(0, SPREAD))
        if self.random.random() < LATE:
            took += LIMIT
        is_failed = self.random.random() < share
        ended = at + took
        for fault in self.faults:
            if route in fault.routes and fault.start <= at < fault.end and self.random.random() < fault.share:
                is_failed = is_failed or fault.what == "fail"
                ended = {"hang": fault.end + took, "slow": at + 6 * took}.get(fault.what, ended)
        if is_failed and retries < 0 and self.random.random() < RETRYING_SHARE:
            retries = self.random.randint(1, MOST_RETRIES)
        if is_failed and retries > 0:
            heappush(self._retries, (at + took + self.random.randint(60, 300), retries - 1, route, owner))
        tokens = self.random.choice(TOKENS), self.random.choice(TOKENS)
        return Sent(route, tokens, owner, at, ended, is_failed)


def mixed_rates(random: Random, routes: int) -> Iterator[float]:
    for _ in range(routes):
        (_, low, high), *_ = random.choices(RATES, [share for share, *_ in RATES])
        yield low * (high / low) ** random.random()


class Run:
    """A detector that follows a world, after two weeks of it. `opened` are incidents as they opened."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.detector = Detector()
        self.opened: dict[int, Incident] = {}
        self.seen: dict[int, Begun] = {}  # the newest transfer of each route
        self.known: dict[int, Begun] = {}  # as last read
        self._places: dict[tuple[int, tuple[str, str]], tuple[ScopeName, ...]] = {}
        self._decisions: list[tuple[int, int, Begun]] = []
        self._count = 0
        end, world.now = world.now, world.now - PAST
        while world.now < end:
            self.read()

    def minute(self, knowledge: Knowledge | None = None) -> list[Incident]:
        """Let a minute pass. Return what changed."""
        self.read()
        return self.judge(knowledge)

    def judge(self, knowledge: Knowledge | None = None) -> list[Incident]:
        recent = [each for each in self.known.values() if (each.at or each.began) > self.world.now - LONGEST]
        changed = self.detector.judge(self.world.now, recent, knowledge or Knowledge())
        for each in changed:
            self.opened.setdefault(each.number, each)
        return changed

    def read(self) -> None:
        """Read what the mirror reads in the next minute: what begins, and what was decided a minute ago."""
        for sent in self.world.minute():
            self._count += 1
            self.known[self._count] = begun = self._begun(sent)
            outcome = Outcome.FAILED if sent.is_failed else Outcome.DELIVERED
            decided = begun.decided(outcome, "", 1, ended=int(sent.ended), limit=LIMIT, now=self.world.now)
            if decided and decided.at:
                heappush(self._decisions, (decided.at, self._count, decided))
        while self._decisions and self._decisions[0][0] <= self.world.now - MINUTE:
            _, number, begun = heappop(self._decisions)
            self.known[number] = begun
        if self.world.now % HOUR == 0:
            self._learn()

    def _begun(self, sent: Sent) -> Begun:
        key = sent.route, sent.tokens
        if key not in self._places:
            place = self.world.places[sent.route]
            tokens = tuple(TokenKey(chain, each, each) for chain, each in zip(place[1:], sent.tokens, strict=True))
            self._places[key] = scopes_of(place, tokens)
        self.seen[sent.route] = begun = Begun(self._places[key], sent.owner, int(sent.began))
        return begun

    def _learn(self) -> None:
        hour = (self.world.now - LONGEST) // HOUR - 1
        self.known = {n: each for n, each in self.known.items() if (each.at or each.began) >= (hour - 1) * HOUR}
        self.detector.learn([hour], self.known.values())
