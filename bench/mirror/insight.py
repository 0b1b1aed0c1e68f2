"""Cost of figures about many transfers: to count them, and to read them as pages do. Prints JSON.

    INTENTS_DATABASE=/tmp/mirror.sqlite3 .venv/bin/python -m bench.mirror.insight 1000000 300

Writes so many transfers of 30 days into an empty database, on so many routes, of which few have most. Needs no service.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import batched
from random import Random
from statistics import median

import django
from django.core.management import call_command

ROUTES, PROVIDERS, CHAINS, TOKENS, OWNERS = 300, 12, 70, 500, 50_000
DAYS, DAY, HOUR = 30, 86_400, 3_600
NOW = 1_795_219_200 // DAY * DAY + 20 * HOUR
OPEN = 300
TURNS = 30
BATCH = 5_000
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
    from intents_ui.mirror.models import DayFact, Route, Token, Transfer, write

    call_command("migrate", verbosity=0)
    write_dictionaries(routes)
    columns = [each.column for each in Transfer._meta.concrete_fields if each.column != "unlisted_since"]
    for some in batched(rows(count, routes), BATCH):
        write(Transfer, [dict(zip(columns, row, strict=True)) for row in some])
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


def write_dictionaries(routes: int) -> None:
    from intents_ui.mirror.models import Reason, Route, Token, Window

    draw = Random(1)
    Route.objects.bulk_create(
        Route(
            pk=number,
            providers=f"P{draw.randrange(PROVIDERS)}",
            origin_chain=str(number % CHAINS),
            destination_chain=str(number // CHAINS % CHAINS),
        )
        for number in range(1, routes + 1)
    )
    Token.objects.bulk_create(
        Token(pk=number, chain="1", address=f"0x{number:040x}", symbol=f"T{number}") for number in range(1, TOKENS + 1)
    )
    Reason.objects.bulk_create(
        Reason(pk=number, text=f"reason {number}", example=f"Reason {number}") for number in range(1, 41)
    )
    past = [(start, start + HOUR) for start in range(NOW - (DAYS + 1) * DAY, NOW - HOUR, HOUR)]
    lately = [(start, start + 60) for start in range(NOW - HOUR, NOW + 60, 60)]
    Window.objects.bulk_create(
        Window(start=start, end=end, due=NOW + DAY, read_at=NOW, is_sealed=end <= NOW - HOUR)
        for start, end in past + lately
    )


def rows(count: int, routes: int) -> Iterator[tuple[object, ...]]:
    """Yield transfers as columns, evenly over the time."""
    from intents_ui.mirror.figures.statistics import bucket

    draw = Random(2)
    for number in range(count):
        created = int((NOW - DAYS * DAY + DAYS * DAY * number / count) * 1000)
        route = int(routes * draw.random() ** 4) + 1
        is_open = number >= count - OPEN
        outcome = "open" if is_open else "delivered" if draw.random() < 0.97 else "failed"
        ended = min(created + int(draw.lognormvariate(10, 1)), NOW * 1000)
        is_failed = outcome == "failed"
        yield (
            number.to_bytes(32), created, ended, created, None if is_open else ended, created, "EXECUTING" if is_open
            else "SUCCEEDED", outcome, route, route % TOKENS + 1, route * 7 % TOKENS + 1, "1000000",
            draw.randrange(OWNERS).to_bytes(20), None, None, 1 if is_failed else None,
            number % 40 + 1 if is_failed else None,
            created, number.to_bytes(8), None if is_open else ended // (HOUR * 1000) * HOUR,
            bucket(ended - created) if outcome == "delivered" else None, False,
        )  # fmt: skip


if __name__ == "__main__":
    django.setup()
    print(json.dumps(measure(*map(int, sys.argv[1:]))))
