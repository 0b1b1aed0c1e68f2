"""Ledgers of a mirror for tests of pages, as rows."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from intents_ui.mirror.models import STATUSES, Audit, Lease, Route, Transfer, Window, set_state
from intents_ui.mirror.windows import DAY, HOUR, NEVER

OUTCOMES = {"SUCCEEDED": "delivered", "FAILED": "failed", "REFUNDED": "refunded"}
REASON = "the service repeated a page"


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
            reason=REASON if start in lacking else "",
        )
        for start in starts
    )  # fmt: skip
    return end


def present(now: datetime) -> None:
    """Write the window from the end of a `whole` ledger until now, as read now."""
    at = int(now.timestamp())
    Window.objects.create(start=at // HOUR * HOUR, end=at + 60, due=NEVER, read_at=at)


def lead(now: datetime, *, seconds: int = 10) -> None:
    """Let a process hold the lease for this long."""
    until = int((now + timedelta(seconds=seconds)).timestamp() * 1000)
    Lease.objects.update_or_create(pk=1, defaults={"epoch": 1, "holder": "test", "until": until})


def audit(now: datetime, *differing: int) -> None:
    for count in differing:
        Audit.objects.create(at=int(now.timestamp()) - HOUR, differing=count)


def unknown(now: datetime, status: str) -> None:
    set_state(STATUSES, {status: int(now.timestamp() * 1000)})


def pay(
    address: str, *, now: datetime, role: str = "recipient", status: str = "SUCCEEDED", age: float = 0, number: int = 1
) -> str:
    """Write a transfer of this age in seconds that paid an address. Return its ID, which is the number."""
    at = int((now.timestamp() - age) * 1000)
    route, _ = Route.objects.get_or_create(providers="", origin_chain="", destination_chain="")
    outcome = OUTCOMES.get(status, "open")
    Transfer.objects.create(
        intent_id=number.to_bytes(32), created=at, updated=at, status=status, outcome=outcome, route=route, read_at=at,
        fingerprint=b"", hour=None if outcome == "open" else at // 1000 // HOUR * HOUR,
        **{role: bytes.fromhex(address[2:])},
    )  # fmt: skip
    return f"0x{number:064x}"
