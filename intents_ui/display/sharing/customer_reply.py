"""Customer reply that a support agent can send unedited, as plain text.

Its facts are those of the transfer's page. Only the person differs: it addresses the owner, so "the owner's wallet"
becomes "your wallet". It calls nothing sent, delivered or refunded unless it was.

Escalation to the service or a route provider: plain text with every fact they ask for.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from urllib.parse import quote

from intents_ui.display.formatting import hashes, text, times
from intents_ui.display.formatting.sentences import Name, parts_of
from intents_ui.display.formatting.times import Time
from intents_ui.display.lists.route_stats import RouteStats
from intents_ui.display.search import explorers
from intents_ui.display.summary import glance, summary, timeline
from intents_ui.display.summary.glance import Side, Transfer
from intents_ui.display.summary.placeholders import NOT_REPORTED
from intents_ui.display.summary.rules import SECOND_DEPOSIT, Cause, Certainty
from intents_ui.display.summary.summary import NOT_CHECKED, Summary
from intents_ui.display.summary.timeline import StepState
from intents_ui.display.tokens import names, providers
from intents_ui.display.transfers.locations import Place
from intents_ui.display.transfers.situation import Situation, derived
from intents_ui.display.transfers.transfer_data import Facts
from intents_ui.service.models import UNEXECUTED, IntentStatus

# From the page's third person to a reply to the owner. "let us know": the reply comes from support.
TO_THE_OWNER = (
    ("the owner's wallet", "your wallet"),
    ("the owner", "you"),
    ("contact support", "let us know"),
    ("contact the support team of the app used", "contact the support team of the app you used"),
)
# Where mail programs detect a link: the colon of `://`, the dot of `www.`.
AN_ADDRESS = re.compile(r":(?=//)|(?<=www)\.", re.IGNORECASE)
# Rows of a quote that expired before a deposit was seen.
NO_DEPOSIT_IN_TIME = frozenset({"quoted.expired", "committed.overdue", "executing.wait_deposit_late"})
TO_THE_RECIPIENT_TOO = ("the recipient's wallet", "your wallet")


@dataclass(frozen=True)
class Transaction:
    """A step with a transaction. `link` is None without a block explorer."""

    step: str
    status: str
    txn_hash: str
    link: str | None
    at: datetime | None


@dataclass(frozen=True)
class Reply:
    """`url` is the absolute URL of the transfer's page. Only `plain_until_link` works without it."""

    situation: Situation
    url: str = ""

    @property
    def summary(self) -> Summary:
        return summary.of(self.situation)

    @property
    def transfer(self) -> Transfer:
        return glance.of(self.situation)

    @property
    def opening(self) -> str:
        return opening(self.situation)

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """Return labels and values: where the funds are and the next step, then what moved."""
        result, shown = self.summary, self.transfer
        said = (
            ("Where the funds are", self._to_the_owner(result.location)),
            ("Next step", self._to_the_owner(result.next_step)),
            ("Important", SECOND_DEPOSIT if result.warn_second_deposit else ""),
            ("On-chain balances", "not checked" if result.is_provisional else ""),
            ("Sent", self._sent),
            ("Delivered", _side(shown.received) if _moved(shown.received) else ""),
            ("Refunded", f"{_side(shown.returned)}{result.gaps.instead()}" if shown.returned else ""),
            ("Known incident", self.situation.incident.sentence if self.situation.incident else ""),
            ("Status", result.headline),
            ("Intent ID", text.visible(shown.intent_id)),
        )
        return tuple((label, value) for label, value in said if value)

    @property
    def transactions(self) -> tuple[Transaction, ...]:
        return tuple(_transactions(self.situation))

    @cached_property
    def plain(self) -> str:
        return f"{self.plain_until_link(self.situation.now)}{self.url}\n"

    def plain_until_link(self, as_of: datetime) -> str:
        """Return the plain text up to its link, which a page shared by several hosts leaves to the browser."""
        return f"{_plain(self.situation)}\n\nStatus as of {times.dated(as_of)}: "

    @property
    def _sent(self) -> str:
        """Return the confirmed deposit, "" without one."""
        if self.situation.facts.arrived is None:
            return ""
        return _side(self.transfer.sent) if _moved(self.transfer.sent) else NOT_REPORTED

    def _to_the_owner(self, words: str) -> str:
        return to_the_owner(words, self.situation.facts)


@derived
def _plain(situation: Situation) -> str:
    """Return the plain text without its last line, which depends on the exact time."""
    reply = Reply(situation)
    lines = [unlinked(reply.opening), "", *(f"{label}: {unlinked(value)}" for label, value in reply.facts)]
    lines += [help.written for help in reply.summary.help]
    lines += [reply.summary.scam_warning] if reply.summary.scam_warning else []
    for each in reply.transactions:
        status = f"{each.status}, {times.dated(each.at)}" if each.at else each.status
        lines.append(unlinked(f"{each.step} transaction ({status}): {each.txn_hash}"))
        if each.link:
            lines.append(f"  {each.link}")
    return text.bare("\n".join(lines))


def unlinked(words: str) -> str:
    """Return text that mail programs don't turn into links: a token's name may contain a URL."""
    return AN_ADDRESS.sub(r"[\g<0>]", words)


def to_the_owner(words: str, facts: Facts) -> str:
    """Rewrite the page's text, but no name in it, to address the owner."""
    swaps = TO_THE_OWNER if facts.pays_somebody_else else (*TO_THE_OWNER, TO_THE_RECIPIENT_TOO)
    return "".join(part if isinstance(part, Name | Time) else _swapped(part, swaps) for part in parts_of(words))


def _swapped(words: str, swaps: Sequence[tuple[str, str]]) -> str:
    for page, reply in swaps:
        words = words.replace(page, reply).replace(_sentence_case(page), _sentence_case(reply))
    return words


@derived
def opening(situation: Situation) -> str:
    """Return the outcome of the transfer as the first sentence of a reply."""
    result, facts = summary.of(situation), situation.facts
    shown = glance.of(situation)
    what = _what(situation)
    if result.key in NO_DEPOSIT_IN_TIME:
        return _expired(what, situation)
    if result.is_provisional and not situation.is_over:
        return f"Your {what} {'has not been started' if _is_unused_offer(facts) else 'is in progress'}."
    if result.certainty is Certainty.CONFLICTING or result.cause is Cause.CONFLICT:
        return f"Your {what} needs a closer look, because the records of it conflict."
    if _moved(shown.received):
        is_leftover = result.cause is Cause.RECOVERABLE
        return f"Your {what} was delivered{', and funds are left over' if is_leftover else ''}."
    if facts.is_delivered and result.certainty is Certainty.CONFIRMED:
        return f"Your {what} was delivered."
    if result.place is Place.RETURNED and result.certainty is Certainty.CONFIRMED:
        return f"Your {what} could not be completed and was refunded."
    if result.place is Place.RETURNING:
        return f"Your {what} could not be completed and is being refunded."
    if facts.status == IntentStatus.REFUNDED:
        return f"Your {what} could not be completed. A refund is reported."
    if result.cause is Cause.RECOVERABLE:
        start = "could not be completed" if situation.is_over else "was not started"
        return f"Your {what} {start}. You can recover the funds with your wallet."
    if facts.is_unread or facts.status not in IntentStatus:
        return f"The status of your {what} could not be determined."
    if situation.is_over:
        return f"Your {what} could not be completed."
    if _is_unused_offer(facts):
        return f"Your {what} has not been started."
    return f"Your {what} is in progress." if facts.has_arrived else f"Your {what} is waiting for the deposit."


def _expired(what: str, situation: Situation) -> str:
    """Return that the quote expired. Read alone, the sentence must not invite a payment."""
    end = situation.facts.execute_by or situation.facts.expires_at
    seen = "has been seen" if situation.has_balance is None else "was received"
    return (
        f"The quote for your {what} expired{f' at {times.dated(end)}' if end else ''}. No deposit {seen}."
        " Please don't send anything to the old address. To send, request a new quote."
    )


def _is_unused_offer(facts: Facts) -> bool:
    return facts.status in UNEXECUTED and not facts.is_under_way


def _what(situation: Situation) -> str:
    """Return `transfer of 300 USDC from Base to Arbitrum One` or `swap of 25 USDC on Base`."""
    facts, using, sent = situation.facts, situation.names, glance.of(situation).sent
    amount = f" of {sent.amount}" if sent.amount.full else ""
    origin = names.of_chain(facts.origin_chain_id, using=using, unknown="")
    destination = names.of_chain(facts.destination_chain_id, using=using, unknown="")
    if facts.is_same_chain:
        return f"swap{amount} on {origin}"
    way = "".join(f" {word} {chain}" for word, chain in (("from", origin), ("to", destination)) if chain)
    return f"{'payment' if facts.pays_somebody_else else 'transfer'}{amount}{way}"


def _transactions(situation: Situation) -> Iterator[Transaction]:
    for step in timeline.of(situation).steps:
        sent = step.transaction
        if sent is None or sent.txn_hash is None or hashes.is_placeholder(sent.txn_hash):
            continue
        chain = situation.names.chain(sent.chain_id)
        yield Transaction(
            step.title,
            text.name(sent.status).shown,
            text.visible(sent.txn_hash),
            explorers.transaction_link(sent.txn_hash, chain_id=sent.chain_id, info=chain),
            situation.facts.mined_at(sent) or step.at,
        )


def _moved(side: Side) -> bool:
    """Return an amount that was observed to move, not a quoted one."""
    return bool(side.amount.full) and not side.note


def _side(side: Side) -> str:
    """Return the amount and its chain, "" if it is unknown."""
    if not side.amount.full:
        return ""
    return f"{side.amount} on {side.chain}"


def _sentence_case(words: str) -> str:
    return words[:1].upper() + words[1:]


def several(replies: Sequence[Reply]) -> str:
    """Return one reply unchanged, and several numbered below each other. Those to several owners name their wallets."""
    if len(replies) == 1:
        return replies[0].plain
    owners = [hashes.checksum(each.situation.facts.owner) for each in replies]
    parts = []
    for number, (each, owner) in enumerate(zip(replies, owners, strict=True), start=1):
        wallet = f", wallet {owner}" if len({*owners}) > 1 and each.situation.facts.owner else ""
        parts.append(f"Transfer {number} of {len(replies)}{wallet}\n{each.plain}")
    return "\n".join(parts)


LONGEST_IN_URL = 1500  # characters of the text, because mail programs and helpdesks cut longer URLs
CUT = "\n(Truncated. The page has the rest.)\n"


@dataclass(frozen=True)
class Escalation:
    """`reply` has the transfer and its URL. `stats`: recent transfers on its route, None if they aren't known."""

    reply: Reply
    stats: RouteStats | None = None

    @property
    def subject(self) -> str:
        return text.bare(f"{self.reply.summary.headline}: transfer {hashes.short_hash(self.reply.transfer.intent_id)}")

    @property
    def plain(self) -> str:
        return f"{self.plain_until_link(self.reply.situation.now)}{self.reply.url}\n"

    def plain_until_link(self, as_of: datetime) -> str:
        """Return the text up to its link, which a page shared by several hosts leaves to the browser."""
        balances, finding = self.reply.situation.balances, self.reply.summary.located.finding
        checked = f"{finding} Checked {times.dated(balances.checked_at)}" if balances.checked_at else NOT_CHECKED
        others = unlinked(text.bare(self._others()))
        last = (unlinked(text.bare(checked)), others, f"Page as of {times.dated(as_of)}: ")
        return "\n".join([_facts(self.reply.situation), *filter(None, last)])

    def link(self, template: str) -> str:
        """Return the address with the subject and the text: an e-mail address, or a URL with placeholders.

        `{intentId}`, `{subject}` and `{text}` in the URL are replaced.
        """
        body = self.plain
        if len(body) > LONGEST_IN_URL:
            body = f"{body[:LONGEST_IN_URL]}{CUT}{self.reply.url}"
        if not template.startswith("https://"):
            return f"mailto:{template}?subject={quote(self.subject, safe='')}&body={quote(body, safe='')}"
        given = {"{intentId}": self.reply.transfer.intent_id, "{subject}": self.subject, "{text}": body}
        for name, value in given.items():
            template = template.replace(name, quote(value, safe=""))
        return template

    def _others(self) -> str:
        if self.stats is None or not self.stats.ended:
            return ""
        repeated = self.stats.repeated
        common = f". Most common failure ({repeated.times}): {repeated.reason}" if repeated else ""
        return f"Recent transfers on this route: {self.stats.delivered}{common}"


@derived
def _facts(situation: Situation) -> str:
    """Return a line for each fact that depends neither on the exact time nor on when balances were checked."""
    reply = Reply(situation)
    told, shown, facts = reply.summary, reply.transfer, situation.facts
    failed = []
    for step in timeline.of(situation).steps:
        if step.state is StepState.FAILED:
            reason = f"Service message: {step.reason.whole}" if step.reason else ""
            failed.append(" ".join(filter(None, (f"{step.title}.", step.sentence, step.explanation, reason))))
    labeled = [
        ("Problem", told.headline),
        ("Intent ID", text.visible(shown.intent_id)),
        ("Status", f"{shown.status.word}. {told.sentence}"),
        *(("Failed step", each) for each in failed),
        ("Where the funds are", told.location),
        ("Sent", str(shown.sent) if shown.sent.amount.full else ""),
        (
            "Received" if shown.outcome.has_moved else "To be received",
            str(shown.outcome) if shown.outcome.amount.full else "",
        ),
        ("Route", " and ".join(providers.labels(facts.providers))),
        ("Provider request IDs", ", ".join(map(text.visible, facts.quote.route_providers_request_ids))),
        ("Owner", _address(facts.owner)),
        ("Recipient", _address(facts.recipient)),
        ("Deposit address", _address(facts.deposit_address)),
        ("Destination intent address", _address(facts.delivery_address)),
    ]
    lines = [f"{label}: {unlinked(value)}" for label, value in labeled if value]
    for each in reply.transactions:
        lines.append(f"{each.step} transaction ({each.status}): {each.txn_hash}{f' {each.link}' if each.link else ''}")
    return text.bare("\n".join(lines))


def _address(address: str | None) -> str:
    return hashes.checksum(address) if address else ""
