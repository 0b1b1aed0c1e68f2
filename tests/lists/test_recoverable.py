"""Recoverable balances: oldest first, with their exact sum."""

from decimal import Decimal
from typing import Any

from intents_ui.service.models import BalanceGroup, IntentHistory, TokenBalance
from intents_ui.transfers import balances
from intents_ui.transfers.balances import Worklist
from intents_ui.transfers.rules import MESSAGES
from intents_ui.transfers.transfer import Transfer
from tests.transfers.builders import (
    ARBITRUM,
    CATALOGUE,
    NOW,
    OWNER,
    USDC,
    before,
    receipt,
    summary,
)

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


def of(*entries: IntentHistory) -> Worklist:
    return balances.worklist([Transfer.of_entry(each, now=NOW, names=CATALOGUE) for each in entries])


ENTRIES = (
    entry(3, token(usd="7")),
    entry(1, token(usd=None)),
    entry(2, token(usd="9")),
    entry(4, token(usd="0", price_usd=Decimal(0))),
    entry(5, token(usd="7")),
    entry(6, token(usd="100"), created_at=None),
)


def test_the_oldest_come_first_and_those_of_unknown_age_last():
    shown = [row.transfer.intent.intent_id for row in of(*ENTRIES).rows]
    assert shown == ["0x05", "0x04", "0x03", "0x02", "0x01", "0x06"]


def test_a_row_says_where_the_balance_is_and_what_to_do():
    (row,) = of(entry(1, token())).rows
    assert row.summary.headline == MESSAGES["failed.origin_recoverable"].headline
    assert (row.transfer.owner, row.summary.status.word) == (OWNER, "Failed")
    (holding,) = row.holdings
    assert (holding.called, str(holding.side.amount), holding.side.chain) == (
        "deposit address",
        "1.00 USDC",
        "Arbitrum",
    )


def test_transfers_reported_as_empty_are_left_out():
    work = of(entry(1, has_balance=False), entry(2, token(0, "0"), has_balance=False), entry(3, token()))
    assert [row.transfer.intent.intent_id for row in work.rows] == ["0x03"]
