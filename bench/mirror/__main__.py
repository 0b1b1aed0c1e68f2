"""Run the benchmark and print its results."""

import argparse
from collections.abc import Iterator

from bench.mirror import backfill, beside, leaders
from bench.mirror.databases import postgres, sqlite
from bench.mirror.inside import measured
from bench.report import Target, only, print_parts

PARTS = ("fresh", "frugal", "backfill", "leaders", "insight", "candidates", "pages", "postgres")


def fresh(minutes: float) -> Iterator[Target]:
    with sqlite() as database:
        yield from measured("fresh", minutes * 60, database.path)


def insight(entries: int) -> Iterator[Target]:
    for count in sorted({max(entries // 100, 1000), entries}):
        with sqlite() as database:
            yield from measured("insight", count, database.path)


def candidates(entries: int) -> Iterator[Target]:
    for engine in (sqlite, postgres):
        with engine() as database:
            yield from measured("candidates", entries, database.path)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.mirror", description="What the mirror costs.")
    only(parser, PARTS)
    parser.add_argument("--entries", type=int, default=1_000_000, help="of the backfill, and of the figures")
    parser.add_argument("--minutes", type=float, default=30.0, help="of the accelerated clock")
    parser.add_argument("--turns", type=int, default=12, help="of pages, with and without the mirror")
    parser.add_argument("--seconds", type=float, default=10.0, help="of each turn")
    options = parser.parse_args()
    parts = {
        "fresh": lambda: fresh(options.minutes),
        "frugal": lambda: beside.pages(options.turns, options.seconds),
        "backfill": lambda: backfill.measure(options.entries),
        "leaders": leaders.measure,
        "insight": lambda: insight(options.entries),
        "candidates": lambda: candidates(options.entries),
        "pages": lambda: beside.insight_pages(options.entries, sqlite),
        "postgres": lambda: beside.insight_pages(options.entries, postgres),
    }
    print_parts(parts, options.only)


if __name__ == "__main__":
    main()
