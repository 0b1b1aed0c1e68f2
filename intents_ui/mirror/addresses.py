"""Which transfers paid an address other than their owner's: a query for pages. It never writes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from django.db.models import QuerySet

from intents_ui.mirror.entry import ADDRESS, HASH, packed, unpacked
from intents_ui.mirror.models import TransferAddress
from intents_ui.service.wire.outcome import Outcome, execute_by

MOST = 100
MOST_COUNTED = 10_000


class Role(StrEnum):
    """What an address, which isn't the owner's, is to a transfer."""

    RECIPIENT = "recipient"
    REFUND = "refund"


@dataclass(frozen=True, slots=True)
class Paid:
    """A transfer that paid the address, as last read. `execute_by`: it expires then, unless it has been executed."""

    intent_id: str
    role: Role
    created: datetime
    status: str
    outcome: Outcome
    execute_by: datetime | None


def transfers_to(address: str, *, role: Role | None = None, most: int = MOST) -> Sequence[Paid]:
    """Return the newest transfers that paid an address, newest first.

    Those whose owner has the address are not among them. The service lists them.
    """
    rows = (
        _paid(address, role)
        .order_by("-created")
        .values_list(
            "transfer__intent_id",
            "role",
            "created",
            "transfer__status",
            "transfer__outcome",
            "transfer__started",
            "transfer__expires",
            "transfer__updated",
        )
    )
    return [
        Paid(
            unpacked(bytes(intent_id), HASH),
            Role(given),
            datetime.fromtimestamp(created // 1000, UTC),
            status,
            Outcome(outcome),
            None if started else execute_by(status, expires_at=_moment(expires), updated_at=_moment(updated)),
        )
        for intent_id, given, created, status, outcome, started, expires, updated in rows[:most]
    ]


def count_to(address: str, *, role: Role | None = None) -> int:
    """Return how many transfers paid an address, at most MOST_COUNTED."""
    return _paid(address, role)[:MOST_COUNTED].count()


def _paid(address: str, role: Role | None) -> QuerySet[TransferAddress]:
    found = TransferAddress.objects.filter(address=packed(address, ADDRESS) or b"")
    return found.filter(role=role) if role else found


def _moment(milliseconds: int | None) -> datetime | None:
    return datetime.fromtimestamp(milliseconds // 1000, UTC) if milliseconds else None
