"""Transfers with a problem: oldest first, in groups with one reason, and above a minimum value."""

from decimal import Decimal

from intents_ui.display.lists import attention
from intents_ui.display.lists.attention import AttentionFilters, Problems
from intents_ui.display.summary.rules import Cause
from intents_ui.display.transfers.situation import Situation
from intents_ui.service.models import ChainInfo, IntentHistory, IntentReceipt
from tests.display.builders import BASE, CATALOGUE, ETHEREUM, NOW, Catalogue, receipt, summary, transaction
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


def test_the_title_of_a_group_ends_before_names_that_differ() -> None:
    class Alike(Catalogue):
        def chain(self, chain_id: int | None) -> ChainInfo | None:
            return None if chain_id is None else ChainInfo(id=chain_id, name=f"Delivered {chain_id}")

    told = summary(destination_intent_address=DEPOSIT, origin_intent_address="0x" + "0e" * 20)
    entries = [
        entry(number, token(), chain_id=chain, destination_chain_id=chain, receipt=made)
        for number, chain in enumerate((BASE, ETHEREUM), 1)
        for made in [
            receipt(
                "FAILED",
                deposit="SUCCEEDED",
                origin="SUCCEEDED",
                destination=transaction("REVERTED", chain_id=chain),
                destination_chain_id=chain,
                summary=told,
            )
        ]
    ]
    found = attention.of(Situation.of_entry(each, now=NOW, names=Alike()) for each in entries)
    [group] = found.section(Cause.RECOVERABLE).groups
    assert (group.count, group.headline) == (2, "Failed, funds recoverable")
