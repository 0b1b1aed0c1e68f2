"""Soak test: fifty clients and a misbehaving service, then checks for errors and leaks:

    .venv/bin/python -m bench.soak --minutes 30

The dashboard is gunicorn with one worker as in gunicorn.conf.py. The service is the emulator on a loopback port behind
the fault schedule of `bench/soak/fault_schedule.py` (silence, resets, truncated and slow responses, 100 MB, a gzip
bomb, HTML, invalid JSON, 429). Clients have fifty addresses, as reported by a trusted proxy, request about a page a
second each, follow transfers, paste tickets, download exports, send raw calls, and sometimes disconnect early.

The test passes if no status was a 5xx other than 503, every page was complete and leaked no secrets, the numbers of
tasks, sockets, files and threads returned to those after the warm-up, and resident memory stayed within 20% of its
value then. The warm-up fills the caches and includes the faults that take most memory. On a busy machine it takes
longer. Memory growth in the second half is reported as well, because 20% would hide a slow leak.
"""

import asyncio
import random
import re
import statistics
import tempfile
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bench.soak.fault_schedule import FaultSchedule, Service, served
from bench.soak.process import Figures, dashboard
from bench.soak.visitors import KINDS, Places, Tally, Visitor
from intents_ui.emulator import Emulator

VISITORS: Final = 50
WARM_UP: Final = 0.3  # of the total time
WARM_ANSWERS: Final = 1_000  # at least, during the warm-up
LONGEST_WARM_UP: Final = 300.0  # seconds
STRETCHES: Final = 12  # parts of the second half. The minimum of each is the memory in permanent use
MORE_MEMORY: Final = 1.2
ALARMS: Final = ("never retrieved", "Traceback", "never awaited")


@dataclass
class Soak:
    """Results of the soak test."""

    minutes: float
    tally: Tally
    injected: Counter[str]
    calls: int
    start: Figures
    end: Figures
    memory: list[tuple[float, int]]  # minutes and megabytes while clients were active
    log: Counter[str]

    def verdict(self) -> list[str]:
        """Return what is wrong."""
        found = [f"{count} x {what}" for what, count in self.tally.wrong.items()]
        found += [f"{count} x in the log: {what}" for what, count in self.log.items() if what in ALARMS]
        if not self.end.is_back_to(self.start):
            found.append(f"left behind: {self.end} after {self.start}")
        if self.end.memory > self.start.memory * MORE_MEMORY:
            found.append(f"{self.end.memory} MB resident after {self.start.memory} MB")
        return found

    def growth(self) -> float:
        """Return the memory growth in the second half, in megabytes per ten minutes."""
        half = self.memory[-1][0] / 2
        stretches: dict[int, list[tuple[float, int]]] = defaultdict(list)
        for minute, memory in self.memory:
            if minute >= half:
                stretches[int((minute / half - 1) * STRETCHES)].append((minute, memory))
        least = [min(each, key=lambda point: point[1]) for each in stretches.values()]
        return statistics.linear_regression(*zip(*least, strict=True)).slope * 10

    def print(self) -> None:
        every = [each for times in self.tally.milliseconds.values() for each in times]
        print(f"\n{self.minutes:g} minutes, {VISITORS} visitors, {len(every):,} answers of {self.calls:,} calls")
        print(f"{self.tally.left_early:,} left early; {self.tally.events:,} events of streams")
        print("faults   ", formatted(self.injected))
        print("statuses ", formatted(self.tally.statuses))
        print("log      ", formatted(self.log) or "-")
        print(f"\n{'':12}{'answers':>9}{'5xx':>7}{'ms p50':>9}{'ms p99':>9}")
        for kind in (*KINDS, ""):
            times = self.tally.milliseconds.get(kind, []) if kind else every
            failed = sum(count for (of, _), count in self.tally.failures.items() if of == (kind or of))
            print(
                f"{kind or 'all':12}{len(times):>9,}{failed:>7,}{quantile(times, 50):>9.0f}{quantile(times, 99):>9.0f}"
            )
        print(f"\n{'':12}{'start':>9}{'end':>9}{'most':>9}")
        for name in ("tasks", "sockets", "files"):
            print(f"{name:12}{getattr(self.start, name):>9}{getattr(self.end, name):>9}")
        print(f"{'threads':12}{sum(self.start.threads.values()):>9}{sum(self.end.threads.values()):>9}")
        most = max(memory for _, memory in self.memory)
        print(f"{'resident MB':12}{self.start.memory:>9}{self.end.memory:>9}{most:>9}")
        print(f"in the last half {self.growth():+.1f} MB in ten minutes")
        print("threads at the end:", formatted(Counter(self.end.threads)))
        print("\n" + ("\n".join(self.verdict()) or "Everything is as it should be."))


def formatted(counted: Counter[Any]) -> str:
    return ", ".join(f"{what} {count:,}" for what, count in counted.most_common())


def quantile(numbers: list[float], percent: int) -> float:
    return statistics.quantiles(numbers, n=100)[percent - 1] if len(numbers) > 1 else sum(numbers)


def read_log(path: Path) -> Counter[str]:
    """Count log lines by level, and alarms by text."""
    lines = path.read_text(errors="replace").splitlines()
    levels = Counter(found[1] for line in lines if (found := re.search(r'"level": "(\w+)"', line)))
    return levels + Counter(alarm for line in lines for alarm in ALARMS if alarm in line)


async def soak(minutes: float, *, keep_log: Path | None = None) -> Soak:
    emulator = Emulator(hold=10.0)
    schedule = FaultSchedule(random.Random(4711))
    service = Service(emulator, schedule)
    warm_up = min(minutes * 60 * WARM_UP, LONGEST_WARM_UP)
    with tempfile.TemporaryDirectory() as folder:
        async with served(service) as url, dashboard(url, keep_log or Path(folder)) as each:
            places = Places(emulator)
            upstream = url.removeprefix("http://")
            tally, memory, began = Tally(), list[tuple[float, int]](), time.monotonic()

            async def crowd(seconds: float, *, answers: int = 0) -> None:
                schedule.calm, started = False, time.monotonic()

                def is_over() -> bool:
                    lasted = time.monotonic() - started
                    is_enough = sum(tally.statuses.values()) >= answers or lasted >= LONGEST_WARM_UP
                    return lasted >= seconds and is_enough

                coming = [Visitor(each.root, number, places, tally, upstream) for number in range(VISITORS)]
                staying = asyncio.gather(*(visitor.stay(is_over) for visitor in coming))
                while not staying.done():
                    await asyncio.wait([staying], timeout=2)
                    memory.append(((time.monotonic() - began) / 60, each.memory()))
                await staying
                schedule.calm = True

            await crowd(warm_up, answers=WARM_ANSWERS)
            start = await each.quiet()
            print(f"warm after {time.monotonic() - began:.0f} s: {start}", flush=True)
            await crowd(minutes * 60 - warm_up)
            end = await each.quiet(start)
        return Soak(minutes, tally, schedule.injected, service.calls, start, end, memory, read_log(each.log))
