"""Simulation of incidents with targets, on a clock of its own. Prints a Markdown table:

    .venv/bin/python -m bench.incidents
    .venv/bin/python -m bench.incidents --only quiet --weeks 2 --seeds 7 8

- found: minutes until an outage opens an incident, whether it is one, and whether it names what is affected. Also with
  shares that vary by hour
- quiet: openings in weeks of 200 routes without an outage, with failures that are independent, whose share varies by
  hour, or with a bot each day. Rates are mixed, and owners whose transfer fails retry it
- retries: openings by one owner of each route who retries for a day
- down: incidents that open while the mirror reads nothing for two hours, and in the hour after
- cost: processor time of a minute over 300 routes
"""

import copy
import math
import statistics
import time
from argparse import ArgumentParser, Namespace
from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from heapq import heappop, heappush
from itertools import accumulate
from random import Random
from typing import Any

from bench.report import Target, run_parts
from intents_ui.mirror.entry import RouteKey, TokenKey
from intents_ui.mirror.figures.scopes import EVERYTHING, Level, ScopeName, scopes_of
from intents_ui.mirror.incidents.detector import LONGEST, MAX_LAG, Begun, Detector, Incident, Spans
from intents_ui.mirror.windows import DAY, HOUR, MINUTE
from intents_ui.service.outcome import Outcome

WEEK = 7 * DAY // MINUTE
ROUTES = 200
WATCHED = 75  # minutes of an outage
# What happens, its kind, the share of transfers, and the limit in minutes.
OUTAGES = {
    "half of the busiest route hangs": ("hang", 0.5, 17),
    "half of a provider hangs": ("hang", 0.5, 15),
    "40% of the service hangs": ("hang", 0.4, 11),
    "all of a chain hangs": ("hang", 1.0, 8),
    "half of a provider fails": ("fail", 0.5, 11),
    "a route is six times slower": ("slow", 1.0, 10),
}
HANGS = 3 * HOUR
INDEPENDENT, SIGMA = "independent failures", "shares that vary by hour, sigma {:g}"
# How failures come about, and the most openings in a week without an outage.
WORLDS: Mapping[str, tuple[dict[str, Any], float]] = {
    INDEPENDENT: ({}, 1.5),
    SIGMA.format(0.4): ({"sigma": 0.4}, 0.5),
    SIGMA.format(0.7): ({"sigma": 0.7}, 3.0),
    "a bot each day": ({"has_bot": True}, 5.5),
}
WITH_OUTAGES = (INDEPENDENT, SIGMA.format(0.4))
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
MAX_RETRIES = 40
RETRY_FAILS = 0.9
NIGHT, DAYTIME = 0.4, 1.6  # times the rate
BOT = (6, 14)  # addresses of a bot, all of whose transfers fail within half an hour of each day


@dataclass(frozen=True)
class Fault:
    """A share of the transfers of some routes hangs, fails, or is six times slower for a time."""

    what: str  # "hang", "fail" or "slow"
    routes: frozenset[int]
    start: int
    end: int
    share: float = 1.0


def rates(seed: int, routes: int = ROUTES) -> list[float]:
    """Return the transfers per hour of some routes."""
    random, found = Random(seed), []
    for _ in range(routes):
        (_, low, high), *_ = random.choices(RATES, [share for share, *_ in RATES])
        found.append(low * (high / low) ** random.random())
    return found


@cache
def scopes(place: RouteKey, symbols: tuple[str, str]) -> tuple[ScopeName, ...]:
    return scopes_of(place, tuple(TokenKey(chain, each, each) for chain, each in zip(place[1:], symbols, strict=True)))


@dataclass
class World:
    """Routes with their transfers per hour, and a detector that follows them, and has for three days.

    The share that fails varies by hour with deviation `sigma` (logarithm). `opened` are incidents as they opened.
    """

    seed: int
    rates: Sequence[float]
    sigma: float = 0.0
    has_bot: bool = False
    is_even: bool = False  # the same rate at night
    faults: list[Fault] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = Random(self.seed)
        self.places = [self._place() for _ in self.rates]
        self.detector = Detector()
        self.opened: dict[int, Incident] = {}
        self.seen: dict[int, Begun] = {}  # the newest transfer of each route
        self.known: dict[int, Begun] = {}  # as last read
        self._medians = [self.random.uniform(*MEDIAN_SECONDS) for _ in self.rates]
        self._reach = list(accumulate(self.rates))
        self._retries: list[tuple[float, int, int, int]] = []  # time, number, route, owner
        self._bot: list[tuple[float, int]] = []  # time, route
        self._decisions: list[tuple[int, int, Begun]] = []
        self._owners = self._count = 0
        self._factors: dict[tuple[int, int], float] = {}
        self.now = START - PAST
        while self.now < START:
            self.read()

    def _place(self) -> RouteKey:
        origin, destination = self.random.sample(range(CHAINS), 2)
        provider = min(int(self.random.expovariate(0.4)), PROVIDERS - 1)
        return RouteKey(f"P{provider}", str(origin), str(destination))

    def minutes(self, count: int) -> None:
        for _ in range(count):
            self.read()
            self.judge()

    def judge(self, holes: Spans = ()) -> None:
        recent = [each for each in self.known.values() if (each.at or each.began) > self.now - LONGEST]
        for each in self.detector.judge(self.now, recent, holes):
            self.opened.setdefault(each.number, each)

    def read(self) -> None:
        """Let a minute pass. Read what the mirror reads then: what begins, and what was decided a minute ago."""
        end = self.now + MINUTE
        rhythm = 1.0 if self.is_even else NIGHT if self.now % DAY < DAY // 2 else DAYTIME
        rate = self._reach[-1] / HOUR * rhythm
        at = self.now + self.random.expovariate(rate)
        while at < end:
            route = self._any_route()
            self._send(route, self._owner(route), at, self._share(route))
            at += self.random.expovariate(rate)
        while self._retries and self._retries[0][0] < end:
            at, left, route, owner = heappop(self._retries)
            self._send(route, owner, at, RETRY_FAILS if owner % 2 else FAILING, retries=left)
        if self.has_bot and self.now % DAY == 0:
            route, start = self._any_route(), self.now + self.random.random() * (DAY - HOUR)
            self._bot = [(start + self.random.random() * HOUR / 2, route) for _ in range(self.random.randint(*BOT))]
        for at, route in [each for each in self._bot if self.now <= each[0] < end]:
            self._owners += 1
            self._send(route, self._owners, at, 1.0, retries=0)
        self.now = end
        while self._decisions and self._decisions[0][0] <= end - MINUTE:
            _, number, begun = heappop(self._decisions)
            self.known[number] = begun
        if end % HOUR == 0:
            hour = (end - LONGEST) // HOUR - 1
            self.known = {n: each for n, each in self.known.items() if (each.at or each.began) >= (hour - 1) * HOUR}
            self.detector.learn([hour], self.known.values())

    def _any_route(self) -> int:
        return bisect(self._reach, self.random.random() * self._reach[-1])

    def _owner(self, route: int) -> int:
        """Return an owner. Odd ones have a problem of their own if a transfer fails, so that retries fail, too."""
        if self.random.random() < REGULAR_SHARE:
            return -(route * REGULARS + min(int(self.random.expovariate(1.0)), REGULARS - 1)) - 1
        self._owners += 1
        return self._owners

    def _share(self, route: int) -> float:
        """Return the share of a route's transfers that fails in this hour."""
        if not self.sigma:
            return FAILING
        key = self.now // HOUR, route
        if key not in self._factors:
            self._factors[key] = math.exp(self.random.gauss(0, self.sigma) - self.sigma**2 / 2)
        return min(1.0, FAILING * self._factors[key])

    def _send(self, route: int, owner: int, at: float, share: float, *, retries: int = -1) -> None:
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
            retries = self.random.randint(1, MAX_RETRIES)
        if is_failed and retries > 0:
            heappush(self._retries, (at + took + self.random.randint(60, 300), retries - 1, route, owner))
        symbols = self.random.choice(TOKENS), self.random.choice(TOKENS)
        self._count += 1
        begun = Begun(scopes(self.places[route], symbols), owner, int(at))
        self.seen[route] = self.known[self._count] = begun
        outcome, now = Outcome.FAILED if is_failed else Outcome.DELIVERED, self.now + MINUTE
        decided = begun.decided(outcome, "", 1, ended=int(ended), limit=LIMIT, now=now)
        if decided and decided.at:
            heappush(self._decisions, (decided.at, self._count, decided))


def found(options: Namespace) -> Iterator[Target]:
    for how in WITH_OUTAGES:
        worlds = [World(seed, rates(seed), is_even=True, **WORLDS[how][0]) for seed in options.seeds]
        for name, (kind, share, limit) in OUTAGES.items():
            delays, counts, named = [], [], 0
            for world in map(copy.deepcopy, worlds):
                scope, routes = affected(world, name)
                world.faults.append(Fault(kind, routes, START, START + HANGS, share))
                delay, opened = watch(world)
                delays.append(delay)
                counts.append(len(opened))
                named += opened == [scope]
            told = f"worst {max(delays):.0f}; at most {max(counts)} open, {named} of {len(worlds)} name just it; {how}"
            yield Target(f"found: {name}, median", statistics.median(delays), limit, "min", told)


def quiet(options: Namespace) -> Iterator[Target]:
    for name, (how, limit) in WORLDS.items():
        opened, alerts = [], 0
        for seed in options.seeds:
            world = World(seed, rates(seed), **how)
            world.minutes(round(options.weeks * WEEK))
            opened.append(len(world.opened) / options.weeks)
            alerts += sum(each.is_alert for each in world.opened.values())
        middle, alerts_a_week = statistics.median(opened), alerts / options.weeks / len(options.seeds)
        told = f"median {middle:.3g}, worst {max(opened):.3g}; {alerts_a_week:.2g} alerts"
        yield Target(f"quiet: openings a week, {name}", statistics.mean(opened), limit, "", told)


def retries(options: Namespace) -> Iterator[Target]:
    world = World(options.seeds[0], rates(options.seeds[0]))
    places = {route: begun.scopes for route, begun in world.seen.items()}
    for minute in range(min(DAY // MINUTE, round(options.weeks * WEEK))):
        for route, scopes in places.items():
            number = -minute * ROUTES - route - 1
            world.known[number] = Begun(scopes, "retrying", world.now, world.now, True)
        world.minutes(1)
    told = "one owner of each route retries every minute for a day"
    yield Target("retries: openings by one owner's retries", len(world.opened), 1, "", told)


def down(options: Namespace) -> Iterator[Target]:
    opened = 0
    for seed in options.seeds:
        world = World(seed, [60.0] * 40, is_even=True)
        world.minutes(HOUR // MINUTE)
        before = len(world.opened)
        for lag in range(0, 2 * HOUR, MINUTE):
            world.read()
            world.judge([(world.now - lag, world.now)] if lag > MAX_LAG else ())
        world.minutes(HOUR // MINUTE)
        opened += len(world.opened) - before
    told = f"{len(options.seeds)} trials of 40 routes with 60 transfers per hour"
    yield Target("down: openings while the mirror was down, and in the hour after", opened, 0, "", told)


def cost(options: Namespace) -> Iterator[Target]:
    world, took = World(options.seeds[0], rates(options.seeds[0], 300), is_even=True), []
    for _ in range(HOUR // MINUTE):
        world.read()
        began = time.process_time()
        world.judge()
        took.append((time.process_time() - began) * 1000)
    told = f"takes in {len(world.known):,} transfers, without reading their rows"
    yield Target("cost: processor time of a minute over 300 routes", statistics.mean(took), 50, "ms", told)


def affected(world: World, name: str) -> tuple[ScopeName, frozenset[int]]:
    """Return what an outage is of, and its routes."""
    routes = range(len(world.rates))
    busiest = max(routes, key=lambda each: world.rates[each])
    by_provider: dict[str, float] = {}
    for route in routes:
        provider = world.places[route].providers
        by_provider[provider] = by_provider.get(provider, 0) + world.rates[route]
    second = sorted(by_provider, key=lambda each: by_provider[each])[-2]
    chain = world.places[busiest].origin_chain
    if "provider" in name:
        return ScopeName(Level.PROVIDER, second), frozenset(r for r in routes if world.places[r].providers == second)
    if "chain" in name:
        return ScopeName(Level.CHAIN, "", chain), frozenset(r for r in routes if chain in world.places[r][1:])
    if "service" in name:
        return EVERYTHING, frozenset(routes)
    return ScopeName(Level.ROUTE, *world.places[busiest]), frozenset([busiest])


def watch(world: World) -> tuple[float, list[ScopeName]]:
    """Return the minutes until an outage is noticed, and what is open after the watched time."""
    delay = float("inf")
    for minute in range(1, WATCHED + 1):
        world.minutes(1)
        if world.opened:
            delay = min(delay, minute)
    return delay, [each.scope for each in world.detector.incidents.values() if each.is_open]


def main() -> None:
    parser = ArgumentParser(prog="python -m bench.incidents", description="What incidents find, and when.")
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(1, 7)))
    parser.add_argument("--weeks", type=float, default=1.0, help="quiet ones of each seed")
    parts = {"found": found, "quiet": quiet, "retries": retries, "down": down, "cost": cost}
    run_parts(parser, parts)


if __name__ == "__main__":
    main()
