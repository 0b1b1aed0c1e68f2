"""Candidates for what customers tell of a transfer. Prints JSON: median milliseconds of each kind of ticket.

    INTENTS_DATABASE=/tmp/mirror.sqlite3 .venv/bin/python -m bench.mirror.candidates 1000000

Writes so many transfers of 30 days into an empty database. Needs no service.
"""

import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from random import Random
from statistics import median

import django
from django.db import connection

from bench.mirror.insight import NOW
from bench.mirror.past import DAY, DECIMALS, write_past

TURNS = 25
LOOKUP = "lookup of an ID"
TOKEN, ROUTE, ALL = "amount and token", "amount and route", "amount, token, route and day"
WRONG, ENDS, OWNER = "amount, token, another route and day", "ends of a hash", "owner and amount"
KINDS = (TOKEN, ROUTE, ALL, WRONG, ENDS, OWNER)
LONGEST = "longest"


def measure(count: int) -> dict[str, float]:
    """Return milliseconds of each kind, and of a lookup by an index. `LONGEST` is the longest of all."""
    from intents_ui.mirror.candidates import Wanted, candidates
    from intents_ui.mirror.models import Transfer

    write_past(count, now=NOW)
    now, draw, found = datetime.fromtimestamp(NOW, UTC), Random(3), defaultdict[str, list[float]](list)
    for _ in range(TURNS):
        earlier = Transfer.objects.filter(created__lte=(NOW - draw.randrange(30 * DAY)) * 1000)
        meant = earlier.select_related("route", "origin_token").order_by("-created")[0]
        found[LOOKUP].append(milliseconds(partial(list, Transfer.objects.filter(intent_id=meant.intent_id))))
        amounts = [Decimal(meant.sent or 0).scaleb(-DECIMALS).quantize(Decimal("0.01"))]
        symbols = [meant.origin_token.symbol] if meant.origin_token else []
        origin, destination = int(meant.route.origin_chain), int(meant.route.destination_chain)
        day = meant.created_at - timedelta(hours=20), meant.created_at + timedelta(hours=30)
        digits, owner = bytes(meant.deposit_hash or b"").hex(), bytes(meant.owner or b"").hex()
        tickets = {
            TOKEN: Wanted(amounts=amounts, symbols=symbols),
            ROUTE: Wanted(amounts=amounts, origin=origin, destination=destination),
            ALL: Wanted(amounts, False, symbols, origin, destination, (), *day),
            WRONG: Wanted(amounts, False, symbols, origin, destination + 1, (), *day),
            ENDS: Wanted(shortened=[(digits[:4], digits[-4:])]),
            OWNER: Wanted(addresses=[f"0x{owner}"], amounts=amounts),
        }
        for kind, wanted in tickets.items():
            found[kind].append(milliseconds(partial(candidates, wanted, now=now)))
    return {kind: median(each) for kind, each in found.items()} | {LONGEST: max(map(max, found.values()))}


def milliseconds(do: Callable[[], object]) -> float:
    """Return how long it takes: of this processor with SQLite, and until the response with a server."""
    clock = time.process_time if connection.vendor == "sqlite" else time.perf_counter
    began = clock()
    do()
    return (clock() - began) * 1000


if __name__ == "__main__":
    django.setup()
    print(json.dumps(measure(int(sys.argv[1]))))
