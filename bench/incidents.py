"""Simulation of incidents with targets, on a clock of its own. Prints a Markdown table:

    .venv/bin/python -m bench.incidents
    .venv/bin/python -m bench.incidents --only quiet --weeks 2 --seeds 8

- found: minutes until an outage opens an incident, whether it is one, and whether it names what is affected. Also with
  shares that vary by hour
- quiet: openings in weeks of 200 routes without an outage, with failures that are independent, whose share varies by
  hour, or with a bot each day. Rates are mixed, and owners whose transfer fails retry it
- retries: openings by one owner of each route who retries for a day
- down: incidents that open while the mirror reads nothing for two hours, and in the hour after
- cost: processor time of a minute over 300 routes
"""

import argparse
import copy
import math
import statistics
import time
from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from heapq import heappop, heappush
from itertools import accumulate
from random import Random
from typing import Any, NamedTuple

from bench.report import Target, only, print_parts
from intents_ui.mirror.entry import RouteKey, TokenKey
from intents_ui.mirror.figures.scopes import EVERYTHING, Level, ScopeName, scopes_of
from intents_ui.mirror.incidents.detector import Detector
from intents_ui.mirror.incidents.rules import CHANCE, LONGEST, Begun, Incident, Knowledge
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
            retries = self.random.randint(1, MAX_RETRIES)
        if is_failed and retries > 0:
            heappush(self._retries, (at + took + self.random.randint(60, 300), retries - 1, route, owner))
        tokens = self.random.choice(TOKENS), self.random.choice(TOKENS)
        return Sent(route, tokens, owner, at, ended, is_failed)


def rates(seed: int, routes: int = ROUTES) -> list[float]:
    """Return the transfers per hour of some routes."""
    random, found = Random(seed), []
    for _ in range(routes):
        (_, low, high), *_ = random.choices(RATES, [share for share, *_ in RATES])
        found.append(low * (high / low) ** random.random())
    return found


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

    def minute(self, knowledge: Knowledge | None = None) -> None:
        self.read()
        self.judge(knowledge)

    def minutes(self, count: int) -> None:
        for _ in range(count):
            self.minute()

    def judge(self, knowledge: Knowledge | None = None) -> None:
        recent = [each for each in self.known.values() if (each.at or each.began) > self.world.now - LONGEST]
        for each in self.detector.judge(self.world.now, recent, knowledge or Knowledge()):
            self.opened.setdefault(each.number, each)

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


def found(seeds: Sequence[int], weeks: float) -> Iterator[Target]:
    for world in WITH_OUTAGES:
        how, _ = WORLDS[world]
        runs = [Run(World(seed, rates(seed), is_even=True, **how)) for seed in seeds]
        for name, (kind, share, limit) in OUTAGES.items():
            delays, counts, named = [], [], 0
            for run in map(copy.deepcopy, runs):
                scope, routes = affected(run.world, name)
                outage = Fault(kind, routes, run.world.now, run.world.now + HANGS, share)
                delay, opened = watch(run, outage)
                delays.append(delay)
                counts.append(len(opened))
                named += opened == [scope]
            told = f"worst {max(delays):.0f}; at most {max(counts)} open, {named} of {len(runs)} name just it; {world}"
            yield Target(f"found: {name}, median", statistics.median(delays), limit, "min", told)


def quiet(seeds: Sequence[int], weeks: float) -> Iterator[Target]:
    for name, (how, limit) in WORLDS.items():
        opened, alerts = [], 0
        for seed in seeds:
            run = Run(World(seed, rates(seed), **how))
            run.minutes(round(weeks * WEEK))
            opened.append(len(run.opened) / weeks)
            alerts += sum(each.is_alert for each in run.opened.values())
        told = (
            f"median {statistics.median(opened):.3g}, worst {max(opened):.3g}; {alerts / weeks / len(seeds):.2g} alerts"
        )
        yield Target(f"quiet: openings a week, {name}", statistics.mean(opened), limit, "", told)


def retries(seeds: Sequence[int], weeks: float) -> Iterator[Target]:
    run = Run(World(seeds[0], rates(seeds[0])))
    places = {route: begun.scopes for route, begun in run.seen.items()}
    opened = set(run.opened)
    for minute in range(min(DAY // MINUTE, round(weeks * WEEK))):
        now = run.world.now
        run.known |= {
            -minute * ROUTES - route - 1: Begun(scopes, "retrying", now, now, True) for route, scopes in places.items()
        }
        run.minute()
    told = "one owner of each route retries every minute for a day"
    yield Target("retries: openings by one owner's retries", len(run.opened.keys() - opened), 1, "", told)


def down(seeds: Sequence[int], weeks: float) -> Iterator[Target]:
    opened = 0
    for seed in seeds:
        run = Run(World(seed, [60.0] * 40, is_even=True))
        run.minutes(HOUR // MINUTE)
        before = len(run.opened)
        for minute in range(2 * HOUR // MINUTE):
            run.minute(Knowledge(lag=minute * MINUTE))
        run.minutes(HOUR // MINUTE)
        opened += len(run.opened) - before
    told = f"{len(seeds)} trials of 40 routes with 60 transfers per hour"
    yield Target("down: openings while the mirror was down, and in the hour after", opened, 0, "", told)


def cost(seeds: Sequence[int], weeks: float) -> Iterator[Target]:
    run = Run(World(seeds[0], rates(seeds[0], 300), is_even=True))
    took = []
    for _ in range(HOUR // MINUTE):
        run.read()
        began = time.process_time()
        run.judge()
        took.append((time.process_time() - began) * 1000)
    told = f"takes in {len(run.known):,} transfers, without reading their rows"
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


def watch(run: Run, fault: Fault) -> tuple[float, list[ScopeName]]:
    """Return the minutes until an outage is noticed, and what is open after the watched time that wasn't before."""
    run.world.faults.append(fault)
    before, delay = set(run.opened), float("inf")
    for minute in range(1, WATCHED + 1):
        run.minute()
        if run.opened.keys() - before and delay > minute:
            delay = minute
    return delay, [each.scope for each in run.detector.incidents.values() if each.is_open and each.number not in before]


PARTS = {"found": found, "quiet": quiet, "retries": retries, "down": down, "cost": cost}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.incidents", description="What incidents find, and when.")
    only(parser, PARTS)
    parser.add_argument("--seed", type=int, default=1, help="the first one")
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--weeks", type=float, default=1.0, help="quiet ones of each seed")
    options = parser.parse_args()
    print(f"Seed {options.seed}, {options.seeds} seeds of {options.weeks:g} weeks. Chance in a week {CHANCE:g}.")
    seeds = range(options.seed, options.seed + options.seeds)
    print_parts({name: partial(part, seeds, options.weeks) for name, part in PARTS.items()}, options.only)


if __name__ == "__main__":
    main()
