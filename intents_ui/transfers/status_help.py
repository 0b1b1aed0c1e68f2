"""Status help: what each status means and what to do next, without a specific transfer; from status_help.json."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from intents_ui import tables
from intents_ui.formatting import text
from intents_ui.formatting.text import capitalized
from intents_ui.service.models import IntentStatus, TransactionStatus
from intents_ui.transfers import statuses
from intents_ui.transfers.rules import MESSAGES, SECOND_DEPOSIT, Actor, Message
from intents_ui.transfers.statuses import StatusLabel, Tone

_TABLE: Mapping[str, Any] = tables.read(__package__, "status_help.json")
# Values for the placeholders of a message when there is no transfer. A row with others has words of its own.
IN_GENERAL: Mapping[str, str] = _TABLE["placeholders"]
OWN_WORDS: Mapping[str, Mapping[str, str]] = _TABLE["rows"]
# What pages say instead of a message.
PAGES = {key: Message(key, **written) for key, written in _TABLE["pages"].items()}
# Of each status: the key of its ordinary message, and prefixes of the keys of its usual ones. Others apply when status
# and steps disagree.
ORDINARY = {IntentStatus(status): row["ordinary"] for status, row in _TABLE["intents"].items()}
COURSES = {IntentStatus(status): tuple(row["usual"]) for status, row in _TABLE["intents"].items()}
TRANSACTIONS = {TransactionStatus(status): advice for status, advice in _TABLE["transactions"].items()}


@dataclass(frozen=True)
class Explanation:
    """A row of messages.toml in general words, with the fields of a `Summary` that a template prints."""

    key: str
    headline: str
    sentence: str
    location: str
    instructions: str
    who: Actor
    tone: Tone


@dataclass(frozen=True)
class StatusHelp:
    """One status as a table row, with its `usual` and `rare` situations for the status page."""

    name: str
    shown: StatusLabel
    next: str
    usual: tuple[Explanation, ...] = ()
    rare: tuple[Explanation, ...] = ()


SETTLED = {IntentStatus.SUCCEEDED: "Delivered", IntentStatus.REFUNDED: "Refunded"}
EXPIRED = "EXPIRED"
EXPIRED_ROWS = {IntentStatus.QUOTED: "quoted.expired", IntentStatus.COMMITTED: "committed.overdue"}


def intents() -> tuple[StatusHelp, ...]:
    return tuple(intent(status) for status in IntentStatus)


def transfers() -> tuple[StatusHelp, ...]:
    """Return a row for each status, and for the expired quote after the two that it can have."""
    rows = intents()
    after = 1 + max(list(IntentStatus).index(status) for status in EXPIRED_ROWS)
    return (*rows[:after], expired(), *rows[after:])


def expired() -> StatusHelp:
    """Return the row of the expired quote, for which the service has no status."""
    usual = tuple(_in_general(MESSAGES[key], status) for status, key in EXPIRED_ROWS.items())
    return StatusHelp(EXPIRED, statuses.EXPIRED, usual[0].instructions, usual)


def intent(status: IntentStatus) -> StatusHelp:
    rows = [_in_general(row, status) for row in MESSAGES.values() if status in row.statuses]
    ordinary = next(result for result in rows if result.key == ORDINARY[status])
    usual = tuple(result for result in rows if result.key.startswith(COURSES[status]))
    rare = tuple(result for result in rows if result not in usual)
    return StatusHelp(status.value, statuses.INTENTS[status], ordinary.instructions, usual, rare)


def transactions() -> tuple[StatusHelp, ...]:
    return tuple(transaction(status) for status in TransactionStatus)


def transaction(status: TransactionStatus) -> StatusHelp:
    return StatusHelp(status.value, statuses.TRANSACTIONS[status], TRANSACTIONS[status])


def of_any_status() -> tuple[Explanation, ...]:
    """Return the situations that don't depend on a status."""
    rows = (*MESSAGES.values(), *PAGES.values())
    return tuple(_in_general(row, None) for row in rows if not row.statuses)


def named(name: str) -> tuple[StatusHelp | None, StatusHelp | None]:
    """Return the states of an intent and of a transaction with this name. Some names are both."""
    return (
        expired() if name == EXPIRED else intent(IntentStatus(name)) if name in IntentStatus else None,
        transaction(TransactionStatus(name)) if name in TransactionStatus else None,
    )


def names() -> Sequence[str]:
    return tuple(dict.fromkeys([*(state.name for state in transfers()), *(each.value for each in TransactionStatus)]))


def _in_general(row: Message, status: IntentStatus | None) -> Explanation:
    words = dict(IN_GENERAL)
    if status:
        words["status_word"] = statuses.INTENTS[status].word
        words["settled"] = SETTLED.get(status, "Bridging")
    own = OWN_WORDS.get(row.key, {})
    next_step = _said(own.get("next", row.next), words)
    return Explanation(
        key=row.key,
        headline=_said(own.get("headline", row.title or row.headline), words),
        sentence=_said(own.get("sentence", row.sentence), words),
        location=_said(own.get("where", row.where), words),
        instructions=f"{next_step} {SECOND_DEPOSIT}" if row.warn_second_deposit else next_step,
        who=row.who,
        tone=row.tone,
    )


def _said(template: str, words: Mapping[str, str]) -> str:
    """Return a message with general words, with a capital where a placeholder begins a sentence."""
    said = ""
    for part, is_name in text.parsed(template):
        begins = not said or said.endswith((". ", "! "))
        said += capitalized(words[part]) if is_name and begins else words[part] if is_name else part
    return said
