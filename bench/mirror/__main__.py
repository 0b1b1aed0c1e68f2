"""Run the benchmark and print its results."""

import argparse
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from bench.mirror import backfill, candidates, frugal, insight, insight_pages, leaders
from bench.mirror.backfill import CALLS
from bench.mirror.insight_pages import Engine
from bench.pages.measuring import Target
from bench.pages.report import load, machine
from bench.processes import output

TAKEOVERS = 3
AT_ONCE = 3  # lists of windows that the mirror reads


class Figures:
    """The targets of each part. `minutes` of the accelerated clock, `turns` of pages of so many `seconds`."""

    def __init__(self, *, entries: int, minutes: float, turns: int, seconds: float) -> None:
        self.entries = entries
        self.minutes = minutes
        self.turns = turns
        self.seconds = seconds
        self._followed: dict[str, float] = {}

    @property
    def parts(self) -> Mapping[str, Callable[[], Iterator[Target]]]:
        return {
            "fresh": self.fresh,
            "frugal": self.frugal,
            "backfill": self.backfill,
            "leaders": self.leaders,
            "insight": self.insight,
            "candidates": self.candidates,
            "pages": self.insight_pages,
            "postgres": self.postgres,
        }

    def fresh(self) -> Iterator[Target]:
        found = self.followed
        told = f"{found['endings']:,.0f} endings in {self.minutes:g} minutes"
        for name, most in (("p50", 15), ("p95", 30), ("p99", 120)):
            yield Target(f"fresh: delay until an ending is known, {name}", found[name], most, "s", told)

    def frugal(self) -> Iterator[Target]:
        found = self.followed
        yield Target("frugal: calls per transfer", found["calls"], 0.3, "")
        yield Target("frugal: calls in any 10 s", found["burst"], 50, "", "a budget of 5 per second")
        pages = frugal.pages(self.turns, self.seconds)
        yield Target("frugal: p99 of pages, worse with the mirror", pages.worse, 10, "%", pages.told)

    def backfill(self) -> Iterator[Target]:
        found = backfill.whole(self.entries)
        told = f"{found.transfers:,} transfers; `INTENTS_MIRROR_CALLS={CALLS}`"
        yield Target(f"backfill: {self.entries:,} entries", found.seconds / 60, 6, "min", told)
        yield Target("backfill: processor time per transfer", found.each, 200, "µs", "of the mirror's process")
        yield Target("backfill: resident memory, maximum", found.megabytes, 130, "MB")
        yield Target("backfill: until the newest day is complete", found.first, 60, "s")
        yield Target("size: SQLite per transfer", found.size / found.transfers, 650, "bytes", "with indexes")
        small = backfill.whole(max(self.entries // 100, 1000))
        told = f"{small.transfers:,} transfers"
        yield Target("backfill: resident memory of a small one", small.megabytes, 130, "MB", told)
        again = backfill.resumed(max(self.entries // 10, 1000))
        told = f"{again.interrupted} more were interrupted; {again.missing} transfers are missing in the end"
        yield Target("killed and resumed: windows read twice", again.windows_read_twice, AT_ONCE, "", told)

    def leaders(self) -> Iterator[Target]:
        found = leaders.takeovers(TAKEOVERS)
        told = f"the longest of {TAKEOVERS}, each after the leader of three processes was stopped for 30 s"
        yield Target("leaders: takeover", found.longest, 15, "s", told)
        yield Target("leaders: windows written by a former leader", found.rows, 0, "")

    def insight(self) -> Iterator[Target]:
        for entries in sorted({max(self.entries // 100, 1000), self.entries}):
            with tempfile.TemporaryDirectory(prefix="intents-mirror-") as folder:
                settings = {
                    "INTENTS_DATABASE": str(Path(folder, "mirror.sqlite3")),
                    "DJANGO_SETTINGS_MODULE": "intents_ui.settings",
                }
                found = json.loads(output("-m", "bench.mirror.insight", str(entries), **settings))
            told = f"{entries:,} transfers in 30 days"
            for name in insight.QUERIES:
                yield Target(
                    f"insight: {name}", found[name], 20, "ms", f"processor time, median of {insight.TURNS}, {told}"
                )
            yield Target("insight: facts of a day", found[insight.DAY_AGAIN], 1000, "ms", told)
            yield Target("insight: snapshots of all periods", found["snapshots"], 1, "s", f"processor time, {told}")
            yield Target("insight: longest piece of work", found["longest"], 100, "ms", told)
            told = f"{told}, {found['facts']:,.0f} facts"
            yield Target("insight: processor time to count all, per transfer", found["all"], 50, "µs", told)

    def candidates(self) -> Iterator[Target]:
        for name, engine in (("SQLite", insight_pages.sqlite), ("PostgreSQL", insight_pages.postgres)):
            with engine() as database:
                settings = {"INTENTS_DATABASE": str(database.path), "DJANGO_SETTINGS_MODULE": "intents_ui.settings"}
                found = json.loads(output("-m", "bench.mirror.candidates", str(self.entries), **settings))
            told = f"{self.entries:,} transfers, median of {candidates.TURNS}"
            for kind in candidates.KINDS:
                ratio = found[kind] / found[candidates.LOOKUP]
                yield Target(f"candidates: {kind}, {name}", found[kind], 50, "ms", f"{told}, {ratio:.0f} lookups")
            yield Target(f"candidates: longest, {name}", found[candidates.LONGEST], 50, "ms")

    def insight_pages(self) -> Iterator[Target]:
        yield from self._pages(insight_pages.sqlite, "SQLite", 30)

    def postgres(self) -> Iterator[Target]:
        yield from self._pages(insight_pages.postgres, "PostgreSQL", 30)

    def _pages(self, engine: Engine, name: str, most: float) -> Iterator[Target]:
        found = insight_pages.pages(self.entries, engine)
        told = f"{self.entries:,} transfers, {insight_pages.SECONDS:.0f} s. {found.told}"
        yield Target(f"pages: /insight, p99, {name}", found.p99, most, "ms", told)
        yield Target(f"pages: /insight, processor time, {name}", found.processor, 10, "ms", "of all workers, per page")
        yield Target(f"pages: responses other than 200, {name}", found.failed, 0, "")
        yield Target(f"pages: mirrors that were ended by a lock, {name}", 1 - found.is_mirror_running, 0, "")

    @property
    def followed(self) -> Mapping[str, float]:
        """The figures of the accelerated clock."""
        if not self._followed:
            with tempfile.TemporaryDirectory(prefix="intents-mirror-") as folder:
                settings = {
                    "INTENTS_DATABASE": str(Path(folder, "mirror.sqlite3")),
                    "DJANGO_SETTINGS_MODULE": "intents_ui.settings",
                }
                self._followed = json.loads(output("-m", "bench.mirror.fresh", str(self.minutes * 60), **settings))
        return self._followed


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.mirror", description="What the mirror costs.")
    parser.add_argument(
        "--only",
        default="fresh,frugal,backfill,leaders,insight,candidates,pages,postgres",
        help="parts, with commas between them",
    )
    parser.add_argument("--entries", type=int, default=1_000_000, help="of the backfill, and of the figures")
    parser.add_argument("--minutes", type=float, default=30.0, help="of the accelerated clock")
    parser.add_argument("--turns", type=int, default=12, help="of pages, with and without the mirror")
    parser.add_argument("--seconds", type=float, default=10.0, help="of each turn")
    options = parser.parse_args()
    figures = Figures(entries=options.entries, minutes=options.minutes, turns=options.turns, seconds=options.seconds)
    wanted = options.only.split(",")
    if unknown := sorted(set(wanted) - figures.parts.keys()):
        parser.error(f"no part {', '.join(unknown)}")
    print("\n".join(machine()))
    print("\n| target | result | limit | | details |\n|---|---|---|---|---|", flush=True)
    for part in wanted:
        for target in figures.parts[part]():
            print(target.line(), flush=True)
    print(f"\nEnded {load()}")


if __name__ == "__main__":
    main()
