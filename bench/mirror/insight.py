"""Cost of figures about many transfers: to count them, and to read them as pages do. Prints JSON.

    INTENTS_DATABASE=/tmp/mirror.sqlite3 .venv/bin/python -m bench.mirror.insight 1000000 300

Writes so many transfers of 30 days into an empty database, on so many routes, of which few have most. Needs no service.
"""

import json
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from statistics import median

import django

from bench.mirror.past import DAY, HOUR, ROUTES, write_past

NOW = 1_795_219_200 // DAY * DAY + 20 * HOUR
TURNS = 30
DAY_AGAIN = "count a day"
QUERIES = (
    "overview of a day",
    "overview of 30 days",
    "page of all, slowest window",
    "page of the busiest route, slowest window",
    "page of the busiest provider, slowest window",
    "page of the busiest chain, slowest window",
    "page of the busiest token, slowest window",
    "performance of a route",
    "late transfers",
)


def measure(count: int, routes: int = ROUTES) -> dict[str, float]:
    """Return milliseconds of the processor for each query, and those of the facts of a day and of all snapshots."""

    from intents_ui.mirror import lease
    from intents_ui.mirror.figures import queries
    from intents_ui.mirror.figures.scopes import EVERYTHING, Level, ScopeName, scope_of_token
    from intents_ui.mirror.figures.snapshots import EVERY, Period, SnapshotWriter
    from intents_ui.mirror.models import DayFact, Route, Token

    write_past(count, now=NOW, routes=routes)
    writer = SnapshotWriter(lease.acquire(now=1))
    began, pieces = time.process_time(), list[float]()
    while True:
        piece = time.perf_counter()
        if not writer.step(now=NOW):
            break
        pieces.append((time.perf_counter() - piece) * 1000)
    found = {"all": (time.process_time() - began) * 1e6 / count, "longest": max(pieces)}
    found["facts"] = DayFact.objects.count()
    began = time.process_time()
    while writer.step(now=NOW + max(EVERY.values())):
        pass
    found["snapshots"] = time.process_time() - began

    busiest, token = Route.objects.get(pk=1), Token.objects.get(pk=2)
    route = ScopeName(Level.ROUTE, *busiest.key)
    scopes = (
        EVERYTHING,
        route,
        ScopeName(Level.PROVIDER, busiest.providers),
        ScopeName(Level.CHAIN, "", busiest.origin_chain),
        scope_of_token(token.chain, token.address),
    )
    now = datetime.fromtimestamp(NOW, UTC)

    def overview(period: Period) -> object:
        return queries.overview(period, queries.count_open(now=now))

    def page(scope: ScopeName, period: Period) -> object:
        return queries.report(scope, period, queries.count_open(now=now))

    questions: tuple[Sequence[Callable[[], object]], ...] = (
        *([partial(overview, period)] for period in (Period.DAY, Period.MONTH)),
        *([partial(page, each, period) for period in Period] for each in scopes),
        [lambda: queries.performance(route, now=now)],
        [lambda: queries.late(now=now)],
    )
    parts = {DAY_AGAIN: [lambda: writer.write_day(NOW // DAY * DAY - DAY, NOW)]}
    parts |= dict(zip(QUERIES, questions, strict=True))
    return found | {name: max(map(typical, several)) for name, several in parts.items()}


def typical(part: Callable[[], object]) -> float:
    return median(timed(part) for _ in range(TURNS))


def timed(part: Callable[[], object]) -> float:
    """Return milliseconds of the processor."""
    began = time.process_time()
    part()
    return (time.process_time() - began) * 1000


if __name__ == "__main__":
    django.setup()
    print(json.dumps(measure(*map(int, sys.argv[1:]))))
