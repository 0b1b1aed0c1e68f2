"""What each state means and what to do: the words of the story and of the statuses, for no transfer in particular."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from intents_ui.display import statuses
from intents_ui.display.explanations import EXPLANATIONS, Row
from intents_ui.display.places import Place
from intents_ui.display.statuses import Shown
from intents_ui.display.story import Story
from intents_ui.service.wire import IntentStatus, TransactionStatus

# What stands in the gaps of a row where there is no transfer to fill them.
IN_GENERAL = {
    "originChain": "the origin chain",
    "destinationChain": "the destination chain",
    "eitherChain": "the origin or the destination chain",
    "refundChain": "the chain that is named",
    "balanceAddress": "deposit or delivery address",
    "lastAddress": "address where it was last",
    "lastChain": "the chain where it was last",
    "provider": "the route provider",
    "refundTo": "the wallet that is named",
    "to": "that is named",
    "lastConfirmedPlace": "Where the last confirmed step has brought it.",
    "heldPlace": "At the address that holds it.",
    "refundPlace": "Where the return began.",
    "expiresAt": "the time that is named",
    "executeBy": "the time that is named",
    "eta": "the time that is named",
    "expectedBy": "The page says when it is expected.",
    "slowUntil": "the time that is named",
    "slowMax": "an hour or more",
    "returnBy": "the time that is named",
    "age": "some time",
    "received": "the amount",
    "expected": "",
    "refundAmount": "the amount",
    "balance": "some money",
    "symbol": "that was received",
    "raw": "the status as it came",
}
# The situation that is meant when somebody asks about a status and says no more.
ORDINARY = {
    IntentStatus.QUOTED: "quoted.open",
    IntentStatus.COMMITTED: "committed.open",
    IntentStatus.EXECUTING: "executing.crossing",
    IntentStatus.SUCCEEDED: "succeeded.cross_chain",
    IntentStatus.FAILED: "failed.origin_pending_refund",
    IntentStatus.REFUNDED: "refunded.origin",
    IntentStatus.ABORTED: "aborted.after_payment",
    IntentStatus.INVALID: "invalid.with_payment",
}
TRANSACTIONS = {
    TransactionStatus.UNKNOWN: "Nothing. It begins when the step before it is done.",
    TransactionStatus.ON_HOLD: (
        "Wait. Some bridges take more than an hour; the page of the transfer says when it is expected."
    ),
    TransactionStatus.PENDING: (
        "Wait. If it is the deposit and you have not paid, the page of the transfer says what to pay, and where."
    ),
    TransactionStatus.RELAYING: "Wait. Usually some seconds.",
    TransactionStatus.RELAYED: "Wait. Usually some seconds.",
    TransactionStatus.SENT: "Wait. Its hash leads to the chain's explorer.",
    TransactionStatus.ERRORED: "Wait: it is tried again by itself. Do not pay again.",
    TransactionStatus.MINING: "Wait. Usually some seconds, on Ethereum up to a few minutes.",
    TransactionStatus.SUCCEEDED: "Nothing. Its hash is the proof of this step; the transfer can have more steps.",
    TransactionStatus.FAILED: "Do not pay again. The page of the transfer says where the money is.",
    TransactionStatus.ABORTED: "Do not pay again. The page of the transfer says where the money is.",
    TransactionStatus.REVERTED: (
        "Do not pay again. Only its network fee was spent; the page of the transfer says where the money is."
    ),
}
# Whose keys begin so belongs to the ordinary course of a status; the rest is said where the steps are ahead of it.
COURSES = {
    IntentStatus.QUOTED: ("quoted.", "offer."),
    IntentStatus.COMMITTED: ("committed.", "offer."),
    IntentStatus.EXECUTING: ("executing.",),
    IntentStatus.SUCCEEDED: ("succeeded.",),
    IntentStatus.FAILED: ("failed.", "stopped.", "executing.refunding"),
    IntentStatus.REFUNDED: ("refunded.",),
    IntentStatus.ABORTED: ("aborted.", "stopped."),
    IntentStatus.INVALID: ("invalid.", "stopped."),
}


@dataclass(frozen=True)
class State:
    """One status as a row: state, meaning, what to do. Under it a page can say the `usual` and the `rare`."""

    name: str
    shown: Shown
    next: str
    usual: tuple[Story, ...] = ()
    rare: tuple[Story, ...] = ()


def intents() -> tuple[State, ...]:
    return tuple(intent(status) for status in IntentStatus)


def intent(status: IntentStatus) -> State:
    rows = [_in_general(row, status) for row in EXPLANATIONS.values() if status in row.statuses]
    ordinary = next(told for told in rows if told.key == ORDINARY[status])
    usual = tuple(told for told in rows if told.key.startswith(COURSES[status]))
    rare = tuple(told for told in rows if told not in usual)
    return State(status.value, statuses.INTENTS[status], ordinary.next, usual, rare)


def transactions() -> tuple[State, ...]:
    return tuple(transaction(status) for status in TransactionStatus)


def transaction(status: TransactionStatus) -> State:
    return State(status.value, statuses.TRANSACTIONS[status], TRANSACTIONS[status])


def of_any_status() -> tuple[Story, ...]:
    """What is said where no status decides."""
    return tuple(_in_general(row, None) for row in EXPLANATIONS.values() if not row.statuses)


def named(name: str) -> tuple[State | None, State | None]:
    """The states of an intent and of a transaction that have this name; some names are both."""
    return (
        intent(IntentStatus(name)) if name in IntentStatus else None,
        transaction(TransactionStatus(name)) if name in TransactionStatus else None,
    )


def names() -> Sequence[str]:
    return tuple(
        dict.fromkeys([*(status.value for status in IntentStatus), *(each.value for each in TransactionStatus)])
    )


def _in_general(row: Row, status: IntentStatus | None) -> Story:
    words = IN_GENERAL | {"statusWord": statuses.INTENTS[status].word if status else "as it came"}
    return Story(
        key=row.key,
        headline=_said(row.headline, words),
        sentence=_said(row.sentence, words),
        where=_said(row.where, words),
        next=_said(row.next, words),
        who=row.who,
        contact=row.contact,
        tone=row.tone,
        place=Place.UNKNOWN,
        status=status,
    )


def _said(template: str, words: Mapping[str, str]) -> str:
    """A sentence that begins with a gap begins with a capital all the same."""
    return re.sub(r"(^|[.!] )([a-z])", lambda found: found[1] + found[2].upper(), template.format_map(words))
