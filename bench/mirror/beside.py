"""Pages of a dashboard while the mirror beside it reads and writes."""

import os
import signal
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from itertools import chain

from bench.load import load
from bench.mirror.backfill import CALLS, DAYS, Backfill
from bench.mirror.databases import HOUR, Database, mirror, sqlite
from bench.mirror.inside import measured
from bench.processes import dashboard, history_stub, installed, quantile, stub_service
from bench.report import Target
from tests.waiting import until

CLIENTS = {"connections": 4, "pause": 0.1}  # mean seconds between a client's requests
HISTORY = [f"/history?from={number}" for number in range(1, 13)]
INSIGHT = ["/insight", "/insight?window=7d", "/insight?by=provider", "/insight?window=30d&by=chain&order=worst"]
INSIGHT_SECONDS, WARM_SECONDS, WORKERS = 180.0, 5.0, 4
INSIGHT_RATE = 250  # each new transfer is written twice: when it is first read, and when it has ended


def pages(turns: int, seconds: float) -> Iterator[Target]:
    """Compare pages while the mirror is stopped and while it runs, in an even number of turns each."""
    without, beside = list[list[float]](), list[list[float]]()
    with (
        installed() as place,
        stub_service() as service,
        dashboard(place, service.url, {}) as site,
        history_stub(entries=20_000, days=DAYS, rate=4) as url,
        sqlite() as database,
    ):
        Backfill().watch(url, database)  # faster than within the budget
        with mirror(url, database, "run") as process:
            until(lambda: database.is_sealed(0, int(time.time()) - 2 * HOUR))
            load(site.port, HISTORY, seconds=seconds, **CLIENTS)  # until the pages are warm
            for turn in range(turns):
                # In the order of ABBA, so that a machine that gets slower or faster makes no difference.
                for is_beside in (turn % 2 == 1, turn % 2 == 0):
                    os.kill(process.pid, signal.SIGCONT if is_beside else signal.SIGSTOP)
                    took = load(site.port, HISTORY, seconds=seconds, **CLIENTS).milliseconds
                    (beside if is_beside else without).append(took)
            os.kill(process.pid, signal.SIGCONT)
    noise = 100 * abs(p99(without[::2]) / p99(without[1::2]) - 1)
    medians = [statistics.median(chain(*each)) for each in (without, beside)]
    told = (
        f"p99 {p99(without):.1f} and {p99(beside):.1f} ms, median {medians[0]:.1f} and {medians[1]:.1f} ms, "
        f"{sum(map(len, without)):,} and {sum(map(len, beside)):,} pages, noise {noise:.0f}%"
    )
    worse = 100 * (p99(beside) / p99(without) - 1)
    yield Target("frugal: p99 of pages, worse with the mirror", worse, 10, "%", told)


def p99(turns: list[list[float]]) -> float:
    return quantile(list(chain(*turns)), 99)


def insight_pages(entries: int, engine: Callable[[], AbstractContextManager[Database]]) -> Iterator[Target]:
    """Measure `/insight`, with a database of so many transfers."""
    with ExitStack() as stack:
        place, service = stack.enter_context(installed()), stack.enter_context(stub_service())
        database = stack.enter_context(engine())
        measured("past", entries, database.path)
        # The database has the past instead of the service.
        url = stack.enter_context(history_stub(entries=1_000, rate=INSIGHT_RATE))
        settings = {"WEB_CONCURRENCY": str(WORKERS), "INTENTS_DATABASE": str(database.path)}
        process = stack.enter_context(mirror(url, database, "run", calls=CALLS))
        site = stack.enter_context(dashboard(place, service.url, settings))
        load(site.port, INSIGHT, seconds=WARM_SECONDS, **CLIENTS)
        used, written = site.processor, changes(database)
        found = load(site.port, INSIGHT, seconds=INSIGHT_SECONDS, **CLIENTS)
        processor, written = site.processor - used, changes(database) - written
        has_ended = process.poll() is not None
    count, name = found.statuses.total(), "SQLite" if engine is sqlite else "PostgreSQL"
    told = (
        f"{entries:,} transfers, {INSIGHT_SECONDS:.0f} s. {count:,} pages, median "
        f"{quantile(found.milliseconds, 50):.1f} ms, {written / found.seconds:,.0f} transfers written per second"
    )
    yield Target(f"pages: /insight, p99, {name}", quantile(found.milliseconds, 99), 30, "ms", told)
    each = processor * 1000 / count
    yield Target(f"pages: /insight, processor time, {name}", each, 10, "ms", "of all workers, per page")
    yield Target(f"pages: responses other than 200, {name}", count - found.statuses["200"], 0, "")
    yield Target(f"pages: mirrors that were ended by a lock, {name}", has_ended, 0, "")


def changes(database: Database) -> int:
    """Return how many versions of transfers were written: each changes the time of its reading."""
    return sum(database.rows("SELECT COUNT(*), COUNT(hour) FROM mirror_transfer")[0])
