"""Transfers with a problem: oldest first, in groups with one reason, and above a minimum value."""

from decimal import Decimal
from typing import Any

from intents_ui.lists import attention
from intents_ui.lists.attention import AttentionFilters, Problems
from intents_ui.service.models import BalanceGroup, IntentHistory, IntentReceipt, TokenBalance
from intents_ui.transfers import summary as summaries
from intents_ui.transfers.rules import MESSAGES, Cause
from intents_ui.transfers.transfer import Transfer
from tests.transfers.builders import (
    ARBITRUM,
    BASE,
    CATALOGUE,
    NOW,
    USDC,
    before,
    receipt,
    summary,
    transaction,
)


def of(*entries: IntentHistory) -> Problems:
    return Problems(attention.of(Transfer.of_entry(each, now=NOW, names=CATALOGUE) for each in entries))


def because(reason: str) -> IntentReceipt:
    origin = transaction("REVERTED", status_reason=reason)
    return receipt("FAILED", deposit="SUCCEEDED", origin=origin, summary=summary(origin_intent_address=DEPOSIT))


def retried(*, minutes: int) -> IntentReceipt:
    """Return the receipt of a transfer whose first step has been retried for so long."""
    at = before(minutes=minutes)
    steps = {"deposit": transaction("SUCCEEDED", updated_at=at), "origin": transaction("ERRORED", updated_at=at)}
    return receipt(**steps, updated_at=at)


def ids(found: Problems) -> list[str]:
    return [row.intent.intent_id for row in found.rows]


def test_reasons_that_differ_in_their_numbers_only_are_one_group():
    reasons = ("slippage 1.5% exceeded at 80", "paused", "slippage 20% exceeded at 7")
    found = of(*(entry(number, token(), receipt=because(reason)) for number, reason in enumerate(reasons, 1)))
    groups = found.sections[Cause.RECOVERABLE].groups
    assert [(group.count, group.reason) for group in groups] == [(2, "slippage …% exceeded at …"), (1, "paused")]


def test_a_minimum_keeps_transfers_whose_value_is_unknown():
    found = of(entry(1, token(usd="7")), entry(2, token(usd=None)), entry(3, token(usd="100")))
    assert ids(found.narrowed(AttentionFilters(least=Decimal(50)))) == ["0x03", "0x02"]


def test_the_title_of_a_group_is_that_of_its_message_whatever_differs_between_its_transfers():
    for key, minutes in (("executing.retrying", (11, 12)), ("executing.stalled", (60, 120))):
        late = [
            entry(number, status="EXECUTING", has_balance=has_balance, receipt=retried(minutes=passed))
            for number, (has_balance, passed) in enumerate(zip((None, False), minutes, strict=True))
        ]
        [group] = of(*late).sections[Cause.LATE].groups
        headlines = {summaries.of(row).headline for row in group.rows}
        row = MESSAGES[key]
        assert (group.count, group.headline) == (2, row.title or row.headline)
        assert len(headlines) == (2 if row.title else 1)
    assert all("{" not in (row.title or row.headline) for row in MESSAGES.values())


def test_a_group_has_its_reason_in_words():
    reasons = ("aborted: not sent within 10m0s", "precondition not met: balance 1 < 7", "paused")
    found = of(*(entry(number, token(), receipt=because(reason)) for number, reason in enumerate(reasons, 1)))
    told = {group.reason: group.explanation for group in found.sections[Cause.RECOVERABLE].groups}
    assert told == {
        "aborted: not sent within 10m0s": "Not sent within 10 min.",
        "precondition not met: balance 1 < 7": (
            "0.000001 USDC arrived, 0.000006 USDC less than the 0.000007 USDC that the step needs."
        ),
        "paused": "",
    }
    two = ("precondition not met: balance 1 < 7", "precondition not met: balance 2 < 7")
    found = of(*(entry(number, token(), receipt=because(reason)) for number, reason in enumerate(two, 1)))
    [group] = found.sections[Cause.RECOVERABLE].groups
    assert group.explanation == "… USDC arrived, … USDC less than the … USDC that the step needs."


def test_a_reason_for_several_chains_names_none():
    entries = (entry(1, token(), receipt=because("token paused")), entry(2, token(), receipt=because("token paused")))
    [group] = of(*entries).sections[Cause.RECOVERABLE].groups
    assert group.explanation == "No transfer of USDC can go through while it is paused on Arbitrum."
    abroad = receipt(
        "FAILED",
        deposit="SUCCEEDED",
        origin=transaction("REVERTED", chain_id=BASE, status_reason="token paused"),
        summary=summary(origin_intent_address=DEPOSIT, origin_chain_id=BASE),
        origin_chain_id=BASE,
    )
    [group] = of(*entries, entry(3, token(), chain_id=BASE, receipt=abroad)).sections[Cause.RECOVERABLE].groups
    assert group.explanation == "No transfer of the token can go through while it is paused on its chain."


def test_a_retry_is_late_only_after_its_time():
    for minutes, count in ((4, 0), (11, 1)):
        found = of(entry(1, status="EXECUTING", has_balance=False, receipt=retried(minutes=minutes)))
        assert found.sections[Cause.LATE].count == found.count == count


DEPOSIT = "0x" + "0d" * 20
FAILED = receipt("FAILED", deposit="SUCCEEDED", origin="REVERTED", summary=summary(origin_intent_address=DEPOSIT))


def token(balance: int | None = 1_000_000, usd: str | None = "1", **members: Any) -> TokenBalance:
    given = None if usd is None else Decimal(usd)
    usual: dict[str, Any] = {
        "contract_address": USDC,
        "decimals": 6,
        "symbol": "USDC",
        "price_usd": given and Decimal(1),
    }
    return TokenBalance(balance=balance, balance_usd=given, **{**usual, **members})


def entry(number: int, *tokens: TokenBalance, chain_id: int = ARBITRUM, **members: Any) -> IntentHistory:
    usual: dict[str, Any] = {
        "status": "FAILED",
        "created_at": before(hours=number),
        "receipt": FAILED,
        "has_balance": True,
        "balances": (BalanceGroup(intent_address=DEPOSIT, chain_id=chain_id, tokens=tokens),) if tokens else (),
    }
    given = usual | members
    intent_id = f"0x{number:02}"
    return IntentHistory(
        intent_id=intent_id, **given | {"receipt": given["receipt"].model_copy(update={"intent_id": intent_id})}
    )


def waiting(*entries: IntentHistory) -> attention.ProblemRows:
    return attention.worklist([Transfer.of_entry(each, now=NOW, names=CATALOGUE) for each in entries])


ENTRIES = (
    entry(3, token(usd="7")),
    entry(1, token(usd=None)),
    entry(2, token(usd="9")),
    entry(4, token(usd="0", price_usd=Decimal(0))),
    entry(5, token(usd="7")),
    entry(6, token(usd="100"), created_at=None),
)


def test_the_oldest_come_first_and_those_of_unknown_age_last():
    shown = [row.intent.intent_id for row in waiting(*ENTRIES).rows]
    assert shown == ["0x05", "0x04", "0x03", "0x02", "0x01", "0x06"]


def test_transfers_reported_as_empty_are_left_out():
    work = waiting(entry(1, has_balance=False), entry(2, token(0, "0"), has_balance=False), entry(3, token()))
    assert [row.intent.intent_id for row in work.rows] == ["0x03"]
