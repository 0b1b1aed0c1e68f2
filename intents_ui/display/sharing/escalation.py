"""Escalation of a transfer to the service or a route provider: plain text with every fact they ask for."""

from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote

from intents_ui.display.formatting import hashes, text, times
from intents_ui.display.lists.route_stats import RouteStats
from intents_ui.display.sharing.customer_reply import Reply, unlinked
from intents_ui.display.summary import timeline
from intents_ui.display.summary.summary import NOT_CHECKED
from intents_ui.display.summary.timeline import StepState
from intents_ui.display.tokens import providers
from intents_ui.display.transfers.situation import Situation, derived

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
