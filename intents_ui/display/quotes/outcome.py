"""Quoted and actual figures of one transfer, before they are compared.

An exact-input quote has a minimum received. An exact-output quote fixes the amount received and quotes the deposit.
Figures that the service doesn't report stay unknown. The summary's amount counts only once the delivery is confirmed.
"""

from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal

from intents_ui.display.summary import summary
from intents_ui.display.summary.rules import Certainty, Delivery
from intents_ui.display.tokens import token_amounts
from intents_ui.display.tokens.token_amounts import Money
from intents_ui.display.transfers import timing
from intents_ui.display.transfers.situation import Situation
from intents_ui.display.transfers.transfer_data import Facts, first

EXACT_OUTPUT = "EXACT_OUTPUT"


@dataclass(frozen=True)
class QuoteOutcome:
    """Figures of one transfer. `quoted` and `least` are destination amounts, `least` the minimum received. They are
    equal for exact output.

    `arrived` has a value only if the delivery is confirmed and the amount reported. `is_another_token`: not the
    quoted token. `came_back_to_owner`: only such a refund counts. `estimate` and `taken`: the estimated time, and the
    time from the start of the execution to its end.
    """

    situation: Situation
    delivery: Delivery
    is_exact_output: bool
    quoted: Money
    least: Money
    arrived: Money
    is_another_token: bool
    deposited: Money | None
    tolerance: Decimal | None
    estimate: timedelta | None
    taken: timedelta | None
    came_back_to_owner: bool

    @classmethod
    def of(cls, situation: Situation) -> "QuoteOutcome":
        facts = situation.facts
        delivery = summary.of(situation).row.comparison
        is_exact_output = first(facts.summary.trade_type, facts.request.trade_type) == EXACT_OUTPUT
        # A request names the amount that it fixes. The other one is 0 or missing.
        asked = facts.request.destination_token_amount if is_exact_output else None
        quoted = asked or facts.quote.to_amount
        options, was_delivered = facts.request.options, delivery is Delivery.DELIVERED
        return cls(
            situation=situation,
            delivery=delivery,
            is_exact_output=is_exact_output,
            quoted=replace(facts.expected, value=quoted),
            least=replace(facts.expected, value=quoted if is_exact_output else facts.quote.to_amount_min),
            arrived=facts.received if was_delivered else replace(facts.received, value=None),
            is_another_token=was_delivered and _is_another_token(facts),
            deposited=_deposited(facts),
            tolerance=first(facts.quote.max_slippage, options.slippage_tolerance if options else None),
            estimate=timing.given_estimate(facts),
            taken=_time_taken(facts) if was_delivered else None,
            came_back_to_owner=situation.refund_reached_the_owner,
        )

    @property
    def facts(self) -> Facts:
        return self.situation.facts

    @property
    def is_conflicting(self) -> bool:
        return summary.of(self.situation).certainty is Certainty.CONFLICTING

    @property
    def is_conflict_of_balances(self) -> bool:
        """Return whether only the balances conflict."""
        return summary.of(self.situation.without_balances()).certainty is not Certainty.CONFLICTING

    @property
    def is_confirmed(self) -> bool:
        return summary.of(self.situation).certainty is Certainty.CONFIRMED

    @property
    def returned_of(self) -> tuple[Money | None, str]:
        """Return the amount that a refund is compared with: the deposit or, on the other chain, the quoted amount
        received.
        """
        for whole, words in ((self.deposited, "deposited"), (self.quoted, "quoted")):
            if whole and whole.value is not None and token_amounts.is_same_token(self.facts.refunded, whole):
                return whole, words
        return None, ""


def _is_another_token(facts: Facts) -> bool:
    request = facts.request
    quoted = Money(None, request.destination_chain_id, request.destination_token_address)
    return token_amounts.is_another_token(quoted, facts.received)


def _deposited(facts: Facts) -> Money | None:
    """Return the confirmed deposit in the requested token, otherwise None."""
    arrived = facts.arrived
    if arrived is None or arrived.value is None:
        return None
    return None if token_amounts.is_another_token(arrived, facts.requested) else arrived


def _time_taken(facts: Facts) -> timedelta | None:
    """Return the time to the reported end or, without one, to the last transaction."""
    last = facts.destination or (facts.origin if facts.is_same_chain else None)
    ended = first(facts.finished_at, facts.mined_at(last) if last else None)
    if ended is None or facts.started_at is None or ended < facts.started_at:
        return None
    return ended - facts.started_at
