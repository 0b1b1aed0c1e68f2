"""Possible matches: full values of a shortened ID (`0x21ed…b43e`), and transfers told in words.

Even a single match is only a possible one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from intents_ui.formatting import hashes, text
from intents_ui.service.models import Intent, IntentReceipt, IntentTransaction
from intents_ui.transfers.transfer import Transfer


@dataclass(frozen=True)
class Candidate:
    """A full value, its role, and the ID of its transfer ("" if it has none)."""

    value: str
    what: str
    intent_id: str = ""


def of_transfer(intent: Intent, receipt: IntentReceipt | None, *, now: datetime) -> tuple[Candidate, ...]:
    """Return every value that a wallet or explorer may shorten: ID, transaction hashes and addresses."""
    transfer = Transfer.of(intent, receipt, now=now, unread=True)
    values = {
        "intent ID": intent.intent_id,
        "deposit transaction": _hash(transfer.deposit),
        "origin transaction": _hash(transfer.origin),
        "destination transaction": _hash(transfer.destination),
        "refund transaction": _hash(transfer.refund),
        "owner": transfer.owner,
        "recipient": transfer.recipient,
        "deposit address": transfer.deposit_address,
        "destination intent address": transfer.delivery_address,
    }
    known = ((what, canonical(value)) for what, value in values.items() if value)
    return tuple(
        Candidate(value, what, intent.intent_id) for what, value in known if value and not hashes.is_native(value)
    )


def matching(candidates: Iterable[Candidate], *, head: str, tail: str) -> tuple[Candidate, ...]:
    """Return the candidates with this beginning and end, case-insensitively."""
    start, end = f"0x{head}".lower(), tail.lower()
    known = ((each, each.value.lower()) for each in candidates if len(start) + len(end) <= len(each.value))
    return tuple(each for each, value in known if value.startswith(start) and value.endswith(end))


def by_transfer(found: Iterable[Candidate]) -> dict[str, tuple[Candidate, ...]]:
    """Group by intent ID. Each value appears once with all its roles: `owner and recipient`."""
    roles: dict[str, dict[str, list[str]]] = {}
    for each in found:
        roles.setdefault(each.intent_id, {}).setdefault(each.value, []).append(each.what)
    return {
        intent_id: tuple(
            Candidate(value, " and ".join(dict.fromkeys(what)), intent_id) for value, what in values.items()
        )
        for intent_id, values in roles.items()
    }


def named(candidate: Candidate, *, among: Iterable[Candidate]) -> str:
    """Return `deposit transaction 0x9b21c455…5577ad01`, with the full value if another one looks the same."""
    short = hashes.short_id(candidate.value)
    alike = any(each.value != candidate.value and hashes.short_id(each.value) == short for each in among)
    return f"{candidate.what} {candidate.value if alike else short}"


def canonical(value: str) -> str | None:
    return hashes.canonical_hash(value) or hashes.canonical_address(value)


def _hash(sent: IntentTransaction | None) -> str | None:
    return None if sent is None or hashes.is_placeholder(sent.txn_hash) else sent.txn_hash


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
