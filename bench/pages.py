"""Benchmark of the pages with targets. Takes some minutes and writes `bench/RESULTS.md`:

    .venv/bin/python -m bench.pages                        like `make bench`, without the live pages
    .venv/bin/python -m bench.pages --live                 with the live pages (`bench.live`)
    .venv/bin/python -m bench.pages --quick                short runs of everything, writes nothing
    .venv/bin/python -m bench.pages --against ../other     start, pages and memory of this and of another checkout

Processes on loopback: the dashboard (gunicorn, one worker, static files collected) with default settings and another
that calls the service each time, a stub service (`bench.stub_service`), clients (`bench.load`) and, with Node, a page
of Next.js (`bench.peer`). The states of a page:

- unseen: the service is called, and answers with rows that were never served before
- renewed: the service is called, and answers with rows that came before
- cached: default settings, and the service isn't called

CPU time is the server's, user and system, all threads. Requests within a round differ, so no two clients share a
response, except for cached pages.
"""

import argparse
import html
import itertools
import re
import socket
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import quote

import httpx

from bench import against, profiled
from bench.load import Load, Response, load, request
from bench.peer import peer
from bench.processes import Server, StubService, dashboard, installed, output, quantile, stub_service
from bench.report import HEAD, Target, load_average, machine
from bench.stub_service import AGAIN, ALL, owner
from tests.gunicorn_constants import POLICIES, constants

RESULTS = Path(__file__).parent / "RESULTS.md"
NEVER = {"fresh": 0, "renewed": 0, "old": 0}
# Kinds of responses that are requested each time. Lists of chains and tokens stay cached, as in any warm process.
UNCACHED = ("older_history", "token_search")
# Those are kept for outages, so that what comes again is known.
KEPT = ("moving", "ended_lately", "ended", "stopped_lately", "stopped", "balances", "search")
# First pages of lists are fresh all the time. They keep the rows of later pages known (`warm`).
RENEWING = {
    "history": {"fresh": 3600, "renewed": 3600, "old": 3600},
    **dict.fromkeys(UNCACHED, NEVER),
    **{key: {"fresh": 0, "renewed": 0, "old": 3600} for key in KEPT},
}
COLD = dict.fromkeys(("history", *UNCACHED, *KEPT), NEVER)
COLUMNS = (
    "page", "state", "connections", "delay ms", "encoding", "pages/s", "p50 ms", "p99 ms", "CPU ms", "spread", "calls",
    "KB", "resident MB", "refused",
)  # fmt: skip
DELAYS = (0.05, 0.2)
CONNECTIONS = (1, 16)
TURNS = 5
WARMING = 5  # runs until a JIT compiler is done
WAITING = 40  # connections: the number of pages that may wait for a slow service
EMPTY = "/saved"  # the page frame with little text and no service call
HISTORY_PAGES = 61
KNOWN_PAGES = 12  # whose rows fit into the response cache
NEXT = re.compile(r'href="([^"]+)"[^>]*rel="next"')
LONG_SEARCH = "search 1,000"
HITS = (20, 100, 1000)
DEPTHS = (2, 60)  # pages of the history
MANY = 10_000
VISITORS = 100
READING = 4.0  # seconds on average
FIRST_BYTES = 40


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
    """One run of one case. `processor`: CPU seconds of the server. `calls`: requests to the service."""

    load: Load
    processor: float
    megabytes: float
    calls: int

    @property
    def each(self) -> float:
        """CPU milliseconds per page."""
        return self.processor * 1000 / len(self.load.milliseconds)

    @property
    def rate(self) -> float:
        """Pages per second."""
        return len(self.load.milliseconds) / self.load.seconds


@dataclass
class Measurement:
    """All runs of one case."""

    case: Case
    connections: int
    delay: float
    runs: list[Run] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.name = (self.case.page, self.case.state, self.connections, self.delay, self.case.encoding)

    def time(self, percent: int) -> float:
        return quantile([each for run in self.runs for each in run.load.milliseconds], percent)

    @property
    def rate(self) -> float:
        return statistics.median(run.rate for run in self.runs)

    @property
    def processor(self) -> float:
        """CPU milliseconds per page, the median of the turns."""
        return statistics.median(run.each for run in self.runs)

    @property
    def spread(self) -> float:
        """Difference between the most and the least CPU time of a turn, in percent of their median."""
        each = [run.each for run in self.runs]
        return 100 * (max(each) - min(each)) / self.processor

    @property
    def refused(self) -> int:
        return sum(run.load.statuses["503"] for run in self.runs)

    @property
    def megabytes(self) -> float:
        return max(run.megabytes for run in self.runs)

    @property
    def beside(self) -> str:
        told = f"{self.processor:.2f} ms of CPU, spread {self.spread:.0f}%"
        return f"{told}, {self.refused} refused" if self.refused else told

    def rate_relative_to(self, other: "Measurement") -> float:
        """Return the rate relative to that of another case in the same turn, the median of the turns."""
        return statistics.median(run.rate / others.rate for run, others in zip(self.runs, other.runs, strict=True))

    def cells(self) -> list[str]:
        count = sum(len(run.load.milliseconds) for run in self.runs)
        kilobytes = sum(run.load.bytes for run in self.runs) / count / 1000
        calls = sum(run.calls for run in self.runs) / (count + self.refused)
        return [
            self.case.page, self.case.state, f"{self.connections}", f"{self.delay * 1000:.0f}", self.case.encoding,
            f"{self.rate:.0f}", f"{self.time(50):.1f}", f"{self.time(99):.1f}", f"{self.processor:.2f}",
            f"{self.spread:.0f}%", f"{calls:.1f}", f"{kilobytes:.1f}", f"{self.megabytes:.0f}", f"{self.refused or ''}",
        ]  # fmt: skip


class Bench:
    """Runs cases, and collects measurements and targets. `place`: the installed dashboard."""

    def __init__(self, place: Path, service: StubService, *, seconds: float, rounds: int) -> None:
        self.place = place
        self.service = service
        self.seconds = seconds  # of each run
        self.rounds = rounds
        self.table: list[Measurement] = []
        self.targets: list[Target] = []

    def run(self, case: Case, connections: int, delay: float = 0.0) -> Run:
        """Request each path once, so that the rows are known and the stub is prepared. Then measure."""
        self.service.change(case.rows)
        self.service.delay(0)
        warm = case.paths if case.warm is None else case.warm
        load(case.server.port, warm, connections=4, encoding=case.encoding)
        self.service.delay(delay)
        seconds, calls = max(self.seconds, 3 * case.pause), self.service.counters["requests"]
        before = case.server.processor
        how = {"connections": connections, "seconds": seconds, "pause": case.pause, "encoding": case.encoding}
        result = load(case.server.port, case.paths, **how)
        processor = case.server.processor - before
        self.service.delay(0)
        # A busy machine may refuse pages for lack of a slot.
        if result.statuses.keys() - {"503"} != {"200"}:
            sys.exit(f"{case.page}, {case.state}: {result.statuses}")
        return Run(result, processor, case.server.megabytes, self.service.counters["requests"] - calls)

    def turns(
        self, cases: Sequence[Case], connections: int, delay: float = 0.0, *, rounds: int = 0
    ) -> list[Measurement]:
        """Measure the cases by turns."""
        measured = [Measurement(case, connections, delay) for case in cases]
        for _ in range(rounds or self.rounds):
            for each in measured:
                each.runs.append(self.run(each.case, connections, delay))
        for each in measured:
            page, state, *how = each.cells()
            print(f"{page:14}{state:13}" + "".join(f"{cell:>9}" for cell in how), flush=True)
        self.table += measured
        return measured

    def target(
        self, what: str, figure: float, limit: float, unit: str, beside: str = "", *, least: bool = False
    ) -> None:
        self.targets.append(target := Target(what, figure, limit, unit, beside, least))
        print(target.line(), flush=True)

    def find(self, page: str, state: str, connections: int, delay: float = 0.0) -> Measurement:
        return next(each for each in self.table if each.name == (page, state, connections, delay, ""))


class Pages:
    """Pages in their states, of the dashboard with default settings and of one that calls the service each time."""

    def __init__(self, cached: Server, renewing: Server, service: StubService) -> None:
        self.cached = cached
        self.renewing = renewing
        listed = service.call("GetIntentHistory", page={"pageSize": 20}, byStatuses=["SUCCEEDED"])["intents"]
        self.paths = {  # different pages of the same kind in each round, without the history's first page
            "history": list(history_pages(cached))[1:],
            "transfer": [f"/intent/{entry['intentId']}" for entry in listed],
            "search 20": [f"/search?owner={owner(20, number)}" for number in range(20)],
            LONG_SEARCH: [f"/search?owner={owner(1000, number)}" for number in range(17)],
        }

    def renewed_case(self, page: str) -> Case:
        paths = self.paths[page]
        if page == "history":
            paths = paths[:KNOWN_PAGES]
            # Later pages of the history are not cached. Their rows are known from other lists.
            warm = [f"/history?from={AGAIN + number}" for number in range(KNOWN_PAGES + 1)]
        else:
            warm = (
                paths[:1] if page == LONG_SEARCH else paths
            )  # the dashboard doesn't remember the rows of a long search
        return Case(page, "renewed", self.renewing, paths, warm=warm)

    def unseen_case(self, page: str, paths: Sequence[str] = ()) -> Case:
        paths = paths or self.paths[page]
        if not page.startswith("history"):
            # A transfer or an owner of whom nothing is known, not even from an outage.
            paths = [f"{path[:-16]}{{fresh}}" for path in paths]
        return Case(page, "unseen", self.renewing, paths, rows=ALL, warm=paths[:1] if page == LONG_SEARCH else None)

    def while_service_answers_at_once(self, page: str, connections: int) -> Iterator[Case]:
        # Two of each, so that they stay cached during the run: a list is fresh for seconds only.
        cached = Case(page, "cached", self.cached, self.paths[page][:2])
        states = [self.renewed_case(page), self.unseen_case(page), cached]
        yield from states
        if page == "transfer":
            yield Case("empty", "", self.cached, [EMPTY])
        if page in ("history", "transfer") and connections == 1:
            yield from (replace(case, encoding="gzip") for case in states)


def history_pages(site: Server) -> Iterator[str]:
    """Yield the paths of the history's pages, newest first."""
    path: str | None = "/history"
    with httpx.Client(base_url=site.url, trust_env=False, timeout=60) as http:
        for _ in range(HISTORY_PAGES):
            if path is None:
                return
            yield path
            found = NEXT.search(http.get(path).raise_for_status().text)
            path = html.unescape(found[1]) if found else None


def measure(bench: Bench) -> None:
    start(bench)
    with ExitStack() as stack:
        cached = stack.enter_context(dashboard(bench.place, bench.service.url, {}))
        how = constants(**{POLICIES: RENEWING})
        pages = Pages(cached, stack.enter_context(dashboard(bench.place, bench.service.url, how)), bench.service)
        next_page = stack.enter_context(peer(bench.service.url))
        if next_page:
            load(next_page.port, ["/"], connections=4, seconds=WARMING * bench.seconds)
        for connections, page in itertools.product(CONNECTIONS, pages.paths):
            cases = list(pages.while_service_answers_at_once(page, connections))
            if page == "history" and next_page:
                lists = [f"/?request={quote(body)}" for _, body in bench.service.counters["distinct"]]
                cases.append(Case(page, "Next.js", next_page, lists))
            bench.turns(cases, connections)
        for delay, connections, page in itertools.product(DELAYS, CONNECTIONS, pages.paths):
            bench.turns([pages.renewed_case(page), pages.unseen_case(page)], connections, delay)
        bench.turns([pages.renewed_case("history"), pages.unseen_case("history")], WAITING, DELAYS[-1])
        rates(bench)
        if next_page:
            compare_with_peer(bench)
        first_byte(bench, pages)
        growing(bench, pages)
        many(bench, pages.renewing)
    crowded(bench, pages)


def start(bench: Bench) -> None:
    durations = []
    for _ in range(3):
        with dashboard(bench.place, bench.service.url, {}) as fresh:
            httpx.get(fresh.url + EMPTY, trust_env=False).raise_for_status()
            durations.append(fresh.started_in)
    what, beside = "process start, until the first response", f"of 3, maximum {max(durations):.2f}"
    bench.target(what, statistics.median(durations), 2, "s", beside)


def rates(bench: Bench) -> None:
    """Compare pages per second with the empty page's, and with a slow service."""
    for connections, least in ((1, 0.6), (16, 0.45)):
        empty, cached = (bench.find(*name, connections) for name in (("empty", ""), ("transfer", "cached")))
        beside = f"{cached.rate:.0f} of {empty.rate:.0f}/s"
        what = f"transfer, cached: its rate relative to the empty page's, connections: {connections}"
        bench.target(what, cached.rate_relative_to(empty), least, "times", beside, least=True)
    how = f"{WAITING} connections, {DELAYS[-1] * 1000:.0f} ms"
    for state, least in (("renewed", 170), ("unseen", 110)):
        measured = bench.find("history", state, WAITING, DELAYS[-1])
        bench.target(f"history, {state}, {how}", measured.rate, least, "/s", measured.beside, least=True)
    renewed = bench.find("history", "renewed", WAITING, DELAYS[-1])
    bench.target(f"p99 of history, renewed, {how}", renewed.time(99), 600, "ms")


def compare_with_peer(bench: Bench) -> None:
    for state, least in (("cached", 3.5), ("renewed", 3), ("unseen", 1)):
        ours, theirs = (bench.find("history", each, 16) for each in (state, "Next.js"))
        beside = f"{ours.rate:.0f} to {theirs.rate:.0f}/s, {ours.processor:.1f} to {theirs.processor:.1f} ms of CPU"
        what = f"history, {state}: its rate relative to the Next.js page's, connections: 16"
        bench.target(what, ours.rate_relative_to(theirs), least, "times", beside, least=True)


def first_byte(bench: Bench, pages: Pages) -> None:
    """Measure from the service's last response to the page's first byte, with the shared clock."""
    for case, most in (
        (pages.renewed_case("history"), 2.5),
        (pages.unseen_case("history"), 6),
        (pages.renewed_case("transfer"), 2),
        (pages.unseen_case("transfer"), 7),
    ):
        bench.run(case, 1)
        bench.service.delay(0.02)
        waited = list(waits(bench, case))
        beside = f"median of {len(waited)}, p90 {quantile(waited, 90):.1f}. The limit is for an idle machine"
        what = f"first byte after the last response, {case.page}, {case.state}"
        bench.target(what, statistics.median(waited), most, "ms", beside)
    bench.service.delay(0)


def waits(bench: Bench, case: Case) -> Iterator[float]:
    """Yield the milliseconds of one page after the other."""
    with socket.create_connection(("127.0.0.1", case.server.port)) as reader:
        for path in itertools.islice(itertools.cycle(case.paths), FIRST_BYTES):
            response = Response()
            reader.sendall(request(path))
            response.add(reader.recv(65536))
            arrived = time.perf_counter()
            yield (arrived - bench.service.counters["written_at"]) * 1000
            while not response.is_complete:
                response.add(reader.recv(1 << 20))


def growing(bench: Bench, pages: Pages) -> None:
    owners = [[f"/search?owner={owner(count, number)}" for number in range(8)] for count in HITS]
    hits = [pages.unseen_case(f"search {count:,}", paths) for count, paths in zip(HITS, owners, strict=True)]
    ends = [pages.unseen_case(f"history {page}", [pages.paths["history"][page - 2]]) for page in DEPTHS]
    *searches, first, last = bench.turns([*hits, *ends], 1)
    for (fewer, less), (more, dearer) in itertools.pairwise(zip(HITS, searches, strict=True)):
        what = f"search with {more:,} results relative to {fewer}"
        beside = f"{dearer.processor:.1f} to {less.processor:.1f} ms"
        bench.target(what, dearer.processor / less.processor, more / fewer, "times", beside)
    what = f"page {DEPTHS[1]} of the history relative to page {DEPTHS[0]}"
    bench.target(what, last.processor / first.processor, 1.25, "times", "similar pages with different rows")


def many(bench: Bench, renewing: Server) -> None:
    """Measure a large search. Hits are short, because ten thousand whole intents would exceed the limit of 16 MB."""
    bench.service.change(0)
    bench.service.call("SearchIntents", byOwnerAddress=owner(MANY, 99, is_lean=True))
    durations, before = [], renewing.megabytes
    for number in range(3):
        began = time.perf_counter()
        path = f"/search?owner={owner(MANY, number, is_lean=True)}"
        httpx.get(renewing.url + path, trust_env=False, timeout=60).raise_for_status()
        durations.append(time.perf_counter() - began)
    what = f"search with {MANY:,} results, first page"
    bench.target(what, statistics.median(durations), 1, "s", "1 KB per result")
    bounds = "bounded by 48 MB of responses in progress and 32 MB of cache"
    bench.target("resident after three of them", renewing.megabytes - before, 200, "MB", bounds)


def crowded(bench: Bench, pages: Pages) -> None:
    history, transfers, searches = (pages.paths[page] for page in ("history", "transfer", "search 20"))
    tokens = [f"/tokens?q=u&limit={limit}" for limit in range(20, 40)]
    everything = ["/history", *history[:19], *transfers, *tokens, *searches, EMPTY]
    with dashboard(bench.place, bench.service.url, {}) as cached:
        case = Case("all kinds", f"{VISITORS} users", cached, everything, pause=READING)
        (measured,) = bench.turns([case], VISITORS, rounds=1)
    beside = f"each reads for {READING:g} s on average; {measured.refused} pages refused"
    bench.target(f"resident memory with {VISITORS} users", measured.megabytes, 120, "MB", beside)


def report(told: Sequence[str], bench: Bench, live: str, profile: str) -> str:
    lines = ["# Benchmark results", "", "Written by `make bench`. See `docs/performance.md` for method and sizing.", ""]
    lines += [f"- {each}" for each in told]
    lines += ["", "## Targets", "", HEAD, *(each.line() for each in bench.targets)]
    lines += ["", "## Pages", "", f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|"]
    lines += [f"| {' | '.join(each.cells())} |" for each in bench.table]
    if live:
        lines += ["", "## Live", "", "```", live.strip(), "```"]
    return "\n".join([*lines, "", profile.strip()]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.pages", description="What the pages cost.")
    parser.add_argument("--quick", action="store_true", help="short runs; nothing is written")
    parser.add_argument("--live", action="store_true", help="with the figures of the live pages")
    parser.add_argument("--seconds", type=float, default=0.5, help="of each run")
    parser.add_argument("--viewers", type=int, default=5000, help="of the live pages")
    parser.add_argument(
        "--against", type=Path, help="compare start, pages and memory with this checkout, do nothing else"
    )
    options = parser.parse_args()
    if options.against:
        against.compare(options.against.resolve())
        return
    rounds, seconds = (1, min(0.3, options.seconds)) if options.quick else (TURNS, options.seconds)
    told, live = [*machine(), f"Each figure is of {rounds} turns of {seconds:g} s"], ""
    print("\n".join(told), f"\n\n{'':27}" + "".join(f"{column.split()[-1][:8]:>9}" for column in COLUMNS[2:]))
    with installed() as place, stub_service() as service:
        bench = Bench(place, service, seconds=seconds, rounds=rounds)
        measure(bench)
        profile = profiled.table(place, service, constants(**{POLICIES: COLD}))
    told.append(f"Ended {load_average()}")
    print(profile)
    if options.live:
        live = output("-m", "bench.live", "--viewers", str(500 if options.quick else options.viewers))
        print(live)
    if not options.quick:
        RESULTS.write_text(report(told, bench, live, profile))


if __name__ == "__main__":
    main()
