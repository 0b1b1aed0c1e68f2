"""Run the simulation and print its results."""

import argparse
import copy
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any

from bench.incidents.world import Fault, Run, World, mixed_rates
from bench.report import Target, load_average, machine
from intents_ui.mirror.figures.scopes import EVERYTHING, Level, ScopeName
from intents_ui.mirror.incidents.rules import CHANCE, Begun, Knowledge
from intents_ui.mirror.windows import DAY, HOUR, MINUTE

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


class Figures:
    """The targets of each part."""

    def __init__(self, *, seed: int, seeds: int, weeks: float) -> None:
        self.seeds = range(seed, seed + seeds)
        self.weeks = weeks

    @property
    def parts(self) -> Mapping[str, Callable[[], Iterator[Target]]]:
        return {
            "found": self.found,
            "quiet": self.quiet,
            "retries": self.retries,
            "down": self.down,
            "cost": self.cost,
        }

    def found(self) -> Iterator[Target]:
        for world in WITH_OUTAGES:
            how, _ = WORLDS[world]
            runs = [Run(World(seed, rates(seed), is_even=True, **how)) for seed in self.seeds]
            for name, (kind, share, limit) in OUTAGES.items():
                delays, counts, named = [], [], 0
                for run in map(copy.deepcopy, runs):
                    scope, routes = affected(run.world, name)
                    outage = Fault(kind, routes, run.world.now, run.world.now + HANGS, share)
                    delay, opened = watch(run, outage)
                    delays.append(delay)
                    counts.append(len(opened))
                    named += opened == [scope]
                told = (
                    f"worst {max(delays):.0f}; at most {max(counts)} open, {named} of {len(runs)} name just it; {world}"
                )
                yield Target(f"found: {name}, median", statistics.median(delays), limit, "min", told)

    def quiet(self) -> Iterator[Target]:
        for name, (how, limit) in WORLDS.items():
            opened, alerts = [], 0
            for seed in self.seeds:
                run = Run(World(seed, rates(seed), **how))
                for _ in range(round(self.weeks * WEEK)):
                    run.minute()
                opened.append(len(run.opened) / self.weeks)
                alerts += sum(each.is_alert for each in run.opened.values())
            told = (
                f"median {statistics.median(opened):.3g}, worst {max(opened):.3g}; "
                f"{alerts / self.weeks / len(self.seeds):.2g} alerts"
            )
            yield Target(f"quiet: openings a week, {name}", statistics.mean(opened), limit, "", told)

    def retries(self) -> Iterator[Target]:
        run = Run(World(self.seeds[0], rates(self.seeds[0])))
        places = {route: begun.scopes for route, begun in run.seen.items()}
        opened = set(run.opened)
        for minute in range(min(DAY // MINUTE, round(self.weeks * WEEK))):
            now = run.world.now
            run.known |= {
                -minute * ROUTES - route - 1: Begun(scopes, "retrying", now, now, True)
                for route, scopes in places.items()
            }
            run.minute()
        told = "one owner of each route retries every minute for a day"
        yield Target("retries: openings by one owner's retries", len(run.opened.keys() - opened), 1, "", told)

    def down(self) -> Iterator[Target]:
        opened = 0
        for seed in self.seeds:
            run = Run(World(seed, [60.0] * 40, is_even=True))
            for _ in range(HOUR // MINUTE):
                run.minute()
            before = len(run.opened)
            for minute in range(2 * HOUR // MINUTE):
                run.minute(Knowledge(lag=minute * MINUTE))
            for _ in range(HOUR // MINUTE):
                run.minute()
            opened += len(run.opened) - before
        told = f"{len(self.seeds)} trials of 40 routes with 60 transfers per hour"
        yield Target("down: openings while the mirror was down, and in the hour after", opened, 0, "", told)

    def cost(self) -> Iterator[Target]:
        run = Run(World(self.seeds[0], rates(self.seeds[0], 300), is_even=True))
        took = 0.0
        for _ in range(HOUR // MINUTE):
            run.read()
            began = time.process_time()
            run.judge()
            took += time.process_time() - began
        each = took / (HOUR // MINUTE) * 1000
        told = f"takes in {len(run.known):,} transfers, without reading their rows"
        yield Target("cost: processor time of a minute over 300 routes", each, 50, "ms", told)


def rates(seed: int, routes: int = ROUTES) -> list[float]:
    return list(mixed_rates(Random(seed), routes))


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


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.incidents", description="What incidents find, and when.")
    parser.add_argument("--only", default="found,quiet,retries,down,cost", help="parts, with commas between them")
    parser.add_argument("--seed", type=int, default=1, help="the first one")
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--weeks", type=float, default=1.0, help="quiet ones of each seed")
    options = parser.parse_args()
    figures = Figures(seed=options.seed, seeds=options.seeds, weeks=options.weeks)
    wanted = options.only.split(",")
    if unknown := sorted(set(wanted) - figures.parts.keys()):
        parser.error(f"no part {', '.join(unknown)}")
    print("\n".join(machine()))
    print(f"\nSeed {options.seed}, {options.seeds} seeds of {options.weeks:g} weeks. Chance in a week {CHANCE:g}.")
    print("\n| target | result | limit | | details |\n|---|---|---|---|---|", flush=True)
    for part in wanted:
        for target in figures.parts[part]():
            print(target.line(), flush=True)
    print(f"\nEnded {load_average()}, processor time {time.process_time():.0f} s")


if __name__ == "__main__":
    main()
