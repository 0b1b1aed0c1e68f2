"""Escalation of a transfer to the service or a route provider: plain text with every fact that they ask for."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote

from intents_ui.display.formatting import hashes, text, times
from intents_ui.display.lists.route_stats import RouteStats
from intents_ui.display.sharing.customer_reply import transactions, unlinked
from intents_ui.display.summary import summary, timeline
from intents_ui.display.summary.placeholders import NOT_REPORTED
from intents_ui.display.summary.rules import Attention
from intents_ui.display.summary.summary import NOT_CHECKED
from intents_ui.display.summary.timeline import StepState
from intents_ui.display.tokens import providers
from intents_ui.display.transfers.statuses import Tone
from intents_ui.display.transfers.transfer import Transfer, derived

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

    @property
    def plain(self) -> str:
        return self.written()

    def written(self, as_of: datetime | None = None) -> str:
        """Return the text, which ends with a link. `as_of`: when the transfer was read, if that isn't now."""
        balances, finding = self.transfer.balances, summary.of(self.transfer).located.finding
        checked = f"{finding} Checked {times.dated(balances.checked_at)}" if balances.checked_at else NOT_CHECKED
        last = f"Page as of {times.dated(as_of or self.transfer.now)}: {self.url}\n"
        lines = (_facts(self.transfer), unlinked(checked), unlinked(self._others()), last)
        return "\n".join(filter(None, lines))

    def link(self, template: str) -> str:
        """Return the address with the subject and the text: an e-mail address, or a URL with placeholders.

        `{intentId}`, `{subject}` and `{text}` in the URL are replaced.
        """
        body = self.plain
        if len(body) > LONGEST_IN_URL:
            body = f"{body[:LONGEST_IN_URL]}{CUT}{self.url}"
        if not template.startswith("https://"):
            return f"mailto:{template}?subject={quote(self.subject, safe='')}&body={quote(body, safe='')}"
        given = {"{intentId}": self.transfer.intent.intent_id, "{subject}": self.subject, "{text}": body}
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
def _facts(transfer: Transfer) -> str:
    """Return a line for each fact that depends neither on the exact time nor on when balances were checked."""
    result = summary.of(transfer)
    is_problem = result.attention is not Attention.NONE or result.tone is Tone.BAD
    labeled = [
        ("Problem" if is_problem else "Summary", result.headline),
        ("Intent ID", text.visible(transfer.intent.intent_id)),
        ("Status", f"{result.status.word}. {result.sentence}"),
        *(("Failed step", each) for each in _failed_steps(transfer)),
        ("Where the funds are", result.location),
        *_amounts(transfer),
        ("Route", " and ".join(providers.labels(transfer.providers))),
        ("Provider request IDs", ", ".join(map(text.visible, transfer.quote.route_providers_request_ids))),
        ("Owner", _address(transfer.owner)),
        ("Recipient", _address(transfer.recipient)),
        ("Deposit address", _address(transfer.deposit_address)),
        ("Destination intent address", _address(transfer.delivery_address)),
    ]
    lines = [f"{label}: {unlinked(value)}" for label, value in labeled if value]
    for each in transactions(transfer):
        link = f" {each.link}" if each.link else ""
        lines.append(f"{each.step} transaction ({each.status}): {unlinked(each.txn_hash)}{link}")
    return text.bare("\n".join(lines))


def _failed_steps(transfer: Transfer) -> Iterator[str]:
    for step in timeline.of(transfer).steps:
        if step.state is StepState.FAILED:
            reason = f"Service message: {step.reason.whole}" if step.reason else ""
            yield " ".join(filter(None, (f"{step.title}.", step.sentence, step.explanation, reason)))


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


def _address(address: str | None) -> str:
    return hashes.checksum(address) if address else ""
