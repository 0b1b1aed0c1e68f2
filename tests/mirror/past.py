"""A past of many transfers in the mirror, with figures and incidents, for tests of pages about them."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from random import Random

from intents_ui.mirror import lease, writer
from intents_ui.mirror.entry import RouteKey
from intents_ui.mirror.figures import rollups
from intents_ui.mirror.figures.rollups import Rollups
from intents_ui.mirror.incidents.keeper import NAME
from intents_ui.mirror.models import Incident, IncidentRoute, Lease, Reason, Route, Scope, Token, Transfer
from intents_ui.mirror.windows import DAY, HOUR

RELAY = RouteKey("RELAY", "8453", "42161")
CCTP = RouteKey("CCTP", "1", "8453")
LIFI = RouteKey("LIFI;RELAY", "42161", "10")
ROUTES = (RELAY, CCTP, LIFI, RouteKey("RELAY", "1", "8453"), RouteKey("ZEROX", "8453", "8453"))
REASON = "execution reverted: slippage 1.5% exceeded"
FIRST = 1_000_000  # number of the first transfer, above those of other tests


def write(
    now: datetime, *, days: int = 3, per_hour: int = 6, reason: str = REASON, routes: Sequence[RouteKey] = ROUTES
) -> None:
    """Write ended transfers of this many days. On the first route one in four failed, on the others none."""
    draw, number, at = Random(1), FIRST, int(now.timestamp())  # noqa: S311 - the same in each run
    failure = Reason.objects.create(key=b"failure", text=reason, example=reason)
    usdc = [
        Token.objects.create(key=chain.encode(), chain=chain, address="0x" + "11" * 20, symbol="USDC")
        for chain in ("8453", "42161")
    ]
    stored = [route(key) for key in routes]
    rows = []
    for hour in range(at // HOUR * HOUR - days * DAY, at, HOUR):
        for place, on in enumerate(stored):
            for turn in range(max(per_hour - place, 1)):
                end = hour + draw.randrange(HOUR)
                if end < at:
                    number += 1
                    is_bad = place == 0 and turn % 4 == 3
                    rows.append(
                        ended(
                            number,
                            end,
                            on,
                            seconds=draw.randrange(15, 90),
                            reason=failure if is_bad else None,
                            tokens=usdc,
                        )
                    )
    Transfer.objects.bulk_create(rows)


def ended(
    number: int, end: int, on: Route, *, seconds: int, reason: Reason | None, tokens: Sequence[Token]
) -> Transfer:
    """Return a transfer that ended then, in Unix seconds. With a reason it failed. It has an owner of its own."""
    began, at, became = (
        (end - seconds) * 1000,
        end * 1000,
        ("FAILED", "failed") if reason else ("SUCCEEDED", "delivered"),
    )
    return Transfer(
        intent_id=number.to_bytes(32), created=began, updated=at, started=began, ended=at, status=became[0],
        outcome=became[1], rules=1, route=on, read_at=at, fingerprint=b"", owner=number.to_bytes(20),
        hour=end // HOUR * HOUR, reason=reason, failed_step=1 if reason else None, origin_token=tokens[0],
        destination_token=tokens[1], sent="1500000",
    )  # fmt: skip


def open_transfer(now: datetime, *, number: int, age: timedelta, key: RouteKey = RELAY) -> str:
    """Write a transfer that has been open for so long. Return its ID."""
    at = int((now - age).timestamp()) * 1000
    Transfer.objects.create(
        intent_id=number.to_bytes(32), created=at, updated=at, started=at, status="EXECUTING", outcome="open", rules=1,
        route=route(key), read_at=at, fingerprint=b"", owner=number.to_bytes(20), sent="2000000",
        origin_token=Token.objects.first(),
    )  # fmt: skip
    return f"0x{number:064x}"


def count(now: datetime) -> None:
    """Count all figures, as the mirror's process does."""
    at = int(now.timestamp())
    Lease.objects.all().delete()  # it may be held
    epoch = lease.acquire(now=at * 1000)
    assert epoch is not None
    rollups.begin(now=at)
    rollups.mark_all(now=at)
    Scope.objects.update(summed_at=0)  # it may have been later, by a clock that stood elsewhere
    Rollups(epoch).finish(now=at)


def incident(
    now: datetime, *, number: int = 1, minutes: int = 40, state: str = "failing", key: RouteKey = RELAY
) -> None:
    """Write an incident of a route that began so many minutes ago, with 12 owners of 30 whose transfers failed."""
    at = int(now.timestamp())
    since, closed = at - minutes * 60, at - 60 if state == "over" else None
    on = route(key)
    row = Incident.objects.create(
        number=number, level="route", name=str(on.pk), kind="slow" if state == "slow" else "failing",
        state=state, since=since, opened=since + 300, closed=closed, recovered=at - 1800 if closed else None, bad=12,
        owners=30, usual=0.02, is_alert=True,
    )  # fmt: skip
    IncidentRoute.objects.create(incident=row, route=on)
    failure, tokens = Reason.objects.get(key=b"failure"), list(Token.objects.order_by("pk"))
    Transfer.objects.bulk_create(
        ended(
            FIRST * (number + 1) + place,
            since + 60 + 70 * place,
            on,
            seconds=40,
            reason=failure if place % 5 < 2 else None,
            tokens=tokens,
        )
        for place in range(30)
    )


def judged(now: datetime, *, unknown_since: datetime | None = None, is_learning: bool = False) -> None:
    """Let incidents have been judged now."""
    since = None if unknown_since is None else int(unknown_since.timestamp())
    writer.set_state(NAME, {"judged": int(now.timestamp()), "unknown_since": since, "is_learning": is_learning})


def route(key: RouteKey) -> Route:
    found, _ = Route.objects.get_or_create(key="\n".join(key).encode()[-16:], defaults=key._asdict())
    return found
