"""Measurements by turns with the reference loop, and targets."""

import json
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.live import quantile
from bench.processes import Clients, Server, StubService, output


@dataclass(frozen=True)
class Case:
    """Something to measure: paths of a server.

    `rows`: how many of a response's rows are new. `pause`: mean seconds between a client's requests.
    """

    page: str
    state: str
    server: Server
    paths: Sequence[str]
    rows: int = 0
    encoding: str = ""
    pause: float = 0.0
    warm: Sequence[str] | None = None  # paths to request before, those of the case if None


@dataclass(frozen=True)
class Run:
    """One run of one case.

    `processor`: CPU seconds of the server. `calls`: requests to the service. `refused`: responses with status 503.
    """

    milliseconds: Sequence[float]
    seconds: float
    processor: float
    bytes: int = 0
    megabytes: float = 0.0
    calls: int = 0
    refused: int = 0

    @property
    def each(self) -> float:
        """CPU milliseconds per page."""
        return self.processor * 1000 / len(self.milliseconds)

    @property
    def rate(self) -> float:
        """Pages per second."""
        return len(self.milliseconds) / self.seconds


@dataclass(frozen=True)
class Loops:
    """The runs of the loop before and after a run of a case."""

    before: Run
    after: Run

    @property
    def each(self) -> float:
        """CPU milliseconds of the loop."""
        return (self.before.each + self.after.each) / 2


@dataclass(frozen=True)
class Measurement:
    """The runs of one case, each with the loop's around it."""

    page: str
    state: str
    connections: int
    delay: float
    encoding: str
    runs: Sequence[Run]
    loops: Sequence[Loops] = field(default=(), repr=False)

    @property
    def milliseconds(self) -> list[float]:
        return sorted(each for run in self.runs for each in run.milliseconds)

    @property
    def rate(self) -> float:
        return len(self.milliseconds) / sum(run.seconds for run in self.runs)

    @property
    def p50(self) -> float:
        return at(self.milliseconds, 50)

    @property
    def p99(self) -> float:
        return at(self.milliseconds, 99)

    @property
    def processor(self) -> float:
        """CPU milliseconds per page, the median of the turns."""
        return statistics.median(run.each for run in self.runs)

    @property
    def loop(self) -> float:
        """CPU milliseconds of the loop, the median of the turns."""
        return statistics.median(loops.each for loops in self.loops)

    @property
    def ratios(self) -> list[float]:
        """CPU time of each run relative to the loop's around it."""
        return [run.each / loops.each for run, loops in zip(self.runs, self.loops, strict=True)]

    @property
    def ratio(self) -> float:
        """The median of the ratios."""
        return statistics.median(self.ratios)

    @property
    def spread(self) -> float:
        """Difference between the largest and the smallest ratio, in percent of their median."""
        return 100 * (max(self.ratios) - min(self.ratios)) / self.ratio

    def rate_relative_to(self, other: "Measurement") -> float:
        """Return the rate relative to that of another case in the same turn, the median of the turns."""
        return statistics.median(run.rate / others.rate for run, others in zip(self.runs, other.runs, strict=True))

    @property
    def megabytes(self) -> float:
        return max(run.megabytes for run in self.runs)

    @property
    def refused(self) -> int:
        return sum(run.refused for run in self.runs)

    @property
    def beside(self) -> str:
        """What a target says beside its figure."""
        told = f"{self.processor:.2f} ms of CPU, loop {self.loop:.2f} ms, spread {self.spread:.0f}%"
        return f"{told}, {self.refused} refused" if self.refused else told

    def cells(self) -> list[str]:
        count = len(self.milliseconds)
        kilobytes = sum(run.bytes for run in self.runs) / count / 1000
        calls = sum(run.calls for run in self.runs) / (count + self.refused)
        compared = [f"{self.ratio:.2f}", f"{self.spread:.0f}%"] if self.loops else ["", ""]
        size = [f"{calls:.1f}", f"{kilobytes:.1f}", f"{self.megabytes:.0f}"] if kilobytes else ["", "", ""]
        return [
            self.page, self.state, f"{self.connections}", f"{self.delay * 1000:.0f}", self.encoding,
            f"{self.rate:.0f}", f"{self.p50:.1f}", f"{self.p99:.1f}", f"{self.processor:.2f}", *compared,
            *size, f"{self.refused or ''}",
        ]  # fmt: skip

    def print(self) -> None:
        page, state, *how = self.cells()
        print(f"{page:14}{state:13}" + "".join(f"{each:>9}" for each in how), flush=True)


def at(milliseconds: list[float], percent: int) -> float:
    return quantile(milliseconds, percent) if len(milliseconds) > 1 else sum(milliseconds)


@dataclass(frozen=True)
class Target:
    """A figure and its limit. `limit` is the maximum, or the minimum if `least`."""

    what: str
    figure: float
    limit: float
    unit: str
    beside: str = ""
    least: bool = False

    @property
    def is_met(self) -> bool:
        return self.figure >= self.limit if self.least else self.figure <= self.limit

    def line(self) -> str:
        figure, limit = (f"{number:,.2f}".rstrip("0").rstrip(".") for number in (self.figure, self.limit))
        bound = f"{'at least' if self.least else 'at most'} {limit}{self._unit}"
        verdict = "met" if self.is_met else "**missed**"
        return f"| {self.what} | {figure}{self._unit} | {bound} | {verdict} | {self.beside} |"

    @property
    def _unit(self) -> str:
        return self.unit if self.unit in ("", "%") else f" {self.unit}"

    def print(self) -> None:
        print(
            f"{'met' if self.is_met else 'MISSED':8}{self.what}: {self.figure:.2f} {self.unit} {self.beside}",
            flush=True,
        )


@dataclass
class Bench:
    """Runs cases, and collects measurements and targets. `place`: the installed dashboard."""

    place: Path
    service: StubService
    clients: Clients
    seconds: float  # of each run
    rounds: int
    table: list[Measurement] = field(default_factory=list)
    targets: list[Target] = field(default_factory=list)

    def run(self, case: Case, connections: int, delay: float = 0.0) -> Run:
        """Request each path once, so that the rows are known and the stub is prepared. Then measure."""
        self.service.change(case.rows)
        self.service.delay(0)
        warm = case.paths if case.warm is None else case.warm
        self.clients.run(case.server.port, warm, connections=4, encoding=case.encoding)
        self.service.delay(delay)
        seconds, calls = max(self.seconds, 3 * case.pause), self.service.counters["requests"]
        before = case.server.processor
        how = {"connections": connections, "seconds": seconds, "pause": case.pause, "encoding": case.encoding}
        result = self.clients.run(case.server.port, case.paths, **how)
        statuses = result["statuses"]
        # A busy machine may refuse pages for lack of a slot.
        if statuses.keys() - {"503"} != {"200"}:
            sys.exit(f"{case.page}, {case.state}: {statuses}")
        processor = case.server.processor - before
        return Run(
            result["milliseconds"],
            result["seconds"],
            processor,
            bytes=result["bytes"],
            megabytes=case.server.megabytes,
            calls=self.service.counters["requests"] - calls,
            refused=statuses.get("503", 0),
        )

    def loop(self, connections: int, delay: float = 0.0) -> Run:
        """Run the reference loop."""
        self.service.change(0)
        self.service.delay(delay)
        how = ["--service", self.service.url, "--connections", f"{connections}", "--seconds", f"{self.seconds}"]
        result = json.loads(output("-m", "bench.reference", *how))
        return Run(result["milliseconds"], result["seconds"], result["processor"])

    def turns(self, cases: Sequence[Case], connections: int, delay: float = 0.0) -> list[Measurement]:
        """Measure the cases by turns, with the loop before and after each run."""
        all_loops = list[Run]()
        runs, around = list[list[Run]]([] for _ in cases), list[list[Loops]]([] for _ in cases)
        for _ in range(self.rounds):
            all_loops.append(self.loop(connections, delay))
            for case, done, loops in zip(cases, runs, around, strict=True):
                done.append(self.run(case, connections, delay))
                all_loops.append(self.loop(connections, delay))
                loops.append(Loops(*all_loops[-2:]))
        self.service.delay(0)
        names = [(case.page, case.state, connections, delay, case.encoding) for case in cases]
        measured = [Measurement(*name, done, loops) for name, done, loops in zip(names, runs, around, strict=True)]
        for each in (Measurement(cases[0].page, "loop", connections, delay, "", all_loops), *measured):
            self.add(each)
        return measured

    def add(self, measured: Measurement) -> Measurement:
        self.table.append(measured)
        measured.print()
        return measured

    def target(self, *facts: Any, **more: Any) -> None:
        self.targets.append(target := Target(*facts, **more))
        target.print()

    def find(self, page: str, state: str, connections: int = 1, delay: float = 0.0) -> Measurement:
        return next(
            each
            for each in self.table
            if (each.page, each.state, each.connections, each.delay, each.encoding)
            == (page, state, connections, delay, "")
        )
