"""Run the benchmark and print its results."""

from argparse import ArgumentParser
from functools import partial

from bench.mirror import running
from bench.report import run_parts


def main() -> None:
    parser = ArgumentParser(prog="python -m bench.mirror", description="What the mirror costs.")
    parser.add_argument("--entries", type=int, default=1_000_000, help="of the backfill, and of the figures")
    parser.add_argument("--minutes", type=float, default=30.0, help="of the accelerated clock")
    parts = {
        "fresh": running.fresh,
        "backfill": running.backfill,
        "insight": running.insight,
        "candidates": running.candidates,
        "pages": running.insight_pages,
        "postgres": partial(running.insight_pages, engine=running.postgres),
    }
    run_parts(parser, parts)


if __name__ == "__main__":
    main()
