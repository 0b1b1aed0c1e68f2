"""Run the soak test."""

import argparse
import asyncio
from pathlib import Path

from bench.soak import soak


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description="Does everything hold, and come back?")
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--log", type=Path, help="folder in which the dashboard's log is kept")
    options = parser.parse_args()
    found = asyncio.run(soak(min(max(options.minutes, 0.5), 600), keep_log=options.log))
    found.print()
    if found.verdict():
        raise SystemExit(1)


if __name__ == "__main__":
    main()
