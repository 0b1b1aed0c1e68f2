"""What is shown of a transfer away from its page, in a chat, a search result or a badge: its state in words.

Plain text. Whatever strangers wrote in it was made visible by those who tell the story.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime

from intents_ui.display import hashes, times
from intents_ui.display.address import Role
from intents_ui.display.explanations import Who
from intents_ui.display.statuses import Shown, Tone
from intents_ui.display.story import Story
from intents_ui.display.text import UNKNOWN
from intents_ui.display.transfer import Side, Transfer

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
    """One end of a transfer on a card. `note`: what an amount is that did not arrive (`expected`, `as quoted`)."""

    amount: str
    chain: str
    note: str = ""
    warning: str = ""

    def __str__(self) -> str:
        warning = f" ({self.warning})" if self.warning else ""
        return f"{self.amount}{warning} on {self.chain}{_noted(self.note)}"


@dataclass(frozen=True)
class Card:
    """What a drawn preview says, and all of it: two equal cards are one picture. Its moments are absolute."""

    intent: str
    status: Shown
    tone: Tone
    headline: str
    sentence: str
    sent: End
    received: End
    when: str

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


def preview(story: Story, transfer: Transfer) -> Preview:
    ways = f"{_side(transfer.sent)} → {_side(transfer.received)}"
    where = story.where if story.where not in story.sentence else ""
    return Preview(
        state(
            transfer.status.word, ways if transfer.sent.amount.full or transfer.received.amount.full else story.headline
        ),
        cut(state(transfer.status.word, _outcome(story, transfer)), LONGEST_TITLE),
        cut(" ".join(words for words in (story.sentence, where, f"{ways}.") if words), LONGEST_DESCRIPTION),
    )


def card(story: Story, transfer: Transfer, *, changed_at: datetime | None, as_of: datetime | None = None) -> Card:
    """`changed_at`: when the transfer last moved; `as_of`: when all this was so, where that is not now."""
    when = _when(transfer.created_at, changed_at)
    return Card(
        intent=hashes.short_id(transfer.intent_id),
        status=transfer.status,
        tone=story.tone,
        headline=_outcome(story, transfer),
        sentence=story.sentence,
        sent=_end(transfer.sent),
        received=_end(transfer.received),
        when=f"{old(as_of)} · {when[:1].lower()}{when[1:]}" if as_of else when,
    )


def old(as_of: datetime) -> str:
    return f"As of {times.dated(as_of)}"


def state(word: str, said: str) -> str:
    """`Refunded · 299.956 USDC on Base came back`; what says the same twice says it once."""
    return word if said.lower() == word.lower() else f"{word} · {said}"


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


def _outcome(story: Story, transfer: Transfer) -> str:
    """The money itself, where it is known what became of it; else the page's headline."""
    returned, received = transfer.returned, transfer.received
    if returned is not None and story.who is Who.NOBODY:
        return f"{_side(returned)} came back{' to the owner' if _is_owner(story.address, transfer) else ''}"
    if story.tone is Tone.GOOD and received.amount.full and not received.note:
        return f"{received.amount} arrived on {received.chain}"
    return story.headline


def _is_owner(address: str | None, transfer: Transfer) -> bool:
    return bool(address and transfer.owner) and str(address).lower() == str(transfer.owner).lower()


def _end(side: Side) -> End:
    return End(side.amount.figure, side.chain, side.note, side.amount.warning)


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
