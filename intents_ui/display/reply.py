"""What to answer a customer: the page's own words and facts, as text to be copied. Nothing is added to them.

Three forms of the same: plain text for a chat, Markdown for a ticket, JSON for a program.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from intents_ui.display import hashes, text, times, turns
from intents_ui.display.locator import Located
from intents_ui.display.markdown import literal
from intents_ui.display.names import Names
from intents_ui.display.story import Story
from intents_ui.display.timeline import Step, Timeline
from intents_ui.display.transfer import Side, Transfer


@dataclass(frozen=True)
class Transaction:
    """One step that left a transaction; `link` only where it leads somewhere."""

    step: str
    status: str
    txn_hash: str
    link: str | None
    at: datetime | None


@dataclass(frozen=True)
class Reply:
    """`url` is the intent's page, whole, so that it works in another program."""

    story: Story
    transfer: Transfer
    transactions: tuple[Transaction, ...]
    url: str
    now: datetime

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """Label and value, in the page's order."""
        transfer, story = self.transfer, self.story
        return tuple(
            (label, value)
            for label, value in (
                ("Status", transfer.status.word),
                ("Where the money is", story.where),
                ("Address", hashes.checksum(story.address) if story.address else ""),
                ("Looked at on the chains", _looked_at(story.located)),
                ("What to do", story.next),
                ("Who", turns.whose(story)),
                ("Sent", _side(transfer.sent)),
                ("Received", _side(transfer.received)),
                ("Created", times.dated(transfer.created_at) if transfer.created_at else ""),
                ("Intent", text.visible(transfer.intent_id)),
            )
            if value
        )

    @property
    def plain(self) -> str:
        return text.bare("\n".join(self._plain()) + "\n")

    @property
    def markdown(self) -> str:
        return text.bare("\n".join(self._markdown()) + "\n")

    @property
    def json(self) -> str:
        story = self.story
        told = {
            "intentId": self.transfer.intent_id,
            "url": self.url,
            "asOf": times.iso(self.now.replace(microsecond=0)),
            "status": self.transfer.status.word,
            "headline": story.headline,
            "sentence": story.sentence,
            "where": story.where,
            "address": hashes.checksum(story.address) if story.address else None,
            "lookedAtOnTheChains": _looked_at(story.located) or None,
            "next": story.next,
            "who": story.who.value,
            "deadline": times.iso(story.deadline) or None,
            "sent": _side_as_json(self.transfer.sent),
            "received": _side_as_json(self.transfer.received),
            "createdAt": times.iso(self.transfer.created_at) or None,
            "transactions": [
                {
                    "step": each.step.lower(),
                    "status": each.status,
                    "hash": each.txn_hash,
                    "link": each.link,
                    "at": times.iso(each.at) or None,
                }
                for each in self.transactions
            ],
        }
        return text.bare(json.dumps(told, indent=2, ensure_ascii=False))

    def _plain(self) -> Iterator[str]:
        yield self.story.headline
        yield self.story.sentence
        yield ""
        for label, value in self.facts:
            yield f"{label}: {value}"
        for each in self.transactions:
            yield f"{each.step} transaction ({each.status}{_on(each.at)}): {each.txn_hash}"
            if each.link:
                yield f"  {each.link}"
        yield ""
        yield f"As of {times.dated(self.now)}: {self.url}"

    def _markdown(self) -> Iterator[str]:
        yield f"**{literal(self.story.headline)}**"
        yield ""
        yield literal(self.story.sentence)
        yield ""
        for label, value in self.facts:
            yield f"- {label}: {literal(value)}"
        for each in self.transactions:
            known = f"[{hashes.short_hash(each.txn_hash)}]({each.link})" if each.link else literal(each.txn_hash)
            yield f"- {each.step} transaction ({literal(each.status)}{_on(each.at)}): {known}"
        yield ""
        yield f"As of {times.dated(self.now)}: <{self.url}>"


def reply(story: Story, transfer: Transfer, steps: Timeline, *, url: str, now: datetime, using: Names) -> Reply:
    return Reply(story, transfer, tuple(_transactions(steps.steps, using=using)), url, now)


def _transactions(steps: Sequence[Step], *, using: Names) -> Iterator[Transaction]:
    for step in steps:
        sent = step.transaction
        if sent is None or sent.txn_hash is None or hashes.is_placeholder(sent.txn_hash):
            continue
        chain = using.chain(sent.chain_id)
        yield Transaction(
            step.title,
            text.name(sent.status).shown,
            text.visible(sent.txn_hash),
            hashes.transaction_link(chain.explorer_url if chain else None, txn_hash=sent.txn_hash),
            sent.txn_mined_at or step.at,
        )


def _side(side: Side) -> str:
    """The whole amount: a reply may be what somebody counts with."""
    if not side.amount.full:
        return ""
    note = f" ({side.note})" if side.note else ""
    return f"{side.amount.with_warning(f'{side.amount.full} {side.amount.unit}')} on {side.chain}{note}"


def _side_as_json(side: Side) -> dict[str, object]:
    return {
        "amount": side.amount.full or None,
        "unit": side.amount.unit or None,
        "baseUnits": side.amount.base_units or None,
        "chain": side.chain,
        "chainId": side.chain_id,
        "token": side.token_address,
        "warnings": [{"word": mark.word, "reason": mark.reason} for mark in side.token.marks],
        "note": side.note or None,
    }


def _looked_at(located: Located) -> str:
    return f"{located.finding} ({times.dated(located.checked_at)})" if located.checked_at else ""


def _on(at: datetime | None) -> str:
    return f", {times.dated(at)}" if at else ""
