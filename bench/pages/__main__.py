"""Run the benchmark and write its results."""

import argparse
import itertools
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from bench import profiled
from bench.pages import targets
from bench.pages.cases import Paths, Servers, at_once, renewed, unseen
from bench.pages.measuring import Bench
from bench.pages.report import load, machine, report
from bench.peer.server import peer
from bench.processes import CACHED, RENEWING, RENEWING_POLICIES, clients, dashboard, installed, output, stub_service

DELAYS = (0.05, 0.2)
CONNECTIONS = (1, 16)
TURNS = 5
WARMING = 5  # runs until a JIT compiler is done
WAITING = 40  # connections: the number of pages that may wait for a slow service
RESULTS = Path(__file__).parent.parent / "RESULTS.md"


def measure(bench: Bench) -> None:
    targets.start(bench)
    with ExitStack() as stack:
        cached = stack.enter_context(dashboard(bench.place, bench.service.url, CACHED))
        renewing = stack.enter_context(dashboard(bench.place, bench.service.url, RENEWING))
        paths = Paths.found(cached, bench.service)
        servers = Servers(cached, renewing, stack.enter_context(peer(bench.service.url)))
        if servers.peer:
            bench.clients.run(servers.peer.port, ["/"], connections=4, seconds=WARMING * bench.seconds)
        for connections in CONNECTIONS:
            for page, some in paths.kinds.items():
                bench.turns(list(at_once(bench.service, servers, page, some, connections)), connections)
        for delay, connections in itertools.product(DELAYS, CONNECTIONS):
            for page, some in paths.kinds.items():
                bench.turns([renewed(servers, page, some), unseen(servers, page, some)], connections, delay)
        history = [renewed(servers, "history", paths.history), unseen(servers, "history", paths.history)]
        bench.turns(history, WAITING, DELAYS[-1])
        targets.ratios(bench)
        targets.rates(bench, WAITING, DELAYS[-1])
        targets.peer(bench)
        targets.first_byte(bench, servers, paths)
        targets.growing(bench, servers, paths)
        targets.many(bench, renewing)
    targets.crowded(bench, paths)


def settings(rounds: int, seconds: float) -> Iterator[str]:
    yield "Dashboard: one worker, default settings except `INTENTS_SERVICE_URL` and `SECRET_KEY`"
    yield f"Unseen and renewed: cache lifetimes `{RENEWING_POLICIES}`"
    yield f"Each figure is of {rounds} turns of {seconds:g} s"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.pages", description="What the pages cost.")
    parser.add_argument("--quick", action="store_true", help="short runs; nothing is written")
    parser.add_argument("--live", action="store_true", help="with the figures of the live pages")
    parser.add_argument("--seconds", type=float, default=0.5, help="of each run")
    parser.add_argument("--viewers", type=int, default=5000, help="of the live pages")
    options = parser.parse_args()
    rounds, seconds = (1, 0.3) if options.quick else (TURNS, options.seconds)
    told, live = [*machine(), *settings(rounds, seconds)], ""
    print("\n".join(told))
    with ExitStack() as stack:
        place = stack.enter_context(installed())
        bench = Bench(place, stack.enter_context(stub_service()), stack.enter_context(clients()), seconds, rounds)
        measure(bench)
        profile = profiled.table(place, bench.service)
    told.append(f"Ended {load()}")
    print(profile)
    if options.live:
        live = output("-m", "bench.live", "--viewers", str(500 if options.quick else options.viewers))
        print(live)
    if not options.quick:
        RESULTS.write_text(report(told, bench.targets, bench.table, live, profile))


if __name__ == "__main__":
    main()
