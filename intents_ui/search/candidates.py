"""What a transfer has in common with what a customer tells of one, and what contradicts it."""

from collections.abc import Sequence
from dataclasses import dataclass

from intents_ui.formatting import text

CHECK = "Candidates, not answers. Check with the customer before you reply about one."

NO_MIRROR = "This dashboard has no local copy of the history, which would find shortened values and transfers in words."
NOT_ALLOWED = "Only staff can search the local copy of the history."
UNREADABLE = "The local copy can't be read. Other data is not affected."
SEARCHED = "Searched the local copy of the history."
NOTHING = "Nothing in the local copy of the history matches."
NAMES = {
    "amount": "amount",
    "token": "token",
    "origin": "origin chain",
    "destination": "destination chain",
    "chain": "chain",
    "time": "time",
    "status": "status",
    "memo": "memo",
    "address": "address",
    "intent_id": "intent ID",
    "owner": "owner",
    "recipient": "recipient",
    "refund": "refund address",
    "deposit_hash": "deposit transaction",
    "origin_hash": "origin transaction",
    "destination_hash": "destination transaction",
    "refund_hash": "refund transaction",
    "deposit_address": "deposit address",
    "delivery_address": "destination intent address",
}


@dataclass(frozen=True)
class PossibleTransfer:
    """A transfer that may be meant: what became of it, what matches and what differs, and its path."""

    brief: str
    why: str
    path: str


def sentences(matches: Sequence[str], contradicts: Sequence[str]) -> str:
    """Return `Amount and token match. Destination chain differs.`"""
    said = [
        _sentence([NAMES[each] for each in facts], *verbs)
        for facts, verbs in ((matches, ("matches", "match")), (contradicts, ("differs", "differ")))
        if facts
    ]
    return " ".join(said)


def _sentence(names: Sequence[str], verb: str, plural: str) -> str:
    said = f"{text.listed(names)} {verb if len(names) == 1 else plural}."
    return said[0].upper() + said[1:]
