"""Run the simulation and print its results."""

import argparse
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from random import Random

from bench.incidents.world import RATES, START, Fault, Run, World, mixed_rates
from bench.live import quantile
from bench.pages.measuring import Target
from bench.pages.report import load, machine
from intents_ui.mirror.figures.scopes import Level
from intents_ui.mirror.incidents.counting import Ending
from intents_ui.mirror.incidents.rules import CHANCE, Incident, Kind, Knowledge, State
from intents_ui.mirror.windows import DAY, HOUR, MINUTE

WEEK = 7 * DAY // MINUTE
BEFORE, LASTS, AFTER = 6 * HOUR // MINUTE, 2 * HOUR // MINUTE, 3 * HOUR // MINUTE
SHARE = 0.4
DOWN = 2 * HOUR // MINUTE


@dataclass
class Found:
    """Delays in minutes of the trials of one rate.

    `missed` were not found, `early` closed before the recovery. Those that then stayed closed are not in `closed`.
    """

    found: list[float] = field(default_factory=list)
    closed: list[float] = field(default_factory=list)
    since: list[float] = field(default_factory=list)
    missed: int = 0
    early: int = 0

    @property
    def told(self) -> str:
        p90 = quantile(sorted(self.found), 90)
        return (
            f"p90 {f'{p90:.0f} min' if isfinite(p90) else 'more'}, {self.missed} of {len(self.found)} not found in "
            f"2 hours; begins {statistics.median(self.since):+.0f} min after the first failures (median)"
        )


class Figures:
    """The targets of each part."""

    def __init__(self, *, seed: int, seeds: int, weeks: float, trials: int) -> None:
        self.seed = seed
        self.seeds = seeds
        self.weeks = weeks
        self.trials = trials

    @property
    def parts(self) -> Mapping[str, Callable[[], Iterator[Target]]]:
        return {
            "quiet": self.quiet,
            "found": self.found,
            "provider": self.provider,
            "down": self.down,
            "cost": self.cost,
        }

    def quiet(self) -> Iterator[Target]:
        for routes in (200, 30):
            yield from self._quiet(routes)
        told = "one owner of each route retries for a day, and no other fails"
        yield Target("quiet: openings by one owner's retries", self._retrying(), 0, "", told)

    def _quiet(self, routes: int) -> Iterator[Target]:
        opened: list[list[Incident]] = []
        endings = []
        for seed in range(self.seed, self.seed + self.seeds):
            draw = Random(seed)  # noqa: S311 - the same in each run
            run = Run(World(draw, mixed_rates(draw, routes)))
            for _ in range(round(self.weeks * WEEK)):
                run.minute()
            opened.append([run.latest[number] for number in run.opened])
            endings.append(sum(run.world.rates))
        each = [len(some) / self.weeks for some in opened]
        found = [incident for some in opened for incident in some]
        levels = {level: sum(incident.scope.level is level for incident in found) for level in Level}
        told = (
            f"by seed {spread(each)}; {''.join(f'{n} of a {level}, ' for level, n in levels.items() if n)}"
            f"{min(endings):.0f} to {max(endings):.0f} endings per hour"
        )
        weeks = self.seeds * self.weeks
        yield Target(f"quiet: false openings per week, {routes} routes", len(found) / weeks, 1.5, "", told)
        alerts = [sum(incident.is_alert for incident in some) / self.weeks for some in opened]
        yield Target(
            f"quiet: false alerts per week, {routes} routes",
            sum(alerts) / self.seeds,
            0.5,
            "",
            f"by seed {spread(alerts)}",
        )

    def _retrying(self) -> int:
        """Return the incidents of a day in which one owner of each route retries every minute, and no other fails."""
        draw = Random(self.seed)  # noqa: S311 - the same in each run
        run = Run(World(draw, mixed_rates(draw, 200)))
        run.world.faults.append(Fault(frozenset(range(200)), 0, 2**62, 0.0))
        for _ in range(min(DAY // MINUTE, round(self.weeks * WEEK))):
            run.detector.observe([Ending(route, "retrying", run.world.now, True) for route in range(200)])
            run.minute()
        return sum(each.kind is Kind.FAILING for each in run.opened.values())

    def found(self) -> Iterator[Target]:
        trials = {rate: [self._trial(rate, trial) for trial in range(self.trials)] for rate in (100, 30, 10)}
        found = {rate: collected(each) for rate, each in trials.items()}
        for rate, most in ((100, 10), (30, 20), (10, 60)):
            name = f"found: 40% failing at {rate} endings per hour, median"
            yield Target(name, statistics.median(found[rate].found), most, "min", found[rate].told)
        for rate in (100, 30):
            closed, early = sorted(found[rate].closed), found[rate].early
            told = (
                f"median {statistics.median(closed):.0f} min; {early} of {self.trials} closed before, and "
                f"{self.trials - found[rate].missed - len(closed)} of these stayed closed"
            )
            name = f"found: closed after recovery, {rate} endings per hour, p90"
            yield Target(name, quantile(closed, 90), 45, "min", told)

    def _trial(self, rate: int, trial: int) -> tuple[float | None, float | None, float, int]:
        """Let a route fail among five others. Return the delays, the error of its beginning, and early closings."""
        draw = Random(self.seed * 1_000_003 + trial * 1009 + rate)  # noqa: S311 - the same in each run
        run = Run(World(draw, [rate, *[20.0] * 5], is_even=True))
        for _ in range(BEFORE):
            run.minute()
        start = run.world.now
        end = start + LASTS * MINUTE
        run.world.faults.append(Fault(frozenset([0]), start, end, SHARE))
        found = closed = None
        early = 0
        while run.world.now < end + AFTER * MINUTE and closed is None:
            for each in run.minute():
                if 0 not in run.detector.routes.within(each.scope) or each.kind is not Kind.FAILING:
                    continue
                now = run.world.now
                if found is None and now <= end and each.is_open:
                    found = now
                if found and each.state is State.OVER and each.folded_into is None:
                    early += now < end
                    closed = now if now >= end else None
        if closed is None and not any(each.is_open and each.kind is Kind.FAILING for each in run.detector.incidents):
            closed = end - MINUTE
        since = min((each.since for each in run.detector.incidents), default=start) - start
        return found and (found - start) / MINUTE, closed and (closed - end) / MINUTE, since / MINUTE, early

    def provider(self) -> Iterator[Target]:
        most, before, none = [], [], 0
        for trial in range(self.trials // 2):
            draw = Random(self.seed * 1_000_003 + trial)  # noqa: S311 - the same in each run
            run = Run(World(draw, mixed_rates(draw, 60), is_even=True))
            routes = [route for route, (provider, _) in enumerate(run.world.places) if provider == "P1"]
            for _ in range(BEFORE // 2):
                run.minute()
            start = run.world.now
            run.world.faults.append(Fault(frozenset(routes), start, start + LASTS * MINUTE, SHARE))
            opened = set(run.opened)
            counts = []
            for _ in range(LASTS):
                run.minute()
                counts.append(sum(each.is_open and each.number not in opened for each in run.detector.incidents))
            first = next((place for place, count in enumerate(counts) if count), None)
            none += first is None
            if first is not None:
                most.append(max(counts[first + 15 :], default=0))
                before.append(max(counts[first : first + 15]))
        told = (
            f"{self.trials // 2} trials, {none} not found; {sum(each == 1 for each in most)} had one throughout, "
            f"at most {max(before)} in the first 15 minutes"
        )
        yield Target("provider: open incidents, 15 min after the first, p90", quantile(sorted(most), 90), 1, "", told)

    def down(self) -> Iterator[Target]:
        opened = 0
        for trial in range(max(1, self.trials // 10)):
            draw = Random(self.seed + trial)  # noqa: S311 - the same in each run
            run = Run(World(draw, [60.0] * 40, is_even=True))
            for _ in range(BEFORE):
                run.minute()
            before = len(run.opened)
            for minute in range(DOWN):
                run.minute(Knowledge(lag=minute * MINUTE), is_read=False)
            run.resume()
            for _ in range(HOUR // MINUTE):
                run.minute()
            opened += len(run.opened) - before
        told = f"{max(1, self.trials // 10)} trials of 40 routes with 60 endings per hour"
        yield Target("down: openings while the mirror was down, and in the hour after", opened, 0, "", told)

    def cost(self) -> Iterator[Target]:
        draw = Random(self.seed)  # noqa: S311 - the same in each run
        run = Run(World(draw, mixed_rates(draw, 300), is_even=True))
        for _ in range(BEFORE):
            run.minute()
        minutes = [run.world.minute() for _ in range(HOUR // MINUTE)]
        began = time.process_time()
        for place, endings in enumerate(minutes, 1):
            run.detector.observe(endings)
            run.detector.judge(run.world.now - (len(minutes) - place) * MINUTE)
        each = (time.process_time() - began) / len(minutes) * 1000
        told = f"{sum(map(len, minutes)):,} endings in an hour"
        yield Target("cost: processor time of a minute over 300 routes", each, 20, "ms", told)


def collected(trials: Sequence[tuple[float | None, float | None, float, int]]) -> Found:
    found = Found()
    for delay, closed, since, early in trials:
        found.missed += delay is None
        found.found.append(float("inf") if delay is None else delay)
        if delay is not None:
            found.since.append(since)
            if closed is None or closed >= 0:
                found.closed.append(float("inf") if closed is None else closed)
        found.early += early > 0
    return found


def spread(each: Sequence[float]) -> str:
    return ", ".join(f"{one:.3g}" for one in each)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.incidents", description="What incidents find, and when.")
    parser.add_argument("--only", default="quiet,found,provider,down,cost", help="parts, with commas between them")
    parser.add_argument("--seed", type=int, default=1, help="the first one")
    parser.add_argument("--seeds", type=int, default=4, help="of the quiet weeks")
    parser.add_argument("--weeks", type=float, default=1.0, help="quiet ones of each seed")
    parser.add_argument("--trials", type=int, default=60, help="of what is found")
    parser.add_argument("--times", type=float, default=1.0, help="how many times the limits of the rules")
    options = parser.parse_args()
    CHANCE.update({kind: limit * options.times for kind, limit in CHANCE.items()})
    figures = Figures(seed=options.seed, seeds=options.seeds, weeks=options.weeks, trials=options.trials)
    wanted = options.only.split(",")
    if unknown := sorted(set(wanted) - figures.parts.keys()):
        parser.error(f"no part {', '.join(unknown)}")
    print("\n".join(machine()))
    print(f"\nSeed {options.seed}, {options.seeds} seeds of {options.weeks:g} weeks, {options.trials} trials.")
    shown = ", ".join(f"{kind} {limit:g}" for kind, limit in CHANCE.items())
    print(f"Chance in a week, in one window: {shown}. Rates per hour: {RATES}, from {START}")
    print("\n| target | result | limit | | details |\n|---|---|---|---|---|", flush=True)
    for part in wanted:
        for target in figures.parts[part]():
            print(target.line(), flush=True)
    print(f"\nEnded {load()}, processor time {time.process_time():.0f} s")


if __name__ == "__main__":
    main()
