"""The report: machine, targets, table."""

import platform
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from bench.pages.measuring import Measurement, Target

COLUMNS = (
    "page", "state", "connections", "delay ms", "encoding", "pages/s", "p50 ms", "p99 ms", "CPU ms", "times the loop",
    "spread", "calls", "KB", "resident MB", "refused",
)  # fmt: skip


def machine() -> Iterator[str]:
    about = Path("/proc/cpuinfo").read_text()
    cpu, cores = re.search(r"model name\s*: (.*)", about), len(re.findall(r"^processor", about, re.MULTILINE))
    memory = int(Path("/proc/meminfo").read_text().split()[1]) // 2**20
    yield f"{cores} CPUs ({cpu[1] if cpu else platform.machine()}), {memory} GB, Linux {platform.release()}"
    named = ", ".join(f"{each} {version(each)}" for each in ("Django", "gunicorn", "Jinja2", "httpx"))
    yield f"Python {platform.python_version()}, {named}"
    yield f"Started {datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {load()}"


def load() -> str:
    """Return the machine's load. Above the number of cores, programs wait."""
    return f"load average over a minute {Path('/proc/loadavg').read_text().split()[0]} (quiet: 0)"


def report(
    told: Sequence[str], targets: Sequence[Target], table: Sequence[Measurement], live: str, profile: str
) -> str:
    lines = ["# Benchmark results", "", "Written by `make bench`. See `docs/performance.md` for method and sizing.", ""]
    lines += [f"- {each}" for each in told]
    lines += ["", "## Targets", "", "| target | result | limit | | details |", "|---|---|---|---|---|"]
    lines += [each.line() for each in targets]
    lines += ["", "## Pages", "", f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|"]
    lines += [f"| {' | '.join(each.cells())} |" for each in table]
    if live:
        lines += ["", "## Live", "", "```", live.strip(), "```"]
    return "\n".join([*lines, "", profile.strip()]) + "\n"
