"""Escalation of a transfer to the service or a route provider: plain text with every fact they ask for."""

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote

from intents_ui.display.formatting import hashes, text, times
from intents_ui.display.lists.route_stats import RouteStats
from intents_ui.display.sharing.customer_reply import Reply, unlinked
from intents_ui.display.summary.timeline import StepState, of
from intents_ui.display.tokens import providers

LONGEST_IN_URL = 1500  # characters of the text, because mail programs and helpdesks cut longer URLs
CUT = "\n(Truncated. The page has the rest.)"


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
        page = f"Page: {self.reply.url} (as of {times.dated(self.reply.situation.now)})"
        facts = (f"{label}: {unlinked(value)}" for label, value in self._facts() if value)
        return text.bare("\n".join([page, *facts, *self._transactions()]) + "\n")

    def link(self, template: str) -> str:
        """Return the address with the subject and the text: an e-mail address, or a URL with placeholders.

        `{intentId}`, `{subject}` and `{text}` in the URL are replaced.
        """
        body = self.plain if len(self.plain) <= LONGEST_IN_URL else self.plain[:LONGEST_IN_URL] + CUT
        if not template.startswith("https://"):
            return f"mailto:{template}?subject={quote(self.subject, safe='')}&body={quote(body, safe='')}"
        given = {"{intentId}": self.reply.transfer.intent_id, "{subject}": self.subject, "{text}": body}
        for name, value in given.items():
            template = template.replace(name, quote(value, safe=""))
        return template

    def _facts(self) -> Iterator[tuple[str, str]]:
        situation, told, shown = self.reply.situation, self.reply.summary, self.reply.transfer
        facts, found = situation.facts, told.located
        yield "Problem", told.headline
        yield "Intent ID", text.visible(shown.intent_id)
        yield "Status", f"{shown.status.word}. {told.sentence}"
        yield from (("Failed step", each) for each in self._failures())
        yield "Where the funds are", told.location
        checked_at = situation.balances.checked_at
        finding = found.finding.removeprefix("On-chain balances: ")
        yield "On-chain balances", f"{finding} Checked {times.dated(checked_at)}" if checked_at else "Not checked"
        yield "Sent", str(shown.sent) if shown.sent.amount.full else ""
        received = "Received" if shown.outcome.has_moved else "To be received"
        yield received, str(shown.outcome) if shown.outcome.amount.full else ""
        yield "Route", " and ".join(providers.labels(facts.providers))
        yield "Provider request IDs", ", ".join(map(text.visible, facts.quote.route_providers_request_ids))
        yield "Owner", _address(facts.owner)
        yield "Recipient", _address(facts.recipient)
        yield "Deposit address", _address(facts.deposit_address)
        yield "Destination intent address", _address(facts.delivery_address)
        yield "Recent transfers on this route", self._others()

    def _failures(self) -> Iterator[str]:
        for step in of(self.reply.situation).steps:
            if step.state is StepState.FAILED:
                reason = f"Service message: {step.reason.whole}" if step.reason else ""
                yield " ".join(filter(None, (f"{step.title}.", step.sentence, step.explanation, reason)))

    def _others(self) -> str:
        if self.stats is None or not self.stats.ended:
            return ""
        repeated = self.stats.repeated
        common = f". Most common failure ({repeated.times}): {repeated.reason}" if repeated else ""
        return f"{self.stats.delivered}{common}"

    def _transactions(self) -> Iterator[str]:
        for each in self.reply.transactions:
            yield f"{each.step} transaction ({each.status}): {each.txn_hash}{f' {each.link}' if each.link else ''}"


def _address(address: str | None) -> str:
    return hashes.checksum(address) if address else ""
