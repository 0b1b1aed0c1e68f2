"""Texts about a transfer for link previews, search results and cards.

Plain text. Untrusted parts are already sanitized by the summary.
"""

import hashlib
from dataclasses import dataclass, replace
from datetime import datetime

from intents_ui.formatting import hashes, text, times
from intents_ui.formatting.text import UNKNOWN, capitalized
from intents_ui.transfers import summary
from intents_ui.transfers.statuses import StatusLabel, Tone
from intents_ui.transfers.summary import Side
from intents_ui.transfers.transfer import Transfer, derived

# Limits of what chats and search engines show.
LONGEST_TITLE = 120
LONGEST_DESCRIPTION = 300


@dataclass(frozen=True)
class Preview:
    """Title and description of a page.

    `title`: the status and where the funds are. `description`: the summary, and what was sent and received. `tab`: the
    status, and what was sent and received, short enough for a browser tab.
    """

    tab: str
    title: str
    description: str


@dataclass(frozen=True)
class PreviewEnd:
    """One side of a transfer. `note` qualifies an amount that was not delivered (`expected`, `quoted`, `refunded`)."""

    amount: str
    chain: str
    note: str = ""
    warning: str = ""
    has_any_step: bool = True

    def __str__(self) -> str:
        warning = f" ({self.warning})" if self.warning else ""
        return f"{self.amount}{warning} on {self.chain}{(f' ({self.note})' if self.note else '')}"


@dataclass(frozen=True)
class Card:
    """All content of a preview image: equal cards are the same image. Times are absolute.

    `has_arrived`: draw an arrow from the sent to the delivered amount.
    """

    intent: str
    status: StatusLabel
    tone: Tone
    headline: str
    headline_with_status: str
    sentence: str
    sent: PreviewEnd
    received: PreviewEnd
    when: str
    has_arrived: bool = True

    @property
    def version(self) -> str:
        """Return a hash of the content."""
        return hashlib.blake2b(repr(self).encode(), digest_size=9).hexdigest()

    @property
    def alt(self) -> str:
        """Return the alternative text of the image."""
        parts = (f"{self.headline_with_status}.", f"{self.sent} → {self.received}.", self.when)
        return text.fitting(parts, LONGEST_DESCRIPTION)


@derived
def describe(transfer: Transfer) -> Preview:
    answer = summary.of(transfer)
    sides = f"{answer.sent} → {answer.returned or answer.received}"
    is_known = answer.sent.amount.full or answer.received.amount.full
    headline = answer.headline_with_status
    parts = (f"{headline}.", answer.location, answer.balance_note, f"{sides}.")
    title = (headline, text.without_period(answer.location) if answer.amount else "")
    return Preview(
        answer.after_status(sides) if is_known else headline,
        text.fitting(title, LONGEST_TITLE, between=" · "),
        text.fitting(parts, LONGEST_DESCRIPTION),
    )


def card(transfer: Transfer, *, as_of: datetime | None = None) -> Card:
    """Return the card. `as_of`: the time of stale data, None for fresh data."""
    found = _card(transfer)
    return replace(found, when=_when(transfer, as_of)) if as_of else found


@derived
def _card(transfer: Transfer) -> Card:
    answer = summary.of(transfer)
    return Card(
        intent=hashes.short_id(transfer.intent.intent_id),
        status=answer.status,
        tone=answer.tone,
        headline=answer.headline,
        headline_with_status=answer.headline_with_status,
        sentence=answer.location,
        sent=_end(answer.sent),
        received=_end(answer.outcome),
        has_arrived=answer.has_arrived,
        when=_when(transfer),
    )


def _end(side: Side) -> PreviewEnd:
    return PreviewEnd(side.amount.figure, side.chain, side.note, side.amount.warning, side.has_any_step)


def _when(transfer: Transfer, as_of: datetime | None = None) -> str:
    created_at, changed_at = transfer.quoted_at, transfer.last_change
    moments = {
        "last updated": as_of,
        "created": created_at,
        "last change": None if changed_at == created_at else changed_at,
    }
    words = [f"{word} {times.dated(at)}" for word, at in moments.items() if at]
    return capitalized(" · ".join(words)) if words else UNKNOWN
