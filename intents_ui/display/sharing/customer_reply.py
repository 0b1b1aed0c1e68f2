"""Reply to a customer about transfers: plain text that a support agent sends unedited.

Its sentences are the column `reply` of messages.toml. It calls nothing sent, delivered or refunded unless it was.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from intents_ui.display.formatting import hashes, text, times
from intents_ui.display.formatting.sentences import fill
from intents_ui.display.search import explorers
from intents_ui.display.sharing.reply_placeholders import PROMISES, UPDATE_WITHIN, ReplyPlaceholders
from intents_ui.display.summary import reasons, summary, timeline
from intents_ui.display.summary.rules import SECOND_DEPOSIT
from intents_ui.display.transfers.assistance import RECOVER, HelpKind
from intents_ui.display.transfers.transfer import Transfer, derived

SCAM_WARNING = "We never ask for your recovery phrase or for a wallet connection."
# Where mail programs detect a link: the colon of `://`, the dot of `www.`.
AN_ADDRESS = re.compile(r":(?=//)|(?<=www)\.", re.IGNORECASE)


@dataclass(frozen=True)
class Transaction:
    """A step with a transaction. `link` is None without a block explorer."""

    step: str
    status: str
    txn_hash: str
    link: str | None


@dataclass(frozen=True)
class Reply:
    """A reply to the owner of these transfers, with a pair of each and the URL of its page.

    `greeting` and `signature` are the operator's.
    """

    transfers: Sequence[tuple[Transfer, str]]
    greeting: str = ""
    signature: str = ""

    @property
    def plain(self) -> str:
        return self.written()

    def written(self, as_of: datetime | None = None) -> str:
        """Return the text, which ends with a link. `as_of`: when the transfers were read, if that isn't now."""
        count = len(self.transfers)
        titles = [f"Transfer {number} of {count}\n" if count > 1 else "" for number in range(1, count + 1)]
        transfers = [transfer for transfer, _ in self.transfers]
        blocks = [
            self.greeting,
            *(f"{title}{body(each)}" for title, each in zip(titles, transfers, strict=True)),
            SCAM_WARNING if any(summary.of(each).scam_warning for each in transfers) else "",
            self.signature,
            *(
                f"{title}{references(each)}\nStatus as of {times.dated(as_of or each.now)}: {url}"
                for title, (each, url) in zip(titles, self.transfers, strict=True)
            ),
        ]
        return "\n\n".join(filter(None, blocks)) + "\n"


@derived
def body(transfer: Transfer) -> str:
    """Return the sentences about a transfer, followed by the warning of a second deposit."""
    row = summary.of(transfer).row
    sentences = fill(row.reply, ReplyPlaceholders(transfer))
    return unlinked(f"{sentences}\n\n{SECOND_DEPOSIT}" if row.warn_second_deposit else sentences)


def renewed_at(transfer: Transfer) -> datetime | None:
    """Return when an open page refreshes the reply, well before the time it promises. None: it promises no time."""
    reply = summary.of(transfer).row.reply
    is_promise = any(f"{{{each}}}" in reply for each in PROMISES)
    return transfer.now + UPDATE_WITHIN / 2 if is_promise else None


@derived
def references(transfer: Transfer) -> str:
    """Return lines with what the customer or a colleague may look up."""
    lines = [f"Intent ID: {text.visible(transfer.intent.intent_id)}"]
    if transfer.incident:
        lines.append(f"Known incident: {unlinked(transfer.incident.sentence)}")
    result = summary.of(transfer)
    if result.is_provisional:
        lines.append("On-chain balances: not checked")
    is_recoverable = HelpKind.RECOVERY in result.row.help and not reasons.no_recovery(transfer)
    if is_recoverable and transfer.contacts.recovery_url:
        lines.append(f"{RECOVER}: {transfer.contacts.recovery_url}")
    lines += [f"{each.step} transaction: {each.link or unlinked(each.txn_hash)}" for each in transactions(transfer)]
    return text.bare("\n".join(lines))


def transactions(transfer: Transfer) -> Iterator[Transaction]:
    for step in timeline.of(transfer).steps:
        sent = step.transaction
        if sent is None or sent.txn_hash is None or hashes.is_placeholder(sent.txn_hash):
            continue
        chain = transfer.names.chain(sent.chain_id)
        link = explorers.transaction_link(sent.txn_hash, chain_id=sent.chain_id, info=chain)
        yield Transaction(step.title, text.name(sent.status).shown, text.visible(sent.txn_hash), link)


def unlinked(words: str) -> str:
    """Return text that mail programs don't turn into links: a token's name may contain a URL."""
    return AN_ADDRESS.sub(r"[\g<0>]", text.bare(words))
