"""Transfers by the address that they paid, and by a shortened ID: queries for pages. They never write."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from intents_ui.mirror.entry import ADDRESS, HASH, moment, optional_moment, packed, unpacked
from intents_ui.mirror.models import Transfer, TransferAddress
from intents_ui.service.outcome import execute_by

MOST_COUNTED = 10_000
MOST_COMPARED = 5_000
COLUMNS = ("intent_id", "created", "status", "started", "expires", "updated")


class Role(StrEnum):
    """What an address, which isn't the owner's, is to a transfer."""

    RECIPIENT = "recipient"
    REFUND = "refund"


@dataclass(frozen=True, slots=True)
class Listed:
    """A transfer as last read. `execute_by`: it expires then, unless it has been executed."""

    intent_id: str
    created: datetime
    status: str
    execute_by: datetime | None


def transfers_to(address: str, *, role: Role, most: int) -> tuple[Sequence[Listed], int]:
    """Return the newest transfers that paid an address, newest first, and how many there are, at most MOST_COUNTED.

    Those whose owner has the address are not among them. The service lists them.
    """
    rows = TransferAddress.objects.filter(address=packed(address, ADDRESS) or b"", role=role)
    first = rows.order_by("-created").values_list(*(f"transfer__{name}" for name in COLUMNS))[:most]
    return list(map(_listed, first)), rows[:MOST_COUNTED].count()


def with_ends(head: str, tail: str) -> Sequence[Listed] | None:
    """Return the transfers whose intent ID has these hex digits at its start and its end, newest first.

    None if too many IDs have this start to compare their ends.
    """
    low, high = (bytes.fromhex(head.ljust(2 * HASH, filler)) for filler in "0f")
    rows = Transfer.objects.filter(intent_id__gte=low, intent_id__lte=high).values_list(*COLUMNS)
    found = list(rows[: MOST_COMPARED + 1])
    if len(found) > MOST_COMPARED:
        return None
    # Other IDs than hashes are longer.
    fitting = (row for row in found if len(row[0]) == HASH and bytes(row[0]).hex().endswith(tail))
    return sorted(map(_listed, fitting), key=lambda each: each.created, reverse=True)


def _listed(row: Sequence[Any]) -> Listed:
    intent_id, created, status, started, expires, updated = row
    times = {"expires_at": optional_moment(expires), "updated_at": optional_moment(updated)}
    end = None if started else execute_by(status, **times)
    return Listed(unpacked(bytes(intent_id), HASH), moment(created), status, end)
