"""What is measured in the process of the mirror's code, with its database in `INTENTS_DATABASE`."""

import json
import time
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from itertools import batched
from random import Random
from statistics import median

import httpx
from django.core.management import call_command
from django.db import connection, transaction

from bench.history_stub import IDS, OPEN, RECORDED_AT, History
from bench.processes import quantile
from bench.report import Target
from intents_ui.mirror import lease
from intents_ui.mirror.candidates import candidates
from intents_ui.mirror.entry import size_of
from intents_ui.mirror.figures import queries
from intents_ui.mirror.figures.scopes import EVERYTHING, Level, ScopeName, scope_of_token
from intents_ui.mirror.figures.snapshots import EVERY, Period, SnapshotWriter
from intents_ui.mirror.figures.statistics import bucket
from intents_ui.mirror.models import Reason, Route, Token, Transfer, Window, write
from intents_ui.mirror.partitions import add_months
from intents_ui.mirror.windows import DAY, HOUR, MINUTE
from intents_ui.mirror.writer import Writer
from intents_ui.search.facts import TicketFacts
from intents_ui.search.identifiers import Finding, Kind, ParsedText
from intents_ui.service.models import ChainInfo
from tests.mirror.world import Copy

ROUTES, PROVIDERS, CHAINS, TOKENS, OWNERS = 300, 12, 70, 500, 50_000  # few routes have most transfers
DAYS = 30
DECIMALS = 6  # of all tokens
STILL_OPEN = 300
BATCH = 5_000
NOW = 1_795_219_200 // DAY * DAY + 20 * HOUR

INSIGHT_TURNS, CANDIDATE_TURNS = 30, 25
LOOKUP = "lookup of an ID"
START = RECORDED_AT // DAY * DAY + 600  # ten minutes into a day, which is what the mirror reads first
RATE, CALLS = 4, 5  # per second
CALL_SECONDS, IDLE_SECONDS = 0.1, 0.5
SETTLING = 300  # seconds until the first ending that counts


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
        is_open = number >= count - STILL_OPEN
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
            created, number.to_bytes(8), None if is_open else ended,
            bucket(ended - created) if outcome == "delivered" else None, False,
            size_of(sent, DECIMALS), *ends[:3], None, *ends[3:], None,
        )  # fmt: skip


def insight(size: float) -> Iterator[Target]:
    """Measure figures about many transfers: to count them, and to read them as pages do."""
    count = int(size)
    write_past(count)
    told = f"{count:,} transfers in 30 days"
    writer = SnapshotWriter(Writer(lease.acquire(now=1)))
    began = time.process_time()
    writer.write(now=NOW)
    each = (time.process_time() - began) * 1e6 / count
    began = time.process_time()
    writer.write(now=NOW + max(EVERY.values()))
    snapshots = time.process_time() - began
    for name, several in page_queries().items():
        beside = f"processor time, median of {INSIGHT_TURNS}, {told}"
        yield Target(f"insight: {name}", max(map(typical, several)), 20, "ms", beside)
    yield Target("insight: snapshots of all periods", snapshots, 1, "s", f"processor time, {told}")
    yield Target("insight: processor time to count all, per transfer", each, 50, "µs", told)


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


def candidate_transfers(count: float) -> Iterator[Target]:
    """Measure the candidates for what customers tell of a transfer, by kind of ticket."""
    write_past(int(count))
    now, draw, found = datetime.fromtimestamp(NOW, UTC), Random(3), defaultdict[str, list[float]](list)
    for _ in range(CANDIDATE_TURNS):
        earlier = Transfer.objects.filter(created__lte=(NOW - draw.randrange(30 * DAY)) * 1000)
        meant = earlier.select_related("route", "origin_token").order_by("-created")[0]
        found[LOOKUP].append(milliseconds(partial(list, Transfer.objects.filter(intent_id=meant.intent_id))))
        for kind, wanted in tickets(meant).items():
            found[kind].append(milliseconds(partial(candidates, wanted, now=now)))
    engine = "SQLite" if connection.vendor == "sqlite" else "PostgreSQL"
    longest, lookup = max(map(max, found.values())), median(found.pop(LOOKUP))
    for kind, each in found.items():
        told = f"{count:,.0f} transfers, median of {CANDIDATE_TURNS}, {median(each) / lookup:.0f} lookups"
        yield Target(f"candidates: {kind}, {engine}", median(each), 50, "ms", told)
    yield Target(f"candidates: longest, {engine}", longest, 50, "ms")


def tickets(meant: Transfer) -> dict[str, TicketFacts]:
    """Return what tickets may tell of a transfer."""
    amounts = (Decimal(meant.sent or 0).scaleb(-DECIMALS).quantize(Decimal("0.01")),)
    symbols = frozenset([meant.origin_token.symbol] if meant.origin_token else [])
    origin, destination = ChainInfo(id=int(meant.route.origin_chain)), ChainInfo(id=int(meant.route.destination_chain))
    day = meant.created_at - timedelta(hours=20), meant.created_at + timedelta(hours=30)
    digits, owner = bytes(meant.deposit_hash or b"").hex(), bytes(meant.owner or b"").hex()
    ends = Finding(Kind.SHORTENED, "", head=digits[:4], tail=digits[-4:])
    return {
        "amount and token": TicketFacts(amounts, symbols=symbols),
        "amount and route": TicketFacts(amounts, origin=origin, destination=destination),
        "amount, token, route and day": TicketFacts(amounts, False, symbols, origin, destination, (), *day),
        "amount, token, another route and day": TicketFacts(amounts, False, symbols, destination, origin, (), *day),
        "ends of a hash": TicketFacts(pasted=ParsedText((ends,))),
        "owner and amount": TicketFacts(amounts, pasted=ParsedText((Finding(Kind.ADDRESS, f"0x{owner}"),))),
    }


def typical(part: Callable[[], object]) -> float:
    return median(milliseconds(part) for _ in range(INSIGHT_TURNS))


def milliseconds(part: Callable[[], object]) -> float:
    """Return how long it takes: of this processor with SQLite, and until the response with a server."""
    clock = time.process_time if connection.vendor == "sqlite" else time.perf_counter
    began = clock()
    part()
    return (clock() - began) * 1000


@dataclass
class Service(httpx.BaseTransport):
    """The stub, whose calls take time on a clock of its own."""

    now: float = START
    called: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.history = History(entries=1, days=1, start=START, now=lambda: self.now)
        kinds = self.history.kinds
        share = sum(kind.templates[-1].status != "QUOTED" for kind in kinds) / len(kinds)
        beat = share / RATE
        self.history = History(
            entries=round(600 / beat), days=600 / DAY, rate=1 / beat, start=START, now=lambda: self.now
        )

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.called.append(self.now)
        reply = self.history.reply(request.url.path, request.read().decode())
        self.sleep(CALL_SECONDS)
        body = httpx.ByteStream(reply.partition(b"\r\n\r\n")[2])
        return httpx.Response(200, headers={"content-type": "application/json"}, stream=body)

    def endings(self, since: float, until: float) -> Iterator[tuple[bytes, float]]:
        """Yield the ID and the time of change of each transfer that ended within this time."""
        for number in range(self.history.newest(round(until * 1e6)) + 1):
            born = self.history.born(number)
            for template in self.history.kind(number).templates:
                if template.status not in OPEN | {"QUOTED"}:
                    entry = json.loads(template.entry([b"-"] * 4, born))
                    ended = datetime.fromisoformat(entry["updatedAt"]).timestamp()
                    if since <= ended < until:
                        yield (number * IDS % 2**256).to_bytes(32), ended
                    break


def fresh(seconds: float) -> Iterator[Target]:
    """Measure the delay until the mirror knows the end of a transfer, and its calls, on an accelerated clock."""
    call_command("migrate", "mirror", verbosity=0)
    service = Service()
    copy, known, until = Copy(service, calls=CALLS), dict[bytes, float](), START + SETTLING + seconds
    while service.now < until:
        if not copy.step():
            service.sleep(IDLE_SECONDS)
            continue
        for each in copy.readings[-1].entries:
            if each.status not in OPEN:
                known.setdefault(each.intent_id, service.now)
    # Endings of the last two minutes may not be known yet, and need not be.
    ended = dict(service.endings(START + SETTLING, until - 120))
    late = [known.get(each, float("inf")) - at for each, at in ended.items()]
    told = f"{len(late):,} endings in {seconds / 60:g} minutes"
    for percent, most in ((50, 15), (95, 30), (99, 120)):
        yield Target(f"fresh: delay until an ending is known, p{percent}", quantile(late, percent), most, "s", told)
    called = [at for at in service.called if at >= START + SETTLING]
    yield Target("fresh: calls per transfer", len(called) / (seconds * RATE), 0.3, "")
    burst = max(place + 1 - bisect_right(called, at - 9.999) for place, at in enumerate(called))
    yield Target("fresh: calls in any 10 s", burst, 50, "", "a budget of 5 per second")


def recent_past(count: float) -> Iterator[Target]:
    """Write transfers until now, with the figures of now. Measures nothing."""
    now = int(time.time()) // MINUTE * MINUTE
    write_past(int(count), now=now)
    with lease.acquired() as epoch:
        SnapshotWriter(Writer(epoch)).write(now=now)
    return iter(())
