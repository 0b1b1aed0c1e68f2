"""Transfers by the address that they paid, and by a shortened ID: queries for pages. They never write."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from django.db.models import QuerySet

from intents_ui.mirror.entry import ADDRESS, HASH, moment, optional_moment, packed, unpacked
from intents_ui.mirror.models import Transfer, TransferAddress
from intents_ui.service.outcome import Outcome, execute_by

MOST = 100
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


@dataclass(frozen=True, slots=True)
class Paid(Listed):
    """A transfer that paid the address."""

    role: Role
    outcome: Outcome


def transfers_to(address: str, *, role: Role | None = None, most: int = MOST) -> Sequence[Paid]:
    """Return the newest transfers that paid an address, newest first.

    Those whose owner has the address are not among them. The service lists them.
    """
    columns = ("role", "transfer__outcome", *(f"transfer__{name}" for name in COLUMNS))
    rows = _paid(address, role).order_by("-created").values_list(*columns)[:most]
    return [Paid(*_listed(row), role=Role(given), outcome=Outcome(outcome)) for given, outcome, *row in rows]


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
    return sorted((Listed(*_listed(row)) for row in fitting), key=lambda each: each.created, reverse=True)


def _listed(row: Sequence[Any]) -> tuple[str, datetime, str, datetime | None]:
    intent_id, created, status, started, expires, updated = row
    end = (
        None
        if started
        else execute_by(status, expires_at=optional_moment(expires), updated_at=optional_moment(updated))
    )
    return unpacked(bytes(intent_id), HASH), moment(created), status, end


def count_to(address: str, *, role: Role | None = None) -> int:
    """Return how many transfers paid an address, at most MOST_COUNTED."""
    return _paid(address, role)[:MOST_COUNTED].count()


def _paid(address: str, role: Role | None) -> QuerySet[TransferAddress]:
    found = TransferAddress.objects.filter(address=packed(address, ADDRESS) or b"")
    return found.filter(role=role) if role else found
