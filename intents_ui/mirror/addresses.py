"""Transfers by the address that they paid, and by a shortened ID: queries for pages. They never write."""

from collections.abc import Sequence
from enum import StrEnum

from intents_ui.mirror.entry import ADDRESS, HASH, packed
from intents_ui.mirror.models import Transfer

MOST_COUNTED = 10_000
MOST_COMPARED = 5_000


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


def with_ends(head: str, tail: str) -> Sequence[Transfer] | None:
    """Return the transfers whose intent ID has these hex digits at its start and its end, newest first.

    None if too many IDs have this start to compare their ends.
    """
    low, high = (bytes.fromhex(head.ljust(2 * HASH, filler)) for filler in "0f")
    found = list(Transfer.objects.filter(intent_id__gte=low, intent_id__lte=high)[: MOST_COMPARED + 1])
    if len(found) > MOST_COMPARED:
        return None
    # Other IDs than hashes are longer.
    fitting = (each for each in found if len(each.intent_id) == HASH and bytes(each.intent_id).hex().endswith(tail))
    return sorted(fitting, key=lambda each: each.created, reverse=True)
