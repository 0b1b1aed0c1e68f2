"""Reply to a customer about transfers: plain text that a support agent sends unedited.

Its sentences are the column `reply` of messages.toml. It calls nothing sent, delivered or refunded unless it was.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import quote

from intents_ui.formatting import hashes, text, times
from intents_ui.formatting.text import Name, Sentence, fill
from intents_ui.formatting.times import MINUTE
from intents_ui.search import identifiers
from intents_ui.settings import ENV
from intents_ui.tokens import names
from intents_ui.transfers import placeholders, statuses, summary, timeline
from intents_ui.transfers.placeholders import ADDRESSES, NOT_REPORTED, Placeholders
from intents_ui.transfers.route_stats import RouteStats
from intents_ui.transfers.rules import RECOVER, SECOND_DEPOSIT, Attention, Cause, HelpKind
from intents_ui.transfers.statuses import Tone
from intents_ui.transfers.summary import NOT_CHECKED
from intents_ui.transfers.timeline import StepState
from intents_ui.transfers.transfer import Place, Transfer, derived
from intents_ui.web import links

HALF_HOUR = timedelta(minutes=30)
# The team updates the customer at the first full half hour after this time.
UPDATE_WITHIN = timedelta(hours=2)
# The placeholders that name the time of the update.
PROMISES = ("escalated", "follow_up", "update_by")


class ReplyPlaceholders(Placeholders):
    """The placeholders of pages in words for customers, and those that only replies have."""

    owners_wallet = "your wallet"
    addresses = "address_in_replies"

    def time(self, at: datetime | None, unknown: str) -> str:
        return times.utc_minute(at, now=self.transfer.now) if at else unknown

    def __getitem__(self, name: str) -> str:
        transfer = self.transfer
        match name:
            # The transfer
            case "kind" | "is_done" | "wallet" | "did_it_arrive":
                kind = "swap" if transfer.is_same_chain else "transfer"
                return self.phrase(name, "payment" if transfer.pays_another_wallet else kind)
            case "what":
                # `transfer of 300.00 USDC from Base to Arbitrum One`, `swap of 25.00 USDC on Base`.
                origin, destination = (
                    transfer.chain_name(chain_id, unknown="")
                    for chain_id in (transfer.origin_chain_id, transfer.destination_chain_id)
                )
                if transfer.is_same_chain:
                    return Name(f"{self['what_in_short']} on {origin}")
                way = (f" from {origin}" if origin else "") + (f" to {destination}" if destination else "")
                return Name(self["what_in_short"] + way)
            case "what_in_short":
                sent = summary.of(transfer).sent
                # A deposit that arrived in an unknown amount isn't called by the quoted one.
                is_known = sent.amount.full and (transfer.arrived is None or not sent.note)
                return Name(f"{self['kind']}{f' of {sent.amount}' if is_known else ''}")
            case "cause":
                cause = placeholders.reason_for_customer(transfer)
                return Sentence(" ", Name(cause)) if cause else ""
            case "problem":
                return Name(placeholders.reason_for_customer(transfer)) or "One of its steps failed."
            # Where the funds are
            case "place":
                return self.address(summary.of(transfer).place)
            case "whereabouts":
                place = summary.of(transfer).place
                if place not in ADDRESSES or transfer.has_balance is not False:
                    return self.phrase("whereabouts", place)
                is_last = place is Place.DELIVERY_ADDRESS or transfer.is_same_chain
                return self.phrase("whereabouts", "left_to_wallet" if is_last else "left")
            case "funds":
                holdings = transfer.holdings if transfer.has_balance else ()
                return Sentence("Your funds (", self.sums(holdings[0]), ") are") if holdings else "Your funds are"
            case "failed_refund":
                if summary.of(transfer).place not in ADDRESSES:
                    return fill("We're checking where on {either_chain} the funds are.", self)
                return fill(f"{{funds}}{'' if transfer.has_balance else ' most likely'} at the {{place}}.", self)
            case "refund":
                is_known = transfer.refunded.value is not None
                return fill("{refund_amount}{instead} was" if is_known else "The funds were", self)
            # What the customer can do
            case "recover_at":
                return "at the link below" if transfer.contacts.recovery_url else "in the app you used"
            case "recovery":
                recovery = "Only your wallet can move them, and you can recover them {recover_at}."
                return Name(placeholders.no_recovery(transfer)) or fill(recovery, self)
            # What the team does, and by when
            case "desk":
                return self._desk()
            case "update_by":
                return self._rounded_up(transfer.now + UPDATE_WITHIN, to=HALF_HOUR)
            case "escalated":
                return fill("We've escalated this to {desk} and will update you by {update_by}.", self)
            case "follow_up":
                row = summary.of(transfer).row
                if row.cause is Cause.REFUND:
                    event, at = "there is no refund", transfer.return_overdue_at
                elif row.minutes:
                    event, at = "nothing has changed", transfer.escalates_at(row.minutes)
                else:
                    event, at = "it isn't complete", transfer.stalled_at
                if at is None:
                    return fill("We'll check again and update you by {update_by}.", self)
                if transfer.has_come(at):
                    return self["escalated"]
                by, desk = self._rounded_up(at), self._desk()
                return Sentence("If ", event, " by ", by, ", we'll escalate it to ", desk, " and update you.")
            # Times
            case "expired_at" | "before_expiry":
                until = transfer.execute_by or transfer.expires_at
                return Sentence(" at " if name == "expired_at" else " before ", self.time(until, "")) if until else ""
            case "arrival":
                due_at = None if transfer.has_come(transfer.due_at) else transfer.due_at
                return Sentence(" and should be complete by ", self._rounded_up(due_at)) if due_at else ""
            case _:
                return super().__getitem__(name)

    def _desk(self) -> str:
        """Return who the team escalates to: the provider of funds in transit, with its request ID, or engineers."""
        if Place.PROVIDER not in (summary.of(self.transfer).place, self.transfer.place_by_steps):
            return "our engineers"
        requests = self.transfer.quote.route_providers_request_ids
        request = (" (request ", Name(hashes.short_hash(text.visible(requests[-1]))), ")") if requests else ()
        return Sentence(self["provider"], *request)

    def _rounded_up(self, moment: datetime, *, to: timedelta = MINUTE) -> str:
        return self.time(moment + (times.EPOCH - moment) % to, "")


SCAM_WARNING = "We never ask for your recovery phrase or for a wallet connection."
# Where mail programs detect a link: the colon of `://`, the dot of `www.`.
AN_ADDRESS = re.compile(r":(?=//)|(?<=www)\.", re.IGNORECASE)


@dataclass(frozen=True)
class Reply:
    """A reply to the owner of these transfers, with the operator's greeting and signature.

    `root`: scheme and host of its links.
    """

    transfers: Sequence[Transfer]
    root: str

    def written(self, as_of: datetime | None = None) -> str:
        """Return the text, which ends with a link. `as_of`: when the transfers were read, if that isn't now."""
        count = len(self.transfers)
        titled = [
            (f"Transfer {number} of {count}\n" if count > 1 else "", each)
            for number, each in enumerate(self.transfers, 1)
        ]
        blocks = [
            ENV.intents_reply_greeting,
            *(title + body(each) for title, each in titled),
            SCAM_WARNING if any(summary.of(each).scam_warning for each in self.transfers) else "",
            ENV.intents_reply_signature,
            *(
                f"{title}{references(each)}\nStatus as of {times.dated(as_of or each.now)}:"
                f" {links.page_url(each, root=self.root)}"
                for title, each in titled
            ),
        ]
        return "\n\n".join(filter(None, blocks)) + "\n"


@derived
def body(transfer: Transfer) -> str:
    """Return the sentences about a transfer, followed by the warning of a second deposit."""
    row = summary.of(transfer).row
    sentences = fill(row.reply, ReplyPlaceholders(transfer))
    return defang(f"{sentences}\n\n{SECOND_DEPOSIT}" if row.warn_second_deposit else sentences)


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
        lines.append(f"Known incident: {defang(transfer.incident.sentence)}")
    is_recoverable = HelpKind.RECOVERY in summary.of(transfer).row.help and not placeholders.no_recovery(transfer)
    if is_recoverable and transfer.contacts.recovery_url:
        lines.append(f"{RECOVER}: {transfer.contacts.recovery_url}")
    for step, txn_hash, link, _ in transactions(transfer):
        lines.append(f"{step} transaction: {link or defang(txn_hash)}")
    return text.bare("\n".join(lines))


@derived
def transactions(transfer: Transfer) -> Sequence[tuple[str, str, str | None, str]]:
    """Return the title of each step with a transaction, its hash, its link at the block explorer, and its status."""
    found = []
    for step in timeline.of(transfer).steps:
        sent = step.transaction
        if sent is None or sent.txn_hash is None or hashes.is_placeholder(sent.txn_hash):
            continue
        chain = transfer.names.chain(sent.chain_id)
        link = identifiers.transaction_link(sent.txn_hash, chain_id=sent.chain_id, info=chain)
        status = statuses.transaction(sent.status, is_open=transfer.is_open).word
        found.append((step.title, text.visible(sent.txn_hash), link, status))
    return found


def defang(words: str) -> str:
    """Return text that mail programs don't turn into links: a token's name may contain a URL."""
    return AN_ADDRESS.sub(r"[\g<0>]", text.bare(words))


LONGEST_IN_URL = 1500  # characters of the text, because mail programs and helpdesks cut longer URLs
CUT = "\n(Truncated. The page has the rest.)\n"


@dataclass(frozen=True)
class Escalation:
    """`url` is that of the transfer's page. `stats`: recent transfers on its route, None if they aren't known."""

    transfer: Transfer
    url: str
    stats: RouteStats | None = None

    @property
    def subject(self) -> str:
        intent_id = self.transfer.intent.intent_id
        return text.bare(f"{summary.of(self.transfer).headline}: transfer {hashes.short_hash(intent_id)}")

    def written(self, as_of: datetime | None = None) -> str:
        """Return the text, which ends with a link. `as_of`: when the transfer was read, if that isn't now."""
        balances, finding = self.transfer.balances, summary.of(self.transfer).finding
        checked = f"{finding} Checked {times.dated(balances.checked_at)}" if balances.checked_at else NOT_CHECKED
        others, repeated = "", self.stats.repeated if self.stats else ()
        if self.stats and self.stats.ended:
            common = f". Most common failure ({len(repeated)}): {repeated[0]}" if repeated else ""
            others = f"Recent transfers on this route: {self.stats.delivered}{common}"
        last = f"Page as of {times.dated(as_of or self.transfer.now)}: {self.url}\n"
        lines = (_facts(self.transfer), defang(checked), defang(others), last)
        return "\n".join(filter(None, lines))

    def link(self, template: str) -> str:
        """Return the address with the subject and the text: an e-mail address, or a URL with placeholders.

        `{intentId}`, `{subject}` and `{text}` in the URL are replaced.
        """
        body = self.written()
        if len(body) > LONGEST_IN_URL:
            body = f"{body[:LONGEST_IN_URL]}{CUT}{self.url}"
        if not template.startswith("https://"):
            return f"mailto:{template}?subject={quote(self.subject, safe='')}&body={quote(body, safe='')}"
        given = {"{intentId}": self.transfer.intent.intent_id, "{subject}": self.subject, "{text}": body}
        for name, value in given.items():
            template = template.replace(name, quote(value, safe=""))
        return template


@derived
def _facts(transfer: Transfer) -> str:
    """Return a line for each fact that depends neither on the exact time nor on when balances were checked."""
    result = summary.of(transfer)
    is_problem = result.attention is not Attention.NONE or result.tone is Tone.BAD
    failed = []
    for each in timeline.of(transfer).steps:
        if each.state is StepState.FAILED:
            reason = f"Service message: {each.reason.whole}" if each.reason else ""
            failed.append(" ".join(filter(None, (f"{each.title}.", each.sentence, each.explanation, reason))))
    addresses = {
        "Owner": transfer.owner,
        "Recipient": transfer.recipient,
        "Deposit address": transfer.deposit_address,
        "Destination intent address": transfer.delivery_address,
    }
    labeled = [
        ("Problem" if is_problem else "Summary", result.headline),
        ("Intent ID", text.visible(transfer.intent.intent_id)),
        ("Status", f"{result.status.word}. {result.sentence}"),
        *(("Failed step", said) for said in failed),
        ("Where the funds are", result.location),
        *_amounts(transfer),
        ("Route", " and ".join(names.provider_labels(transfer.providers))),
        ("Provider request IDs", ", ".join(map(text.visible, transfer.quote.route_providers_request_ids))),
        *((label, hashes.checksum(address)) for label, address in addresses.items() if address),
    ]
    lines = [f"{label}: {defang(value)}" for label, value in labeled if value]
    for step, txn_hash, link, status in transactions(transfer):
        lines.append(f"{step} transaction ({status}): {defang(txn_hash)}{f' {link}' if link else ''}")
    return text.bare("\n".join(lines))


def _amounts(transfer: Transfer) -> Iterator[tuple[str, str]]:
    """Yield what was sent and received. What was quoted is named so, and what has failed isn't expected any more."""
    shown = summary.of(transfer)
    quoted = f"{shown.sent.amount} on {shown.sent.chain}" if shown.sent.amount.full else ""
    if transfer.is_arrival_reported:
        yield "Sent", quoted
    elif transfer.arrived is not None:
        yield "Sent", f"{NOT_REPORTED}{f', quoted: {quoted}' if quoted else ''}"
    else:
        yield "Quoted", quoted
    outcome = shown.outcome
    if not outcome.amount.full:
        return
    if shown.returned:
        yield "Refunded", f"{outcome.amount} on {outcome.chain}"
    elif outcome.note in ("", summary.UNCONFIRMED):
        yield "Received", str(outcome)
    elif not transfer.is_over and not transfer.steps.has_dead_step:
        yield "To be received", str(outcome)
