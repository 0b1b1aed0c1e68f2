"""Targets with their limits, and the machine on which they were measured."""

import argparse
import platform
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

HEAD = "| target | result | limit | | details |\n|---|---|---|---|---|"

type Part = Callable[[argparse.Namespace], Iterable["Target"]]


@dataclass(frozen=True)
class Target:
    """A figure and its limit. `limit` is the maximum, or the minimum if `least`."""

    what: str
    figure: float
    limit: float
    unit: str
    beside: str = ""
    least: bool = False

    def line(self) -> str:
        unit = self.unit if self.unit in ("", "%") else f" {self.unit}"
        figure, limit = (f"{number:,.2f}".rstrip("0").rstrip(".") for number in (self.figure, self.limit))
        is_met = self.figure >= self.limit if self.least else self.figure <= self.limit
        bound, verdict = "at least" if self.least else "at most", "met" if is_met else "**missed**"
        return f"| {self.what} | {figure}{unit} | {bound} {limit}{unit} | {verdict} | {self.beside} |"


def machine() -> Iterator[str]:
    about = Path("/proc/cpuinfo").read_text()
    cpu, cores = re.search(r"model name\s*: (.*)", about), len(re.findall(r"^processor", about, re.MULTILINE))
    memory = int(Path("/proc/meminfo").read_text().split()[1]) // 2**20
    yield f"{cores} CPUs ({cpu[1] if cpu else platform.machine()}), {memory} GB, Linux {platform.release()}"
    named = ", ".join(f"{each} {version(each)}" for each in ("Django", "gunicorn", "Jinja2", "httpx"))
    yield f"Python {platform.python_version()}, {named}"
    yield f"Started {datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {load_average()}"


def load_average() -> str:
    """Return the machine's load. Above the number of cores, programs wait."""
    return f"load average over a minute {Path('/proc/loadavg').read_text().split()[0]} (quiet: 0)"


def run_parts(parser: argparse.ArgumentParser, parts: Mapping[str, Part]) -> None:
    """Run the parts that the arguments name, all by default, and print their targets as a Markdown table."""
    parser.add_argument("--only", nargs="+", choices=parts, default=list(parts), help="parts to run")
    options = parser.parse_args()
    print(*machine(), "", HEAD, sep="\n", flush=True)
    for part in options.only:
        for target in parts[part](options):
            print(target.line(), flush=True)
    print(f"\nEnded {load_average()}")
