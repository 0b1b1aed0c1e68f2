"""A past of many transfers, written into a database instead of read from a service.

    INTENTS_DATABASE=/tmp/mirror.sqlite3 .venv/bin/python -m bench.mirror.past 1000000

Writes so many transfers of the last 30 days, on so many routes, of which few have most, with the figures of now.
"""

import sys
import time
from collections.abc import Iterator
from itertools import batched
from random import Random

import django
from django.core.management import call_command
from django.db import connection, transaction

ROUTES, PROVIDERS, CHAINS, TOKENS, OWNERS = 300, 12, 70, 500, 50_000
DAYS, DAY, HOUR, MINUTE = 30, 86_400, 3_600, 60
DECIMALS = 6  # of all tokens
OPEN = 300
BATCH = 5_000


def write_past(count: int, *, now: int, routes: int = ROUTES) -> None:
    """Write transfers that were created until now, and windows as if all had just been read."""
    from intents_ui.mirror.models import Transfer, Window, write
    from intents_ui.mirror.partitions import add_months

    call_command("migrate", verbosity=0)
    columns = [
        each.column for each in Transfer._meta.concrete_fields if each.column not in ("unlisted_since", "created_day")
    ]
    past = [(start, start + HOUR) for start in range(now - (DAYS + 2) * DAY, now - HOUR, HOUR)]
    lately = [(start, start + MINUTE) for start in range(past[-1][1], now + MINUTE, MINUTE)]
    with transaction.atomic():
        add_months(past[0][0], now + DAYS * DAY)
        _write_dictionaries(routes)
        for some in batched(_rows(count, routes, now), BATCH):
            write(Transfer, [dict(zip(columns, row, strict=True)) for row in some])
        Window.objects.bulk_create(
            Window(start=start, end=end, due=now + DAY, read_at=now, is_sealed=end <= now - HOUR)
            for start, end in past + lately
        )
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")  # as it does by itself while a backfill goes on


def _write_dictionaries(routes: int) -> None:
    from intents_ui.mirror.models import Reason, Route, Token

    draw = Random(1)
    Route.objects.bulk_create(
        Route(
            providers=f"P{draw.randrange(PROVIDERS)}",
            origin_chain=str(number % CHAINS),
            destination_chain=str(number // CHAINS % CHAINS),
        )
        for number in range(1, routes + 1)
    )
    Token.objects.bulk_create(
        Token(chain="1", address=f"0x{number:040x}", symbol=f"T{number}") for number in range(1, TOKENS + 1)
    )
    Reason.objects.bulk_create(Reason(text=f"reason {number}", example=f"Reason {number}") for number in range(1, 41))


def _rows(count: int, routes: int, now: int) -> Iterator[tuple[object, ...]]:
    """Yield transfers as columns, evenly over the time."""
    from intents_ui.mirror.entry import size_of
    from intents_ui.mirror.figures.statistics import bucket

    draw = Random(2)
    for number in range(count):
        created = int((now - DAYS * DAY + DAYS * DAY * number / count) * 1000)
        route = int(routes * draw.random() ** 4) + 1
        is_open = number >= count - OPEN
        outcome = "open" if is_open else "delivered" if draw.random() < 0.97 else "failed"
        ended = min(created + int(draw.lognormvariate(10, 1)), now * 1000)
        is_failed = outcome == "failed"
        sent = int(draw.lognormvariate(18, 2))
        ends = [draw.randbytes(6) for _ in range(5)]
        yield (
            number.to_bytes(32), created, ended, created, None if is_open else ended, created, "EXECUTING" if is_open
            else "SUCCEEDED", outcome, route, route % TOKENS + 1, route * 7 % TOKENS + 1, str(sent),
            draw.randrange(OWNERS).to_bytes(20), None, None, 1 if is_failed else None,
            number % 40 + 1 if is_failed else None,
            created, number.to_bytes(8), None if is_open else ended // (HOUR * 1000) * HOUR,
            bucket(ended - created) if outcome == "delivered" else None, False,
            size_of(sent, DECIMALS), *ends[:3], None, *ends[3:], None,
        )  # fmt: skip


def main() -> None:
    from intents_ui.mirror import lease
    from intents_ui.mirror.figures.snapshots import SnapshotWriter

    now = int(time.time()) // MINUTE * MINUTE
    write_past(int(sys.argv[1]), now=now)
    with lease.acquired() as epoch:
        SnapshotWriter(epoch).finish(now=now, renew=lambda: lease.renew(epoch, service_now=now * 1000))


if __name__ == "__main__":
    django.setup()
    main()
