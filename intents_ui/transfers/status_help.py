"""Status help: what each status means and what to do next, without a specific transfer; from status_help.json."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from intents_ui import tables
from intents_ui.formatting import text
from intents_ui.formatting.text import capitalized
from intents_ui.service.models import IntentStatus, TransactionStatus
from intents_ui.transfers import statuses
from intents_ui.transfers.rules import MESSAGES, SECOND_DEPOSIT, Message
from intents_ui.transfers.statuses import StatusLabel

_TABLE: Mapping[str, Any] = tables.read(__package__, "status_help.json")
# Values for the placeholders of a message when there is no transfer. A row with others has words of its own.
IN_GENERAL: Mapping[str, str] = _TABLE["placeholders"]
OWN_WORDS: Mapping[str, Mapping[str, str]] = _TABLE["rows"]
# What pages say instead of a message.
PAGES = {key: Message(key, **written) for key, written in _TABLE["pages"].items()}

SETTLED = {IntentStatus.SUCCEEDED: "Delivered", IntentStatus.REFUNDED: "Refunded"}
EXPIRED = "EXPIRED"
EXPIRED_ROWS = {IntentStatus.QUOTED: "quoted.expired", IntentStatus.COMMITTED: "committed.overdue"}


@dataclass(frozen=True)
class StatusHelp:
    """One status as a table row, with its `usual` and `rare` situations for the status page, in general words."""

    name: str
    shown: StatusLabel
    next: str
    usual: tuple[Message, ...] = ()
    rare: tuple[Message, ...] = ()


@cache
def transfers() -> tuple[StatusHelp, ...]:
    """Return a row for each status, and for the expired quote after the two that it can have.

    The service has no status for it.
    """
    rows = []
    for status in IntentStatus:
        # The key of the ordinary message of this status, and prefixes of the keys of its usual ones. Others apply when
        # status and steps disagree.
        table = _TABLE["intents"][status]
        messages = [_in_general(row, status) for row in MESSAGES.values() if status in row.statuses]
        ordinary = next(row for row in messages if row.key == table["ordinary"])
        common = tuple(row for row in messages if row.key.startswith(tuple(table["usual"])))
        rare = tuple(row for row in messages if row not in common)
        rows.append(StatusHelp(status.value, statuses.INTENTS[status], ordinary.next, common, rare))
    after = 1 + max(list(IntentStatus).index(status) for status in EXPIRED_ROWS)
    usual = tuple(_in_general(MESSAGES[key], status) for status, key in EXPIRED_ROWS.items())
    return (*rows[:after], StatusHelp(EXPIRED, statuses.EXPIRED, usual[0].next, usual), *rows[after:])


@cache
def transactions() -> tuple[StatusHelp, ...]:
    advice = _TABLE["transactions"]
    return tuple(StatusHelp(each.value, statuses.TRANSACTIONS[each], advice[each]) for each in TransactionStatus)


def of_any_status() -> tuple[Message, ...]:
    """Return the situations that don't depend on a status."""
    rows = (*MESSAGES.values(), *PAGES.values())
    return tuple(_in_general(row, None) for row in rows if not row.statuses)


def named(name: str) -> tuple[StatusHelp | None, StatusHelp | None]:
    """Return the states of an intent and of a transaction with this name. Some names are both."""
    of_intent, of_transaction = (
        next((state for state in states if state.name == name), None) for states in (transfers(), transactions())
    )
    return of_intent, of_transaction


def names() -> Sequence[str]:
    return tuple(dict.fromkeys(state.name for state in (*transfers(), *transactions())))


def _in_general(row: Message, status: IntentStatus | None) -> Message:
    """Return a message without a transfer. Its next step is followed by the warning of a second deposit."""
    words = dict(IN_GENERAL)
    if status:
        words |= {"status_word": statuses.INTENTS[status].word, "settled": SETTLED.get(status, "Bridging")}
    own = {"headline": row.title or row.headline, **OWN_WORDS.get(row.key, {})}
    next_step = _said(own.get("next", row.next), words)
    return replace(
        row,
        headline=_said(own["headline"], words),
        sentence=_said(own.get("sentence", row.sentence), words),
        where=_said(own.get("where", row.where), words),
        next=f"{next_step} {SECOND_DEPOSIT}" if row.warn_second_deposit else next_step,
    )


def _said(template: str, words: Mapping[str, str]) -> str:
    """Return a message with general words, with a capital where a placeholder begins a sentence."""
    said = ""
    for part, is_name in text.parsed(template):
        begins = not said or said.endswith((". ", "! "))
        said += capitalized(words[part]) if is_name and begins else words[part] if is_name else part
    return said
