"""Benchmark of the pages with targets. Takes some minutes and writes `bench/RESULTS.md`:

    .venv/bin/python -m bench.pages                        like `make bench`, without the live pages
    .venv/bin/python -m bench.pages --live                 with the live pages (`bench.live`)
    .venv/bin/python -m bench.pages --quick                short runs of everything, writes nothing
    .venv/bin/python -m bench.pages --against ../other     start, pages and memory of this and of another checkout

`docs/performance.md` says what is measured, and how.
"""

import argparse
import html
import itertools
import json
import re
import statistics
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import quote

import httpx

from bench.load import Load, load
from bench.peer import peer
from bench.processes import ROOT, Server, StubService, dashboard, installed, output, quantile, stub_service
from bench.report import HEAD, Target, load_average, machine
from bench.stub_service import AGAIN, owner
from tests.gunicorn_constants import POLICIES, constants

RESULTS = Path(__file__).parent / "RESULTS.md"
# Kinds of responses that are requested each time. Lists of chains and tokens stay cached, as in any warm process.
UNCACHED = ("token_search",)
# Those are kept for outages, so that what comes again is known.
KEPT = ("older_history", "moving", "ended_lately", "ended", "stopped_lately", "stopped", "balances", "search")
# First pages of lists are fresh all the time. They keep the rows of later pages known (`warm`).
RENEWING = {
    "history": {"fresh": 3600, "renewed": 3600, "old": 3600},
    **{key: {"fresh": 0, "renewed": 0, "old": 0} for key in UNCACHED},
    **{key: {"fresh": 0, "renewed": 0, "old": 3600} for key in KEPT},
}
COLUMNS = (
    "page", "state", "connections", "delay ms", "encoding", "pages/s", "p50 ms", "p99 ms", "CPU ms", "spread", "calls",
    "KB", "resident MB", "refused",
)  # fmt: skip
DELAYS = (0.05, 0.2)
CONNECTIONS = (1, 16)
TURNS = 5
WARMING = 5  # runs until a JIT compiler is done
EMPTY = "/saved"  # the page frame with little text and no service call
HISTORY_PAGES = 61
KNOWN_PAGES = 12  # whose rows fit into the response cache
NEXT = re.compile(r'href="([^"]+)"[^>]*rel="next"')
LONG_SEARCH = "search 1,000"
HITS = (20, 100, 1000)
DEPTHS = (2, 60)  # pages of the history
VISITORS = 100
READING = 4.0  # seconds on average
STARTS = 9
# Runs in either checkout, which may be older, so it uses Django's test client and nothing of `bench`.
PROGRAM = """
import json, os, time
import intents_ui.asgi
from django.test import Client
from intents_ui import urls
found = {"start, CPU s": time.process_time()}
site = Client(HTTP_HOST="localhost")
for path in ("/", "/history", "/tokens"):
    began = time.process_time()
    for _ in range(20):
        assert site.get(path).status_code == 200, path
    found[f"20 times {path}, CPU s"] = time.process_time() - began
found["resident, MB"] = int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
print(json.dumps(found))
"""


@dataclass
class Case:
    """Something to measure: paths of a server. `pause`: mean seconds between a client's requests."""

    page: str
    state: str
    server: Server
    paths: Sequence[str]
    has_new_rows: bool = False
    encoding: str = ""
    pause: float = 0.0
    warm: Sequence[str] | None = None  # paths to request before, those of the case if None
    connections: int = 1
    delay: float = 0.0  # seconds of the service
    runs: list[Load] = field(default_factory=list)

    def time(self, percent: int) -> float:
        return quantile([each for run in self.runs for each in run.milliseconds], percent)

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
        return sum(run.statuses["503"] for run in self.runs)

    @property
    def megabytes(self) -> float:
        return max(run.megabytes for run in self.runs)

    def rate_relative_to(self, other: "Case") -> float:
        """Return the rate relative to that of another case in the same turn, the median of the turns."""
        return statistics.median(run.rate / others.rate for run, others in zip(self.runs, other.runs, strict=True))

    def cells(self) -> list[str]:
        count = sum(len(run.milliseconds) for run in self.runs)
        kilobytes = sum(run.bytes for run in self.runs) / count / 1000
        calls = sum(run.calls for run in self.runs) / (count + self.refused)
        return [
            self.page, self.state, f"{self.connections}", f"{self.delay * 1000:.0f}", self.encoding,
            f"{self.rate:.0f}", f"{self.time(50):.1f}", f"{self.time(99):.1f}", f"{self.processor:.2f}",
            f"{self.spread:.0f}%", f"{calls:.1f}", f"{kilobytes:.1f}", f"{self.megabytes:.0f}", f"{self.refused or ''}",
        ]  # fmt: skip


class Bench:
    """Runs cases, and collects measurements."""

    def __init__(self, place: Path, service: StubService, *, seconds: float, rounds: int) -> None:
        self.place = place
        self.service = service
        self.seconds = seconds  # of each run
        self.rounds = rounds
        self.table: list[Case] = []

    def dashboard(self, **settings: str) -> AbstractContextManager[Server]:
        return dashboard(self.place, self.service.url, settings)

    def run(self, case: Case) -> Load:
        """Request each path once, so that the rows are known and the stub is prepared. Then measure."""
        self.service.renew(case.has_new_rows)
        headers = f"Accept-Encoding: {case.encoding}\r\n" if case.encoding else ""
        load(case.server.port, case.paths if case.warm is None else case.warm, connections=4, headers=headers)
        self.service.delay(case.delay)
        seconds, calls = max(self.seconds, 3 * case.pause), self.service.counters["requests"]
        before = case.server.processor
        how = {"connections": case.connections, "seconds": seconds, "pause": case.pause, "headers": headers}
        found = load(case.server.port, case.paths, **how)
        found.processor, found.megabytes = case.server.processor - before, case.server.megabytes
        found.calls = self.service.counters["requests"] - calls
        self.service.delay(0)
        # A busy machine may refuse pages for lack of a slot.
        if found.statuses.keys() - {"503"} != {"200"}:
            sys.exit(f"{case.page}, {case.state}: {found.statuses}")
        return found

    def turns(self, cases: Iterable[Case], connections: int, delay: float = 0.0, *, rounds: int = 0) -> list[Case]:
        """Measure the cases by turns."""
        measured = [replace(case, connections=connections, delay=delay, runs=[]) for case in cases]
        for _ in range(rounds or self.rounds):
            for case in measured:
                case.runs.append(self.run(case))
        for case in measured:
            page, state, *how = case.cells()
            print(f"{page:14}{state:13}" + "".join(f"{cell:>9}" for cell in how), flush=True)
        self.table += measured
        return measured


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

    def renewed(self, page: str) -> Case:
        paths = warm = self.paths[page]
        if page == "history":
            paths = paths[:KNOWN_PAGES]
            # Later pages of the history are not cached. Their rows are known from other lists.
            warm = [f"/history?from={AGAIN + number}" for number in range(KNOWN_PAGES + 1)]
        elif page == LONG_SEARCH:
            warm = paths[:1]  # the dashboard doesn't remember its rows
        return Case(page, "renewed", self.renewing, paths, warm=warm)

    def unseen(self, page: str, paths: Sequence[str] = ()) -> Case:
        paths = paths or self.paths[page]
        if not page.startswith("history"):
            # A transfer or an owner of whom nothing is known, not even from an outage.
            paths = [f"{path[:-16]}{{fresh}}" for path in paths]
        warm = paths[:1] if page == LONG_SEARCH else None
        return Case(page, "unseen", self.renewing, paths, has_new_rows=True, warm=warm)

    def states(self, page: str, connections: int) -> Iterator[Case]:
        """Yield what is measured of a page while the service answers at once."""
        # Two of each, so that they stay cached during the run: a list is fresh for seconds only.
        cached = Case(page, "cached", self.cached, self.paths[page][:2])
        states = [self.renewed(page), self.unseen(page), cached]
        yield from states
        if page == "transfer":
            yield Case("empty", "", self.cached, [EMPTY])
        if page in ("history", "transfer") and connections == 1:
            yield from (replace(case, encoding="gzip") for case in states)


def history_pages(site: Server) -> Iterator[str]:
    """Yield the paths of the history's pages, newest first."""
    path = "/history"
    with httpx.Client(base_url=site.url, trust_env=False, timeout=60) as http:
        for _ in range(HISTORY_PAGES):
            yield path
            [path] = map(html.unescape, NEXT.findall(http.get(path).raise_for_status().text)[:1])


def measure(bench: Bench) -> Iterator[Target]:
    with ExitStack() as stack:
        cached = stack.enter_context(bench.dashboard())
        renewing = stack.enter_context(bench.dashboard(**constants(**{POLICIES: RENEWING})))
        next_page = stack.enter_context(peer(bench.service.url))
        pages = Pages(cached, renewing, bench.service)
        if next_page:
            load(next_page.port, ["/"], connections=4, seconds=WARMING * bench.seconds)
        for connections, page in itertools.product(CONNECTIONS, pages.paths):
            cases = list(pages.states(page, connections))
            if page == "history" and next_page:
                lists = [f"/?request={quote(body)}" for body in bench.service.counters["distinct"]]
                cases.append(Case(page, "Next.js", next_page, lists))
            found = {case.state: case for case in bench.turns(cases, connections) if not case.encoding}
            if page == "transfer":
                least = 0.6 if connections == 1 else 0.45
                yield faster(f"transfer, cached, {connections} connections", found["cached"], found[""], least)
            if "Next.js" in found and connections > 1:
                for state, least in (("cached", 3.5), ("renewed", 2.5), ("unseen", 1)):
                    yield faster(f"history, {state}, {connections} connections", found[state], found["Next.js"], least)
        for delay, connections, page in itertools.product(DELAYS, CONNECTIONS, pages.paths):
            bench.turns([pages.renewed(page), pages.unseen(page)], connections, delay)
        yield from growing(bench, pages)
    yield crowded(bench, pages)


def faster(what: str, one: Case, other: Case, least: float) -> Target:
    """Compare pages per second with those of another page."""
    what = f"{what}: its rate relative to the {other.state or 'empty'} page's"
    beside = f"{one.rate:.0f} to {other.rate:.0f}/s, {one.processor:.1f} to {other.processor:.1f} ms of CPU"
    return Target(what, one.rate_relative_to(other), least, "times", beside, least=True)


def growing(bench: Bench, pages: Pages) -> Iterator[Target]:
    owners = [[f"/search?owner={owner(count, number)}" for number in range(8)] for count in HITS]
    hits = [pages.unseen(f"search {count:,}", paths) for count, paths in zip(HITS, owners, strict=True)]
    ends = [pages.unseen(f"history {page}", [pages.paths["history"][page - 2]]) for page in DEPTHS]
    *searches, first, last = bench.turns([*hits, *ends], 1)
    for (fewer, less), (more, dearer) in itertools.pairwise(zip(HITS, searches, strict=True)):
        what = f"search with {more:,} results relative to {fewer}"
        beside = f"{dearer.processor:.1f} to {less.processor:.1f} ms"
        yield Target(what, dearer.processor / less.processor, more / fewer, "times", beside)
    what = f"page {DEPTHS[1]} of the history relative to page {DEPTHS[0]}"
    yield Target(what, last.processor / first.processor, 1.25, "times", "similar pages with different rows")


def crowded(bench: Bench, pages: Pages) -> Target:
    history, transfers, searches = (pages.paths[page] for page in ("history", "transfer", "search 20"))
    tokens = [f"/tokens?q=u&limit={limit}" for limit in range(20, 40)]
    everything = ["/history", *history[:19], *transfers, *tokens, *searches, EMPTY]
    with bench.dashboard() as cached:
        case = Case("all kinds", f"{VISITORS} users", cached, everything, pause=READING)
        [measured] = bench.turns([case], VISITORS, rounds=1)
    beside = f"each reads for {READING:g} s on average; {measured.refused} pages refused"
    return Target(f"resident memory with {VISITORS} users", measured.megabytes, 120, "MB", beside)


def started(checkout: Path) -> dict[str, float]:
    settings = {"INTENTS_SERVICE_URL": "embedded", "DEBUG": "1", "DJANGO_SETTINGS_MODULE": "intents_ui.settings"}
    found: dict[str, float] = json.loads(output("-c", PROGRAM, place=checkout, **settings).splitlines()[-1])
    return found


def compare(other: Path) -> None:
    """Print medians of this and of another checkout, and their ratio."""
    rounds = [(started(ROOT), started(other)) for _ in range(STARTS)]
    print(f"{'':28}{'here':>8}{'there':>8}{'ratio':>8}")
    for name in rounds[0][0]:
        here, there = (statistics.median(each[side][name] for each in rounds) for side in (0, 1))
        print(f"{name:28}{here:8.2f}{there:8.2f}{here / there:8.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.pages", description="What the pages cost.")
    parser.add_argument("--quick", action="store_true", help="short runs; nothing is written")
    parser.add_argument("--live", action="store_true", help="with the figures of the live pages")
    parser.add_argument("--seconds", type=float, default=0.5, help="of each run")
    parser.add_argument("--against", type=Path, help="only compare start, pages and memory with this checkout")
    options = parser.parse_args()
    if options.against:
        compare(options.against.resolve())
        return
    rounds, seconds = (1, min(0.3, options.seconds)) if options.quick else (TURNS, options.seconds)
    lines = ["# Benchmark results", "", "Written by `make bench`. See `docs/performance.md` for method and sizing.", ""]
    lines += [*(f"- {each}" for each in machine()), f"- Each figure is of {rounds} turns of {seconds:g} s"]
    print(*lines, "", f"{'':27}" + "".join(f"{column[:8]:>9}" for column in COLUMNS[2:]), sep="\n")
    with installed() as place, stub_service() as service:
        bench = Bench(place, service, seconds=seconds, rounds=rounds)
        targets = [target.line() for target in measure(bench)]
    print(*targets, sep="\n")
    lines += [f"- Ended {load_average()}", "", "## Targets", "", HEAD, *targets]
    lines += ["", "## Pages", "", f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|"]
    lines += [f"| {' | '.join(each.cells())} |" for each in bench.table]
    if options.live:
        live = output("-m", "bench.live", "--viewers", "500" if options.quick else "5000")
        print(live)
        lines += ["", "## Live", "", live.strip()]
    if not options.quick:
        RESULTS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
