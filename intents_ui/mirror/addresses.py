"""Transfers by the address that they paid: queries for pages. They never write."""

from collections.abc import Sequence
from enum import StrEnum

from intents_ui.mirror.entry import ADDRESS, packed
from intents_ui.mirror.models import Transfer

MOST_COUNTED = 10_000


class Role(StrEnum):
    """What an address, which isn't the owner's, is to a transfer: the name of a column."""

    RECIPIENT = "recipient"
    REFUND = "refund"


def transfers_to(address: str, *, role: Role, most: int) -> tuple[Sequence[Transfer], int]:
    """Return the newest transfers that paid an address, newest first, and how many there are, at most MOST_COUNTED.

    Those whose owner has the address are not among them. The service lists them.
    """
    rows = Transfer.objects.filter(**{role: packed(address, ADDRESS) or b""})
    return list(rows.order_by("-created")[:most]), rows[:MOST_COUNTED].count()
