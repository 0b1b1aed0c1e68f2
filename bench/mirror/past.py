"""A past of many transfers of 30 days, written into an empty database instead of read from a service."""

import time
from collections.abc import Iterator
from itertools import batched
from random import Random

from django.core.management import call_command
from django.db import connection, transaction

from bench.report import Target
from intents_ui.mirror import lease
from intents_ui.mirror.entry import size_of
from intents_ui.mirror.figures.snapshots import SnapshotWriter
from intents_ui.mirror.figures.statistics import bucket
from intents_ui.mirror.models import Reason, Route, Token, Transfer, Window, write
from intents_ui.mirror.partitions import add_months
from intents_ui.mirror.windows import DAY, HOUR, MINUTE

ROUTES, PROVIDERS, CHAINS, TOKENS, OWNERS = 300, 12, 70, 500, 50_000  # few routes have most transfers
DAYS = 30
DECIMALS = 6  # of all tokens
OPEN = 300
BATCH = 5_000
NOW = 1_795_219_200 // DAY * DAY + 20 * HOUR


def write_past(count: int, *, now: int = NOW) -> None:
    """Write transfers that were created until now, and windows as if all had just been read."""
    call_command("migrate", verbosity=0)
    written = [each.column for each in Transfer._meta.concrete_fields]
    columns = [each for each in written if each not in ("unlisted_since", "created_day")]
    past = [(start, start + HOUR) for start in range(now - (DAYS + 2) * DAY, now - HOUR, HOUR)]
    lately = [(start, start + MINUTE) for start in range(past[-1][1], now + MINUTE, MINUTE)]
    with transaction.atomic():
        add_months(past[0][0], now + DAYS * DAY)
        draw = Random(1)
        Route.objects.bulk_create(
            Route(
                providers=f"P{draw.randrange(PROVIDERS)}",
                origin_chain=str(number % CHAINS),
                destination_chain=str(number // CHAINS % CHAINS),
            )
            for number in range(1, ROUTES + 1)
        )
        Token.objects.bulk_create(
            Token(chain="1", address=f"0x{number:040x}", symbol=f"T{number}") for number in range(1, TOKENS + 1)
        )
        Reason.objects.bulk_create(Reason(text=f"reason {n}", example=f"Reason {n}") for n in range(1, 41))
        for some in batched(rows(count, now), BATCH):
            write(Transfer, [dict(zip(columns, row, strict=True)) for row in some])
        Window.objects.bulk_create(
            Window(start=start, end=end, due=now + DAY, read_at=now, is_sealed=end <= now - HOUR)
            for start, end in past + lately
        )
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")  # as it does by itself while a backfill goes on


def rows(count: int, now: int) -> Iterator[tuple[object, ...]]:
    """Yield transfers as columns, evenly over the time."""
    draw = Random(2)
    for number in range(count):
        created = int((now - DAYS * DAY + DAYS * DAY * number / count) * 1000)
        route = int(ROUTES * draw.random() ** 4) + 1
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


def measure(count: float) -> Iterator[Target]:
    """Write transfers until now, with the figures of now. Measures nothing."""
    now = int(time.time()) // MINUTE * MINUTE
    write_past(int(count), now=now)
    with lease.acquired() as epoch:
        SnapshotWriter(epoch).finish(now=now, renew=lambda: lease.renew(epoch, service_now=now * 1000))
    return iter(())
