"""One customer reply about several transfers, as plain text: the reply about each of them, numbered."""

from collections.abc import Sequence

from intents_ui.display.formatting import hashes
from intents_ui.display.sharing.customer_reply import Reply


def plain(replies: Sequence[Reply]) -> str:
    """Return one reply unchanged, and several below each other. Those to several owners name their wallets."""
    if len(replies) == 1:
        return replies[0].plain
    has_owners = len({_owner(each) for each in replies}) > 1
    parts = []
    for number, each in enumerate(replies, start=1):
        wallet = f", wallet {_owner(each)}" if has_owners and each.situation.facts.owner else ""
        parts.append(f"Transfer {number} of {len(replies)}{wallet}\n{each.plain}")
    return "\n".join(parts)


def _owner(reply: Reply) -> str:
    return hashes.checksum(reply.situation.facts.owner)
