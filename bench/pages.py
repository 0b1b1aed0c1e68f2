"""Benchmark of the pages with targets. Takes some minutes and writes `RESULTS.md`:

    .venv/bin/python -m bench.pages             like `make bench`, without the live pages
    .venv/bin/python -m bench.pages --live      with the live pages (`bench.live`)
    .venv/bin/python -m bench.pages --quick     short runs of everything, writes nothing

Four processes on loopback: the dashboard (gunicorn, one worker, static files collected, default settings), a stub
service with prepared responses (`bench.stub_service`), clients (`bench.load`), and separately the reference loop
(`bench.reference`). "Cold": pages send their requests to the service each time, and only the lists of chains and tokens
are cached, as in any warm process. Requests within a round differ, so no two clients share a response. CPU time is the
worker's, user and system, all threads. Other load on the machine affects it little, but does affect the milliseconds.
"""

import argparse
import html
import itertools
import json
import platform
import re
import socket
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import httpx

from bench import profiled
from bench.live import quantile
from bench.load import length_of
from bench.processes import (
    CACHED,
    COLD,
    Clients,
    Dashboard,
    StubService,
    clients,
    dashboard,
    installed,
    output,
    stub_service,
)
from bench.stub_service import owner

EMPTY = "/saved"  # the page frame with little text and no service call
DELAYS = (0.0, 0.05, 0.2)
CONNECTIONS = (1, 16)
WAITING = (
    40  # connections while the service is slow: the number of pages that may wait for it (INTENTS_MAX_WAITING_PAGES)
)
HISTORY_PAGES = 60
NEXT = re.compile(r'href="([^"]+)"[^>]*rel="next"')
HITS = (20, 100, 1000)
MANY = 10_000
VISITORS = 100
READING = 4.0  # seconds on average
RESULTS = Path(__file__).parent / "RESULTS.md"


@dataclass(frozen=True)
class Measurement:
    """Result of one run.

    `processor` is the worker's CPU time per page in milliseconds, `clients` that of the clients.
    """

    page: str
    how: str
    connections: int
    rate: float
    p50: float
    p99: float
    processor: float
    clients: float
    megabytes: float

    def line(self, empty: float) -> str:
        took = f"{self.rate:.0f} | {self.p50:.1f} | {self.p99:.1f} | {self.processor:.2f}"
        beside = f"{self.processor / empty:.1f} | {self.clients:.2f} | {self.megabytes:.0f}"
        return f"| {self.page} | {self.how} | {self.connections} | {took} | {beside} |"


@dataclass(frozen=True)
class Reach:
    """A target.

    `limit` is the maximum, or the minimum if `least`. `reason` is the section of missed_targets.md that explains
    a miss.
    """

    what: str
    figure: float
    limit: float
    unit: str
    beside: str = ""
    least: bool = False
    reason: str = ""

    @property
    def is_reached(self) -> bool:
        return self.figure >= self.limit if self.least else self.figure <= self.limit

    def line(self) -> str:
        figure, limit = (f"{number:,.2f}".rstrip("0").rstrip(".") for number in (self.figure, self.limit))
        bound = f"{'at least' if self.least else 'at most'} {limit} {self.unit}"
        verdict = "met" if self.is_reached else f"**missed** ({self.reason})" if self.reason else "**missed**"
        return f"| {self.what} | {figure} {self.unit} | {bound} | {verdict} | {self.beside} |"


@dataclass
class Bench:
    place: Path
    service: StubService
    clients: Clients
    seconds: float
    table: list[Measurement] = field(default_factory=list)
    reach: list[Reach] = field(default_factory=list)

    def run(
        self, of: Dashboard, page: str, how: str, paths: Sequence[str], connections: int, pause: float = 0
    ) -> Measurement:
        before, seconds = of.processor, max(self.seconds, 3 * pause)
        result = self.clients.run(of.port, paths, connections=connections, seconds=seconds, pause=pause)
        took, milliseconds = of.processor - before, result["milliseconds"]
        # Rejections for lack of a slot are expected for a clients on a busy machine.
        if result["statuses"].keys() - {"503"} != {"200"} or (not pause and "503" in result["statuses"]):
            sys.exit(f"{page}, {how}: {result['statuses']}")
        count = len(milliseconds)
        return Measurement(
            page,
            how,
            connections,
            rate=count / result["seconds"],
            p50=at(milliseconds, 50),
            p99=at(milliseconds, 99),
            processor=took * 1000 / count,
            clients=result["processor"] * 1000 / count,
            megabytes=of.megabytes,
        )

    def row(self, *run: Any) -> Measurement:
        measured = self.run(*run)
        self.table.append(measured)
        took = f"{measured.rate:>8.0f}/s{measured.p50:>9.1f}{measured.p99:>9.1f} ms{measured.processor:>8.2f} ms CPU"
        print(f"{measured.page:14}{measured.how:42}{measured.connections:>4}{took}", flush=True)
        return measured

    def reached(self, *facts: Any, **more: Any) -> None:
        self.reach.append(target := Reach(*facts, **more))
        verdict = "met" if target.is_reached else "MISSED"
        print(f"{verdict:8}{target.what}: {target.figure:.2f} {target.unit} {target.beside}", flush=True)


def at(milliseconds: list[float], percent: int) -> float:
    return quantile(milliseconds, percent) if len(milliseconds) > 1 else sum(milliseconds)


@dataclass(frozen=True)
class Paths:
    """Paths to request, different pages of the same kind in each round."""

    history: list[str]
    intents: list[str]
    tokens: list[str]
    search: list[str]

    @classmethod
    def found(cls, of: Dashboard, service: StubService) -> "Paths":
        with httpx.Client(base_url=of.url, trust_env=False, timeout=60) as http:
            history = list(walk(http))
            chains = re.findall(r'<option value="(\d+)"', http.get("/history").text)
        listed = service.call("GetIntentHistory", page={"pageSize": 30}, byStatuses=["SUCCEEDED"])["intents"]
        chains = list(dict.fromkeys(chains))
        return cls(
            history=history,
            intents=[f"/intent/{entry['intentId']}" for entry in listed],
            tokens=[f"/tokens?q=u&limit={limit}" for limit in range(20, 60)],
            search=[f"/search?q={owner(HITS[0], number)}" for number in range(64)],
        )

    def named(self) -> dict[str, list[str]]:
        return {"history": self.history, "intent": self.intents, "tokens": self.tokens, "search": self.search}


def walk(http: httpx.Client) -> Iterator[str]:
    """Yield the paths of the history's pages, newest first."""
    path: str | None = "/history"
    for _ in range(HISTORY_PAGES):
        if path is None:
            return
        yield path
        found = NEXT.search(http.get(path).raise_for_status().text)
        path = html.unescape(found[1]) if found else None


def measure(bench: Bench) -> None:
    start(bench)
    with dashboard(bench.place, bench.service.url, CACHED) as cached:
        paths = Paths.found(cached, bench.service)
        warm(cached, bench, paths)
        empty = [bench.row(cached, "empty", "", [EMPTY], connections) for connections in CONNECTIONS]
        for name, some in paths.named().items():
            for connections in CONNECTIONS:
                # Two of each, so that they stay cached during the run: a list is fresh for seconds only.
                bench.row(cached, name, "cached", some[:2], connections)
        intent = next(row for row in bench.table if row.page == "intent" and row.connections == 1)
        what = "an intent's page from cached data: its rate relative to the empty page's"
        bench.reached(what, intent.rate / empty[0].rate, 0.5, "times", least=True, reason="C")
        crowded(bench, cached, paths)
    with dashboard(bench.place, bench.service.url, COLD) as cold:
        warm(cold, bench, paths)
        for delay in DELAYS:
            bench.service.delay(delay)
            for name, some in paths.named().items():
                for connections in CONNECTIONS:
                    bench.row(cold, name, f"cold, {delay * 1000:.0f} ms", some, connections)
        slow = bench.row(cold, "history", "cold, 200 ms", paths.history, WAITING)
        beside = f"{WAITING} connections"
        bench.reached("uncached history pages at 200 ms", slow.rate, 170, "/s", beside, least=True, reason="A")
        bench.reached("their p99", slow.p99, 600, "ms", reason="A")
        bench.service.delay(0)
        to_the_reference(bench, cold, paths)
        first_byte(bench, cold, paths)
        growing(bench, cold, paths)
        many(bench, cold)


def warm(of: Dashboard, bench: Bench, paths: Paths) -> None:
    """Prepare the stub's responses and warm up the process."""
    for some in (*paths.named().values(), [EMPTY]):
        bench.clients.run(of.port, some, connections=4, seconds=0.7)


def start(bench: Bench) -> None:
    durations = []
    for _ in range(3):
        with dashboard(bench.place, bench.service.url, CACHED) as fresh:
            httpx.get(fresh.url + EMPTY, trust_env=False).raise_for_status()
            durations.append(fresh.started_in)
    bench.reached(
        "process start, until the first response",
        statistics.median(durations),
        2,
        "s",
        f"of 3, maximum {max(durations):.2f}",
        reason="D",
    )


def crowded(bench: Bench, cached: Dashboard, paths: Paths) -> None:
    everything = [path for some in paths.named().values() for path in some[:20]] + [EMPTY]
    bench.row(cached, "all kinds", f"{VISITORS} users, each reads for {READING:g} s", everything, VISITORS, READING)
    bench.reached(f"resident memory with {VISITORS} users", cached.megabytes, 120, "MB", reason="E")


def to_the_reference(bench: Bench, cold: Dashboard, paths: Paths) -> None:
    """Compare the history page with the reference loop, alternating because the machine's load varies."""
    for connections, most in zip(CONNECTIONS, (1.6, 2.2), strict=True):
        pairs = []
        for _ in range(3):
            loop = reference(bench, connections)
            pairs.append((bench.run(cold, "history", "", paths.history, connections).processor, loop))
        ours, theirs = (statistics.median(figures) for figures in zip(*pairs, strict=True))
        ratio = statistics.median(one / other for one, other in pairs)
        what = f"uncached history page relative to the reference loop, connections: {connections}"
        beside = f"{ours:.2f} to {theirs:.2f} ms of CPU, medians of 3"
        bench.reached(what, ratio, most, "times", beside, reason="A")


def reference(bench: Bench, connections: int) -> float:
    """Return the reference loop's CPU time per page in milliseconds."""
    how = ["--service", bench.service.url, "--connections", str(connections), "--seconds", str(bench.seconds)]
    measured = json.loads(output("-m", "bench.reference", *how))
    milliseconds, count = measured["milliseconds"], len(measured["milliseconds"])
    cost = float(measured["processor"] * 1000 / count)
    figures = (count / measured["seconds"], at(milliseconds, 50), at(milliseconds, 99), cost, 0.0, 0.0)
    bench.table.append(Measurement("history", "reference loop", connections, *figures))
    return cost


def first_byte(bench: Bench, cold: Dashboard, paths: Paths) -> None:
    """Measure from the service's last response to the page's first byte, with the shared clock."""
    bench.service.delay(0.02)
    for name in ("history", "intent"):
        waited = []
        with socket.create_connection(("127.0.0.1", cold.port)) as reader:
            for path in (paths.named()[name] * 2)[:40]:
                reader.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
                received = reader.recv(65536)
                arrived = time.perf_counter()
                waited.append((arrived - bench.service.counters["written_at"]) * 1000)
                take(reader, received)
        beside = f"median of {len(waited)}; p90 {at(waited, 90):.1f}"
        bench.reached(
            f"first byte of {name} after the last response", statistics.median(waited), 5, "ms", beside, reason="B"
        )
    bench.service.delay(0)


def take(reader: socket.socket, received: bytes) -> bytes:
    """Read the rest of a response and return its body."""
    while b"\r\n\r\n" not in received:
        received += reader.recv(65536)
    head, _, body = received.partition(b"\r\n\r\n")
    while len(body) < length_of(head):
        body += reader.recv(1 << 20)
    return body


def growing(bench: Bench, cold: Dashboard, paths: Paths) -> None:
    costs = []
    for hits in HITS:
        some = [f"/search?q={owner(hits, number)}" for number in range(8)]
        bench.clients.run(cold.port, some, connections=1, seconds=0.2)
        costs.append(bench.row(cold, f"{hits} hits", "cold, 0 ms", some, 1).processor)
    for (fewer, less), (more, dearer) in itertools.pairwise(zip(HITS, costs, strict=True)):
        what, beside = f"search with {more:,} results relative to {fewer}", f"{dearer:.1f} to {less:.1f} ms"
        bench.reached(what, dearer / less, more / fewer, "times", beside)
    last = len(paths.history)
    first, deep = (
        bench.row(cold, "history", f"cold, page {place}", [paths.history[place - 1]], 1).processor
        for place in (1, last)
    )
    what = f"page {last} of the history relative to its first"
    bench.reached(what, deep / first, 1.25, "times", "similar pages with different rows")


def many(bench: Bench, cold: Dashboard) -> None:
    """Measure a large search. Hits are short, because ten thousand whole intents would exceed the limit of 16 MB."""
    durations, before = [], cold.megabytes
    bench.service.call("SearchIntents", byOwnerAddress=owner(MANY, 99, is_lean=True))
    for number in range(3):
        began = time.perf_counter()
        with httpx.Client(trust_env=False, timeout=60) as http:
            page = http.get(cold.url + f"/search?q={owner(MANY, number, is_lean=True)}")
        durations.append(time.perf_counter() - began)
        page.raise_for_status()
    what = f"search with {MANY:,} results, first page"
    bench.reached(what, statistics.median(durations), 1, "s", "1 KB per result", reason="F")
    bounds = "bounded by 48 MB of responses in progress and 32 MB of cache"
    bench.reached("resident after three of them", cold.megabytes - before, 200, "MB", bounds)


# Report


def machine() -> Iterator[str]:
    about = Path("/proc/cpuinfo").read_text()
    cpu, cores = re.search(r"model name\s*: (.*)", about), len(re.findall(r"^processor", about, re.MULTILINE))
    memory = int(Path("/proc/meminfo").read_text().split()[1]) // 2**20
    yield f"{cores} CPUs ({cpu[1] if cpu else platform.machine()}), {memory} GB, Linux {platform.release()}"
    named = ", ".join(f"{each} {version(each)}" for each in ("Django", "gunicorn", "Jinja2", "httpx", "pydantic"))
    yield f"Python {platform.python_version()}, {named}"
    yield f"Started {datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {load()}"


def load() -> str:
    """Return the machine's load. Above the number of cores, programs wait."""
    return f"load average over a minute {Path('/proc/loadavg').read_text().split()[0]} (quiet: 0)"


def settings(seconds: float) -> Iterator[str]:
    yield "Dashboard: one worker, default settings except `INTENTS_SERVICE_URL` and `SECRET_KEY`"
    yield f"Cold: `INTENTS_CACHE_TTL={COLD['INTENTS_CACHE_TTL']}`"
    yield f"Each run takes {seconds:g} s. Clients: raw sockets in a separate process, with their CPU time in the table"


def written(bench: Bench, told: Sequence[str], live: str, profile: str) -> str:
    empty = bench.table[0].processor
    head = "| page | how | connections | pages/s | p50 ms | p99 ms | CPU ms | relative to empty | client CPU ms | MB |"
    lines = ["# Benchmark results", "", "Written by `make bench`. See `docs/figures.md` for method and sizing.", ""]
    lines += [f"- {each}" for each in told]
    lines += ["", "## Targets", "", "| target | result | limit | | details |", "|---|---|---|---|---|"]
    lines += [each.line() for each in bench.reach]
    lines += ["", "## Pages", "", head, "|---|---|---|---|---|---|---|---|---|---|"]
    lines += [row.line(empty) for row in bench.table]
    if live:
        lines += ["", "## Live", "", "```", live.strip(), "```"]
    lines += ["", *reasons({each.reason for each in bench.reach if not each.is_reached}), "", profile.strip()]
    return "\n".join(lines) + "\n"


def reasons(letters: set[str]) -> Iterator[str]:
    """Yield the paragraphs of missed_targets.md about the missed targets."""
    for paragraph in (Path(__file__).parent / "missed_targets.md").read_text().strip().split("\n\n"):
        if paragraph.startswith("#") or paragraph.removeprefix("**")[0] in letters:
            yield from (paragraph, "")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.pages", description="What the pages cost.")
    parser.add_argument("--quick", action="store_true", help="short runs; nothing is written")
    parser.add_argument("--live", action="store_true", help="with the figures of the live pages")
    parser.add_argument("--seconds", type=float, default=2.0, help="of each run")
    parser.add_argument("--viewers", type=int, default=5000, help="of the live pages")
    options = parser.parse_args()
    seconds = 0.4 if options.quick else options.seconds
    environment = [*machine(), *settings(seconds)]
    print("\n".join(environment))
    with ExitStack() as stack:
        place = stack.enter_context(installed())
        bench = Bench(place, stack.enter_context(stub_service()), stack.enter_context(clients()), seconds)
        measure(bench)
        profile = profiled.table(place, bench.service.url)
    environment.append(f"Ended {datetime.now(UTC):%H:%M} UTC, {load()}")
    print(profile)
    if not options.quick:
        RESULTS.write_text(written(bench, environment, "", profile))
    if not options.live:
        return
    live = live_figures(500 if options.quick else options.viewers)
    print(live)
    if not options.quick:
        RESULTS.write_text(written(bench, environment, live, profile))


def live_figures(viewers: int) -> str:
    return output("-m", "bench.live", "--viewers", str(viewers))


if __name__ == "__main__":
    main()
