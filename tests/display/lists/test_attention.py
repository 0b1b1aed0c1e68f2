"""Transfers with a problem: oldest first, in groups with one reason, and above a minimum value."""

from decimal import Decimal

from intents_ui.display.lists import attention
from intents_ui.display.lists.attention import AttentionFilters, Problems
from intents_ui.display.summary.rules import Cause
from intents_ui.display.transfers.situation import Situation
from intents_ui.service.wire.models import IntentHistory, IntentReceipt
from tests.display.builders import CATALOGUE, NOW, receipt, summary, transaction
from tests.display.lists.test_recoverable import DEPOSIT, entry, token


def of(*entries: IntentHistory) -> Problems:
    return attention.of(Situation.of_entry(each, now=NOW, names=CATALOGUE) for each in entries)


def because(reason: str) -> IntentReceipt:
    origin = transaction("REVERTED", status_reason=reason)
    return receipt("FAILED", deposit="SUCCEEDED", origin=origin, summary=summary(origin_intent_address=DEPOSIT))


def ids(found: Problems) -> list[str]:
    return [row.intent_id for _, row in found.rows]


def test_the_oldest_problem_is_first() -> None:
    assert ids(of(*(entry(number, token()) for number in (2, 3, 1)))) == ["0x03", "0x02", "0x01"]


def test_reasons_that_differ_in_their_numbers_only_are_one_group() -> None:
    reasons = ("slippage 1.5% exceeded at 80", "paused", "slippage 20% exceeded at 7")
    found = of(*(entry(number, token(), receipt=because(reason)) for number, reason in enumerate(reasons, 1)))
    groups = found.section(Cause.RECOVERABLE).groups
    assert [(group.count, group.reason) for group in groups] == [(2, "slippage …% exceeded at …"), (1, "paused")]


def test_a_minimum_keeps_transfers_whose_value_is_unknown() -> None:
    found = of(entry(1, token(usd="7")), entry(2, token(usd=None)), entry(3, token(usd="100")))
    assert ids(found.narrowed(AttentionFilters(least=Decimal(50)))) == ["0x03", "0x02"]
