"""Candidates for what customers tell of a transfer: the time of each kind of ticket. Needs no service."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from random import Random
from statistics import median

from django.db import connection

from bench.mirror.past import DECIMALS, NOW, write_past
from bench.report import Target
from intents_ui.mirror.candidates import Wanted, candidates
from intents_ui.mirror.models import Transfer
from intents_ui.mirror.windows import DAY

TURNS = 25
LOOKUP = "lookup of an ID"


def measure(count: float) -> Iterator[Target]:
    write_past(int(count))
    now, draw, found = datetime.fromtimestamp(NOW, UTC), Random(3), defaultdict[str, list[float]](list)
    for _ in range(TURNS):
        earlier = Transfer.objects.filter(created__lte=(NOW - draw.randrange(30 * DAY)) * 1000)
        meant = earlier.select_related("route", "origin_token").order_by("-created")[0]
        found[LOOKUP].append(milliseconds(partial(list, Transfer.objects.filter(intent_id=meant.intent_id))))
        for kind, wanted in tickets(meant).items():
            found[kind].append(milliseconds(partial(candidates, wanted, now=now)))
    engine = "SQLite" if connection.vendor == "sqlite" else "PostgreSQL"
    longest, lookup = max(map(max, found.values())), median(found.pop(LOOKUP))
    for kind, each in found.items():
        told = f"{count:,.0f} transfers, median of {TURNS}, {median(each) / lookup:.0f} lookups"
        yield Target(f"candidates: {kind}, {engine}", median(each), 50, "ms", told)
    yield Target(f"candidates: longest, {engine}", longest, 50, "ms")


def tickets(meant: Transfer) -> dict[str, Wanted]:
    """Return what tickets may tell of a transfer."""
    amounts = [Decimal(meant.sent or 0).scaleb(-DECIMALS).quantize(Decimal("0.01"))]
    symbols = [meant.origin_token.symbol] if meant.origin_token else []
    origin, destination = int(meant.route.origin_chain), int(meant.route.destination_chain)
    day = meant.created_at - timedelta(hours=20), meant.created_at + timedelta(hours=30)
    digits, owner = bytes(meant.deposit_hash or b"").hex(), bytes(meant.owner or b"").hex()
    return {
        "amount and token": Wanted(amounts=amounts, symbols=symbols),
        "amount and route": Wanted(amounts=amounts, origin=origin, destination=destination),
        "amount, token, route and day": Wanted(amounts, False, symbols, origin, destination, (), *day),
        "amount, token, another route and day": Wanted(amounts, False, symbols, origin, destination + 1, (), *day),
        "ends of a hash": Wanted(shortened=[(digits[:4], digits[-4:])]),
        "owner and amount": Wanted(addresses=[f"0x{owner}"], amounts=amounts),
    }


def milliseconds(do: Callable[[], object]) -> float:
    """Return how long it takes: of this processor with SQLite, and until the response with a server."""
    clock = time.process_time if connection.vendor == "sqlite" else time.perf_counter
    began = clock()
    do()
    return (clock() - began) * 1000
