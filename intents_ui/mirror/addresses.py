"""Which transfers paid an address other than their owner's: a query for pages. It never writes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from intents_ui.mirror.entry import ADDRESS, HASH, packed, unpacked
from intents_ui.mirror.models import TransferAddress
from intents_ui.service.wire.outcome import Outcome

MOST = 100


class Role(StrEnum):
    """What an address, which isn't the owner's, is to a transfer."""

    RECIPIENT = "recipient"
    REFUND = "refund"


@dataclass(frozen=True, slots=True)
class Paid:
    """A transfer that paid the address."""

    intent_id: str
    role: Role
    created: datetime
    status: str
    outcome: Outcome


def transfers_to(address: str, *, role: Role | None = None, most: int = MOST) -> Sequence[Paid]:
    """Return the newest transfers that paid an address, newest first.

    Those whose owner has the address are not among them. The service lists them.
    """
    found = TransferAddress.objects.filter(address=packed(address, ADDRESS) or b"")
    if role:
        found = found.filter(role=role)
    rows = found.order_by("-created").values_list(
        "transfer__intent_id", "role", "created", "transfer__status", "transfer__outcome"
    )
    return [
        Paid(
            unpacked(bytes(intent_id), HASH),
            Role(given),
            datetime.fromtimestamp(created // 1000, UTC),
            status,
            Outcome(outcome),
        )
        for intent_id, given, created, status, outcome in rows[:most]
    ]
