"""Targets, and the measurements that only they need."""

import itertools
import socket
import statistics
import time
from collections.abc import Iterator

import httpx

from bench.load import Response, request
from bench.pages.cases import EMPTY, LONG_SEARCH, NEW_ROWS, Paths, Servers, renewed, unseen
from bench.pages.measuring import Bench, Case, Loops, Measurement, at
from bench.processes import CACHED, Dashboard, dashboard
from bench.stub_service import owner

HITS = (20, 100, 1000)
DEPTHS = (2, 60)  # pages of the history
MANY = 10_000
VISITORS = 100
READING = 4.0  # seconds on average
FIRST_BYTES = 40
QUIET_LOOP = 1.81  # ms of CPU of the loop, on the machine for which limits are in ms


def ratios(bench: Bench) -> None:
    """Compare CPU time with the loop's."""
    for page, state, connections, most in (
        ("history", "renewed", 1, 1.5),
        ("history", "renewed", 16, 1.6),
        ("history", "unseen", 1, 3.5),
        ("history", "unseen", 16, 4.2),
        ("history", "cached", 1, 0.9),
        ("transfer", "unseen", 1, 5),
        (LONG_SEARCH, "unseen", 1, 60),
    ):
        measured = bench.find(page, state, connections)
        name = f"{page}, {state}, relative to the loop, connections: {connections}"
        bench.target(name, measured.ratio, most, "times", measured.beside)
    known = {0: "renewed", **{rows: f"{rows} rows new" for rows in NEW_ROWS}, 20: "unseen"}
    measured_rows = [bench.find("history", state) for state in known.values()]
    price = statistics.linear_regression(list(known), [each.ratio for each in measured_rows]).slope
    beside = ", ".join(f"{rows}: {each.ratio:.2f}" for rows, each in zip(known, measured_rows, strict=True))
    bench.target("each row never seen, relative to the loop", price, 0.09, "times", f"by new rows of 20: {beside}")


def rates(bench: Bench, waiting: int, delay: float) -> None:
    """Compare pages per second with the empty page's, and with a slow service."""
    for connections, least in ((1, 0.6), (16, 0.45)):
        empty, cached = (bench.find(*name, connections) for name in (("empty", ""), ("transfer", "cached")))
        beside = f"{cached.rate:.0f} of {empty.rate:.0f}/s"
        what = f"transfer, cached: its rate relative to the empty page's, connections: {connections}"
        bench.target(what, cached.rate_relative_to(empty), least, "times", beside, least=True)
    how = f"{waiting} connections, {delay * 1000:.0f} ms"
    loop = bench.find("history", "loop", waiting, delay)
    for state, least in (("renewed", 170), ("unseen", 110)):
        measured = bench.find("history", state, waiting, delay)
        beside = f"{measured.beside}, whose rate is {loop.rate:.0f}/s"
        bench.target(f"history, {state}, {how}", measured.rate, least, "/s", beside, least=True)
    bench.target(f"p99 of history, renewed, {how}", bench.find("history", "renewed", waiting, delay).p99, 600, "ms")


def peer(bench: Bench) -> None:
    """Compare with the Next.js page, if it was there."""
    if not any(each.state == "Next.js" for each in bench.table):
        return
    for state, least in (("cached", 3.5), ("renewed", 3), ("unseen", 1)):
        ours, theirs = (bench.find("history", each, 16) for each in (state, "Next.js"))
        beside = f"{ours.rate:.0f} to {theirs.rate:.0f}/s, {ours.processor:.1f} to {theirs.processor:.1f} ms of CPU"
        what = f"history, {state}: its rate relative to the Next.js page's, connections: 16"
        bench.target(what, ours.rate_relative_to(theirs), least, "times", beside, least=True)


def start(bench: Bench) -> None:
    durations = []
    for _ in range(3):
        with dashboard(bench.place, bench.service.url, CACHED) as fresh:
            httpx.get(fresh.url + EMPTY, trust_env=False).raise_for_status()
            durations.append(fresh.started_in)
    what, beside = "process start, until the first response", f"of 3, maximum {max(durations):.2f}"
    bench.target(what, statistics.median(durations), 2, "s", beside)


def crowded(bench: Bench, paths: Paths) -> None:
    everything = ["/history", *paths.history[:19], *paths.transfer, *paths.tokens[:20], *paths.search, EMPTY]
    with dashboard(bench.place, bench.service.url, CACHED) as cached:
        case = Case("all kinds", f"{VISITORS} users", cached, everything, pause=READING)
        measured = bench.add(Measurement(case.page, case.state, VISITORS, 0, "", [bench.run(case, VISITORS)]))
    beside = f"each reads for {READING:g} s on average; {measured.refused} pages refused"
    bench.target(f"resident memory with {VISITORS} users", measured.megabytes, 120, "MB", beside)


def first_byte(bench: Bench, servers: Servers, paths: Paths) -> None:
    """Measure from the service's last response to the page's first byte, with the shared clock.

    In CPU times of the loop, which runs before and after, because that of the machine differs.
    """
    for page, limits in (("history", (2.5, 6)), ("transfer", (2, 7))):
        some = paths.kinds[page]
        for case, most in zip((renewed(servers, page, some), unseen(servers, page, some)), limits, strict=True):
            before = bench.loop(1)
            bench.run(case, 1, delay=0.02)
            waited = list(waits(bench, case))
            median, loop = statistics.median(waited), Loops(before, bench.loop(1)).each
            beside = f"median of {len(waited)}: {median:.1f} ms, p90 {at(waited, 90):.1f}, loop {loop:.2f} ms"
            what = f"first byte after the last response, {page}, {case.state}, relative to the loop"
            bench.target(what, median / loop, round(most / QUIET_LOOP, 2), "times", beside)
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


def growing(bench: Bench, servers: Servers, paths: Paths) -> None:
    hits = [
        unseen(servers, f"search {count:,}", [f"/search?owner={owner(count, number)}" for number in range(8)])
        for count in HITS
    ]
    ends = [unseen(servers, f"history {page}", [paths.history[page - 2]]) for page in DEPTHS]
    *searches, first, last = bench.turns([*hits, *ends], 1)
    for (fewer, less), (more, dearer) in itertools.pairwise(zip(HITS, searches, strict=True)):
        what = f"search with {more:,} results relative to {fewer}"
        beside = f"{dearer.processor:.1f} to {less.processor:.1f} ms"
        bench.target(what, dearer.processor / less.processor, more / fewer, "times", beside)
    what = f"page {DEPTHS[1]} of the history relative to page {DEPTHS[0]}"
    bench.target(what, last.processor / first.processor, 1.25, "times", "similar pages with different rows")


def many(bench: Bench, renewing: Dashboard) -> None:
    """Measure a large search. Hits are short, because ten thousand whole intents would exceed the limit of 16 MB."""
    bench.service.change(0)
    bench.service.call("SearchIntents", byOwnerAddress=owner(MANY, 99, is_lean=True))
    durations, before = [], renewing.megabytes
    for number in range(3):
        began = time.perf_counter()
        with httpx.Client(trust_env=False, timeout=60) as http:
            page = http.get(renewing.url + f"/search?owner={owner(MANY, number, is_lean=True)}")
        durations.append(time.perf_counter() - began)
        page.raise_for_status()
    what = f"search with {MANY:,} results, first page"
    bench.target(what, statistics.median(durations), 1, "s", "1 KB per result")
    bounds = "bounded by 48 MB of responses in progress and 32 MB of cache"
    bench.target("resident after three of them", renewing.megabytes - before, 200, "MB", bounds)
