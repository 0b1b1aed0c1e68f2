"""Cost of figures about many transfers: to count them, and to read them as pages do. Needs no service."""

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from statistics import median

from bench.mirror.past import NOW, write_past
from bench.report import Target
from intents_ui.mirror import lease
from intents_ui.mirror.figures import queries
from intents_ui.mirror.figures.scopes import EVERYTHING, Level, ScopeName, scope_of_token
from intents_ui.mirror.figures.snapshots import EVERY, Period, SnapshotWriter
from intents_ui.mirror.models import DayFact, Route, Token
from intents_ui.mirror.windows import DAY

TURNS = 30


def measure(size: float) -> Iterator[Target]:
    count = int(size)
    write_past(count)
    told = f"{count:,} transfers in 30 days"
    writer = SnapshotWriter(lease.acquire(now=1))
    began, pieces, has_more = time.process_time(), list[float](), True
    while has_more:
        piece = time.perf_counter()
        has_more = writer.step(now=NOW)
        pieces.append((time.perf_counter() - piece) * 1000)
    each, facts = (time.process_time() - began) * 1e6 / count, DayFact.objects.count()
    began = time.process_time()
    while writer.step(now=NOW + max(EVERY.values())):
        pass
    snapshots = time.process_time() - began
    for name, several in page_queries().items():
        beside = f"processor time, median of {TURNS}, {told}"
        yield Target(f"insight: {name}", max(map(milliseconds, several)), 20, "ms", beside)
    day = milliseconds(partial(writer.write_day, NOW // DAY * DAY - DAY, NOW))
    yield Target("insight: facts of a day", day, 1000, "ms", told)
    yield Target("insight: snapshots of all periods", snapshots, 1, "s", f"processor time, {told}")
    yield Target("insight: longest piece of work", max(pieces), 100, "ms", told)
    beside = f"{told}, {facts:,} facts"
    yield Target("insight: processor time to count all, per transfer", each, 50, "µs", beside)


def page_queries() -> dict[str, list[Callable[[], object]]]:
    """Return the queries of pages by name. Those of several windows are measured by the slowest."""
    now, busiest, token = datetime.fromtimestamp(NOW, UTC), Route.objects.get(pk=1), Token.objects.get(pk=2)
    route = ScopeName(Level.ROUTE, *busiest.key)
    scopes = {
        "all": EVERYTHING,
        "the busiest route": route,
        "the busiest provider": ScopeName(Level.PROVIDER, busiest.providers),
        "the busiest chain": ScopeName(Level.CHAIN, "", busiest.origin_chain),
        "the busiest token": scope_of_token(token.chain, token.address),
    }

    def overview(period: Period) -> object:
        return queries.overview(period, queries.count_open(now=now))

    def page(scope: ScopeName, period: Period) -> object:
        return queries.report(scope, period, queries.count_open(now=now))

    return {
        "overview of a day": [partial(overview, Period.DAY)],
        "overview of 30 days": [partial(overview, Period.MONTH)],
        **{
            f"page of {name}, slowest window": [partial(page, scope, period) for period in Period]
            for name, scope in scopes.items()
        },
        "performance of a route": [partial(queries.performance, route, now=now)],
        "late transfers": [partial(queries.late, now=now)],
    }


def milliseconds(part: Callable[[], object]) -> float:
    """Return the processor time, the median of the turns."""
    took = []
    for _ in range(TURNS):
        began = time.process_time()
        part()
        took.append((time.process_time() - began) * 1000)
    return median(took)
