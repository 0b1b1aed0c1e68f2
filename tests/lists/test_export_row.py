"""An export row has exactly the service's values, and nothing that it didn't report."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from intents_ui import exports
from intents_ui.exports import COLUMNS
from intents_ui.mirror import entry
from intents_ui.service.models import BalanceGroup, IntentHistory, TokenBalance, TokenMetadata
from intents_ui.tokens.names import NO_NAMES, Names
from intents_ui.transfers.transfer import Transfer
from tests.transfers.builders import (
    BASE,
    CATALOGUE,
    INTENT_ID,
    NOW,
    OWNER,
    TXN_HASH,
    USDC,
    USDC_ON_BASE,
    intent,
    named,
    receipt,
    refund,
    summary,
    transaction,
)

SUMMARY = {"headline", "location", "next_step", "certainty", "attention", "cause", "outcome"}
ROOT = "https://dashboard.example"
WETH = "0x4200000000000000000000000000000000000006"
DELIVERED = summary(destination_token_amount=99_910_000)


def row(of_receipt: Any = None, *, using: Names = CATALOGUE, **entry: Any) -> SimpleNamespace:
    made = IntentHistory(intent_id=INTENT_ID, status="EXECUTING", receipt=of_receipt, **entry)
    return SimpleNamespace(**exports.row_of(Transfer.of_entry(made, now=NOW, names=using), root=ROOT))


def test_without_its_receipt_a_transfer_has_no_outcome():
    made = Transfer(intent("SUCCEEDED"), None, now=NOW, names=CATALOGUE, is_unread=True)
    assert exports.row_of(made, root=ROOT)["outcome"] is None
    assert row(receipt("SUCCEEDED", summary=DELIVERED)).outcome == "delivered"


def test_both_amounts_are_exact_with_base_units_and_decimals():
    made = row(receipt("SUCCEEDED", summary=DELIVERED))
    assert (made.origin_amount, made.origin_base_units, made.origin_decimals) == ("100", "100000000", 6)
    assert (made.destination_amount, made.destination_base_units, made.destination_decimals) == ("99.91", "99910000", 6)
    assert (made.origin_chain_id, made.origin_chain, made.origin_token, made.origin_symbol) == (
        42161,
        "Arbitrum",
        USDC,
        "USDC",
    )
    assert (made.destination_chain_id, made.destination_chain, made.destination_token) == (BASE, "Base", USDC_ON_BASE)
    assert (made.owner, made.providers, made.url) == (OWNER, "RELAY", f"{ROOT}/intent/{INTENT_ID}")


@pytest.mark.parametrize(
    ("value", "decimals", "amount"),
    named(
        ("the largest", 2**256 - 1, 18, f"{2**256 - 1}"[:-18] + "." + f"{2**256 - 1}"[-18:]),
        ("nothing", 0, 6, "0"),
        ("decimals unknown", 12345, None, None),
        ("amount unknown", None, 6, None),
    ),
)
def test_an_amount_is_exact_or_missing(value, decimals, amount):
    token = TokenMetadata(chain_id=42161, token_address="0x" + "12" * 20, symbol="ODD", decimals=decimals)
    given = summary(origin_token_amount=value, origin_token_address=token.token_address, origin_token_metadata=token)
    made = row(receipt(summary=given), using=NO_NAMES)
    assert made.origin_amount == amount
    assert made.origin_base_units == (None if value is None else str(value))


def test_times_are_utc_and_unknown_ones_missing():
    made = row(receipt(), created_at=datetime(2026, 11, 21, 14, 3, 11, 120_000, tzinfo=UTC))
    assert made.created_at == "2026-11-21T14:03:11.120000Z"
    assert (made.finished_at, made.expires_at, made.recipient, made.memo, made.destination_amount) == (None,) * 5


def test_an_empty_entry_is_a_row():
    made = row(using=NO_NAMES)
    given = {name for name in COLUMNS if getattr(made, name) is not None}
    assert given == {"intent_id", "status", "url", *SUMMARY}


@pytest.mark.parametrize("placeholder", ["0x" + "0" * 64, "0x" + "f" * 64, None])
def test_a_placeholder_is_not_a_hash(placeholder):
    made = row(receipt(deposit=transaction("PENDING", txn_hash=placeholder), origin="MINING"))
    assert (made.deposit_hash, made.origin_hash) == (None, TXN_HASH)


def test_a_refund_is_described_with_its_chain():
    made = row(receipt("REFUNDED", refund=refund("SUCCEEDED", chain_id=BASE)))
    assert (made.refund_hash, made.refund_chain_id, made.refund_base_units) == (TXN_HASH, BASE, "99500000")


def test_a_refund_has_its_own_token_and_decimals():
    weth = TokenMetadata(chain_id=BASE, token_address=WETH, symbol="WETH", decimals=18)
    back = refund("SUCCEEDED", chain_id=BASE, token_address=WETH, token_amount=5 * 10**16)
    made = row(receipt("REFUNDED", refund=back, summary=summary(destination_token_metadata=weth)))
    assert (made.origin_symbol, made.origin_decimals) == ("USDC", 6)
    assert (made.refund_token, made.refund_symbol, made.refund_decimals) == (WETH, "WETH", 18)
    assert (made.refund_base_units, made.refund_amount) == ("50000000000000000", "0.05")
    none = row(receipt())
    assert (none.refund_token, none.refund_symbol, none.refund_decimals, none.refund_amount) == (None,) * 4


@pytest.mark.parametrize(
    ("legs", "failed", "reason"),
    named(
        ("the first", {"deposit": ("FAILED", "a"), "origin": ("ABORTED", "aborted: a")}, 0, "a"),
        ("what worked has none", {"deposit": ("SUCCEEDED", "old"), "origin": ("REVERTED", "b")}, 1, "b"),
        ("the first that says it", {"origin": ("FAILED", None), "destination": ("ABORTED", "c")}, 1, "c"),
        ("an echo", {"origin": ("FAILED", None), "destination": ("ABORTED", "aborted: origin failed")}, 1, None),
        ("an echo of it", {"origin": ("FAILED", "d"), "refund": ("FAILED", "aborted: origin failed")}, 1, "d"),
        ("the refund's own comes first", {"origin": ("FAILED", "d"), "refund": ("FAILED", "paused")}, 3, "paused"),
        ("a refund without one", {"origin": ("FAILED", "d"), "refund": ("FAILED", "")}, 1, "d"),
        ("a retry is no failure", {"deposit": ("ERRORED", "again")}, None, None),
        ("no failure", {}, None, None),
    ),
)  # fmt: skip
def test_one_reason_is_exported_shown_and_stored(legs, failed, reason):
    steps = {leg: transaction(status, status_reason=why) for leg, (status, why) in legs.items()}
    made = IntentHistory(intent_id=INTENT_ID, status="FAILED", receipt=receipt("FAILED", **steps), created_at=NOW)
    listed, stored = Transfer.of_entry(made, now=NOW), entry.read(made, now=NOW)
    assert (listed.reason and listed.reason.whole, exports.row_of(listed, root=ROOT)["reason"]) == (reason, reason)
    assert (stored.failed_step, stored.reason) == (failed, reason)


def test_untrusted_text_is_exported_exactly():
    memo, symbol = '=1+1\r\n\u202eevil, "quoted"\t⟨', "＝SUM(A1)"  # noqa: RUF001
    token = TokenMetadata(chain_id=42161, token_address=USDC, symbol=symbol, decimals=6)
    made = row(receipt(summary=summary(memo=memo, origin_token_metadata=token)))
    assert (made.memo, made.origin_symbol) == (memo, symbol)


def test_unchecked_balances_are_not_empty_balances():
    known = TokenBalance(contract_address=USDC_ON_BASE, balance=79_710_000, decimals=6, chain_id=0, symbol="USDC")
    odd = TokenBalance(contract_address="0x" + "12" * 20, balance=5, symbol=None)
    empty = TokenBalance(contract_address=USDC_ON_BASE, balance=0, decimals=6)
    groups = (BalanceGroup(chain_id=BASE, tokens=(known, empty)), BalanceGroup(chain_id=7, tokens=(odd,)))
    made = row(receipt(), has_balance=True, balances=groups)
    assert made.has_balance is True
    assert made.balances == f"79.71 USDC on Base; 5 base units of 0x{'12' * 20} on chain 7"
    assert (row(receipt()).has_balance, row(receipt()).balances) == (None, None)
    assert (row(receipt(), has_balance=False).has_balance, row(receipt(), has_balance=False).balances) == (False, None)
