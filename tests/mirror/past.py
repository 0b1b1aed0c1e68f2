"""A past of many transfers in the mirror, with figures and incidents, for tests of pages about them."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from random import Random

from intents_ui.mirror import lease
from intents_ui.mirror.entry import RouteKey
from intents_ui.mirror.figures import statistics
from intents_ui.mirror.figures.snapshots import SnapshotWriter
from intents_ui.mirror.incidents.keeper import Keeper
from intents_ui.mirror.models import AUDITS, Lease, Reason, Route, Token, Transfer, Window, set_state
from intents_ui.mirror.windows import DAY, HOUR, MINUTE, NEVER
from intents_ui.mirror.writer import Writer

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)  # of the site
RELAY = RouteKey("RELAY", "8453", "42161")
CCTP = RouteKey("CCTP", "1", "8453")
LIFI = RouteKey("LIFI;RELAY", "42161", "10")
ROUTES = (RELAY, CCTP, LIFI, RouteKey("RELAY", "1", "8453"), RouteKey("ZEROX", "8453", "8453"))
REASON = "execution reverted: slippage 1.5% exceeded"
FIRST = 1_000_000  # number of the first transfer, above those of other tests
OUTCOMES = {"SUCCEEDED": "delivered", "FAILED": "failed", "REFUNDED": "refunded"}
HOLE = "the service repeated a page"


def write(
    now: datetime, *, days: int = 3, per_hour: int = 6, reason: str = REASON, routes: Sequence[RouteKey] = ROUTES
) -> None:
    """Write ended transfers of this many days. On the first route one in six failed, on the others none."""
    draw, at = Random(1), int(now.timestamp())
    failure = Reason.objects.create(text=reason, example=reason)
    for chain in ("8453", "42161"):
        Token.objects.create(chain=chain, address="0x" + "11" * 20, symbol="USDC")
    places = [
        (hour + draw.randrange(HOUR), place, turn)
        for hour in range(at // HOUR * HOUR - days * DAY, at, HOUR)
        for place in range(len(routes))
        for turn in range(max(per_hour - place, 1))
    ]
    on = [route(key) for key in routes]
    found = [(end, on[place], failure if place == 0 and turn == 3 else None) for end, place, turn in places if end < at]
    add(ended(end, key, reason, seconds=draw.randrange(15, 90)) for end, key, reason in found)


def ended(end: int, on: Route, reason: Reason | None, *, seconds: int = 40) -> Transfer:
    """Return a transfer that ended then, in Unix seconds. With a reason it failed."""
    began, at = (end - seconds) * 1000, end * 1000
    return Transfer(
        created=began, updated=at, started=began, ended=at, status="FAILED" if reason else "SUCCEEDED",
        outcome="failed" if reason else "delivered", route=on, read_at=at, fingerprint=b"",
        end=at, bucket=None if reason else statistics.bucket(at - began), reason=reason,
        failed_step=1 if reason else None, sent="1500000",
    )  # fmt: skip


def add(transfers: Iterable[Transfer]) -> None:
    """Store transfers of an owner each, with the two tokens."""
    first, tokens = FIRST + Transfer.objects.count(), list(Token.objects.order_by("pk")[:2])
    rows = list(transfers)
    for number, row in enumerate(rows, first):
        row.intent_id, row.owner = number.to_bytes(32), row.owner or number.to_bytes(20)
        row.origin_token, row.destination_token = tokens
    Transfer.objects.bulk_create(rows)


def open_transfer(now: datetime, *, number: int, age: timedelta, key: RouteKey = RELAY) -> str:
    """Write a transfer that has been open for so long. Return its ID."""
    at = int((now - age).timestamp()) * 1000
    Transfer.objects.create(
        intent_id=number.to_bytes(32), created=at, updated=at, started=at, status="EXECUTING", outcome="open",
        route=route(key), read_at=at, fingerprint=b"", owner=number.to_bytes(20), sent="2000000",
        origin_token=Token.objects.first(),
    )  # fmt: skip
    return f"0x{number:064x}"


def lead(at: int) -> Writer:
    Lease.objects.all().delete()  # it may be held
    return Writer(lease.acquire(now=at * 1000))


def count(now: datetime) -> None:
    """Count all figures, as the mirror's process does."""
    at = int(now.timestamp())
    SnapshotWriter(lead(at)).write(now=at)


def ending(
    now: datetime, *, good: int, bad: int, key: RouteKey = RELAY, minutes: int = 35, seconds: int = 40
) -> Iterator[Transfer]:
    """Yield transfers that ended evenly in the last minutes, except the last two. The bad ones failed, evenly, too."""
    failure, on, of = Reason.objects.first(), route(key), good + bad
    for place in range(of):
        is_bad = (place + 1) * bad // of > place * bad // of
        at = int(now.timestamp()) - minutes * MINUTE + place * (minutes - 2) * MINUTE // of
        yield ended(at, on, failure if is_bad else None, seconds=seconds)


def incident(now: datetime, *, key: RouteKey = RELAY, minutes: int = 40) -> None:
    """Let 20 of 30 owners' transfers have failed on a route since so many minutes ago, and judge."""
    add(ending(now, good=10, bad=20, key=key, minutes=minutes))
    judge(now, minutes=minutes + 1)


def judge(now: datetime, *, minutes: int = 41) -> None:
    """Let the mirror's process judge the last minutes, some at a time."""
    at = int(now.timestamp())
    keep(Keeper(lead(at)), at, minutes=minutes)


def keep(keeper: Keeper, at: int, *, minutes: int) -> None:
    first = at - minutes * MINUTE
    while not keeper.keep(now=first):  # it learns some hours of the past at a time
        pass
    for moment in (*range(first, at, 4 * MINUTE), at, at + MINUTE):
        keeper.keep(now=moment)


def route(key: RouteKey) -> Route:
    found, _ = Route.objects.get_or_create(**key._asdict())
    return found


# Ledgers, as rows


def whole(now: datetime, *, days: int = 3, holes: Sequence[float] = ()) -> int:
    """Write a ledger of this many past days by the hour, complete but for holes at these ages in hours.

    Return its end, in Unix seconds.
    """
    end = int(now.timestamp()) // HOUR * HOUR
    starts = range(end - days * DAY, end, HOUR)
    lacking = {int(end - age * HOUR) for age in holes}
    Window.objects.bulk_create(
        Window(
            start=start, end=start + HOUR, due=NEVER, read_at=start + 2 * HOUR, rows=5,
            is_sealed=start not in lacking, failures=3 if start in lacking else 0,
            reason=HOLE if start in lacking else "",
        )
        for start in starts
    )  # fmt: skip
    return end


def present(now: datetime) -> None:
    """Write the window from the end of a `whole` ledger until now, as read now."""
    at = int(now.timestamp())
    Window.objects.create(start=at // HOUR * HOUR, end=at + 60, due=NEVER, read_at=at)


def hold_lease(now: datetime, *, seconds: int = 10) -> None:
    """Let a process hold the lease for this long."""
    until = int((now + timedelta(seconds=seconds)).timestamp() * 1000)
    Lease.objects.update_or_create(pk=1, defaults={"epoch": 1, "holder": "test", "until": until})


def audit(now: datetime, *differing: int) -> None:
    set_state(AUDITS, [(int(now.timestamp()) - HOUR, count) for count in differing])


def pay(
    address: str, *, now: datetime, role: str = "recipient", status: str = "SUCCEEDED", age: float = 0, number: int = 1
) -> str:
    """Write a transfer of this age in seconds that paid an address. Return its ID, which is the number."""
    at = int((now.timestamp() - age) * 1000)
    route, _ = Route.objects.get_or_create(providers="", origin_chain="", destination_chain="")
    outcome = OUTCOMES.get(status, "open")
    Transfer.objects.create(
        intent_id=number.to_bytes(32), created=at, updated=at, status=status, outcome=outcome, route=route, read_at=at,
        fingerprint=b"", end=None if outcome == "open" else at,
        **{role: bytes.fromhex(address[2:])},
    )  # fmt: skip
    return f"0x{number:064x}"
