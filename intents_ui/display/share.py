"""What is shown of a transfer away from its page, in a chat, a search result or a badge: its state in words.

Plain text. Whatever strangers wrote in it was made visible by those who tell the story.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime

from intents_ui.display import hashes, summary, times, transfer
from intents_ui.display.address import Role
from intents_ui.display.situation import Situation, derived
from intents_ui.display.statuses import Shown, Tone
from intents_ui.display.text import UNKNOWN
from intents_ui.display.transfer import Side

# What chats and search engines show before they cut by themselves.
LONGEST_TITLE = 120
LONGEST_DESCRIPTION = 300


@dataclass(frozen=True)
class Preview:
    """`title`: the state and what became of the money; `description`: the page's answer, and what went in and out.

    `tab`: the state, and what went in and out, for a tab among many.
    """

    tab: str
    title: str
    description: str


@dataclass(frozen=True)
class End:
    """One end of a transfer on a card. `note`: what an amount is that did not arrive (`expected`, `quoted`), or that
    came back (`refunded`)."""

    amount: str
    chain: str
    note: str = ""
    warning: str = ""
    has_moved: bool = True

    def __str__(self) -> str:
        warning = f" ({self.warning})" if self.warning else ""
        return f"{self.amount}{warning} on {self.chain}{_noted(self.note)}"


@dataclass(frozen=True)
class Card:
    """What a drawn preview says, and all of it: two equal cards are one picture. Its moments are absolute.

    `has_arrived`: an arrow leads from what was sent to what was delivered."""

    intent: str
    status: Shown
    tone: Tone
    headline: str
    sentence: str
    sent: End
    received: End
    when: str
    has_arrived: bool = True

    @property
    def version(self) -> str:
        """Another one when anything on it is another."""
        return hashlib.blake2b(repr(self).encode(), digest_size=9).hexdigest()

    @property
    def alt(self) -> str:
        """For who cannot see the picture."""
        return cut(
            f"{state(self.status.word, self.headline)}. {self.sent} → {self.received}. {self.when}",
            LONGEST_DESCRIPTION,
        )


@derived
def preview(situation: Situation) -> Preview:
    told, shown = summary.of(situation), transfer.of(situation)
    ways = f"{_side(shown.sent)} → {_side(shown.returned or shown.received)}"
    is_known = shown.sent.amount.full or shown.received.amount.full
    headline = state(told.status.word, told.headline)
    words = (f"{headline}.", told.location, told.balance_note, f"{ways}.")
    return Preview(
        state(told.status.word, ways if is_known else told.headline),
        cut(f"{headline} · {told.location.rstrip('.')}" if told.amount else headline, LONGEST_TITLE),
        cut(" ".join(filter(None, words)), LONGEST_DESCRIPTION),
    )


def card(situation: Situation, *, as_of: datetime | None = None) -> Card:
    """`as_of`: when all this was so, where that is not now."""
    told, shown = summary.of(situation), transfer.of(situation)
    when = _when(shown.created_at, situation.facts.last_change)
    return Card(
        intent=hashes.short_id(shown.intent_id),
        status=told.status,
        tone=told.tone,
        headline=told.headline,
        sentence=told.location,
        sent=_end(shown.sent),
        received=_end(shown.outcome),
        has_arrived=shown.has_arrived,
        when=f"{old(as_of)} · {when[:1].lower()}{when[1:]}" if as_of else when,
    )


def old(as_of: datetime) -> str:
    return f"As of {times.dated(as_of)}"


def state(word: str, said: str) -> str:
    """`Succeeded · Delivered`; a headline that names the status says it once."""
    return said if word.lower() in said.lower() else f"{word} · {said}"


def of_address(owner: Role | None, *, in_flight: int, more_in_flight: bool, recoverable: int) -> str:
    """`12 intents, 1 in flight`: an owner's standing in a line; nothing for what is no owner, or was not asked."""
    if owner is None or not owner.intents:
        return ""
    parts = [
        f"{'at least ' if owner.may_be_more else ''}{owner.intents:,} {'intent' if owner.intents == 1 else 'intents'}"
    ]
    if in_flight:
        parts.append(f"{'at least ' if more_in_flight else ''}{in_flight} in flight")
    if recoverable:
        parts.append(f"{recoverable} recoverable")
    return ", ".join(parts)


def cut(words: str, longest: int) -> str:
    """Between two words where there are any."""
    if len(words) <= longest:
        return words
    head = words[: longest - 1]
    whole = head.rsplit(" ", 1)[0]
    return (whole if len(whole) > longest // 2 else head).rstrip(" ·,.:") + "…"


def _end(side: Side) -> End:
    return End(side.amount.figure, side.chain, side.note, side.amount.warning, side.has_moved)


def _side(side: Side) -> str:
    return str(_end(side))


def _noted(note: str) -> str:
    return f" ({note})" if note else ""


def _when(created_at: datetime | None, changed_at: datetime | None) -> str:
    if created_at is None and changed_at is None:
        return UNKNOWN
    created = f"Created {times.dated(created_at)}" if created_at else ""
    changed = f"last change {times.dated(changed_at)}" if changed_at and changed_at != created_at else ""
    said = " · ".join(words for words in (created, changed) if words)
    return said[:1].upper() + said[1:]
