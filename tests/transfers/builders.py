"""Short builders of intents, receipts and a catalog for tests."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from intents_ui.service.models import (
    BalanceGroup,
    ChainInfo,
    Intent,
    IntentReceipt,
    IntentReceiptSummary,
    IntentTransaction,
    TokenInfo,
    TokenMetadata,
)
from intents_ui.tokens.names import Names
from intents_ui.transfers.transfer import UNCHECKED, Balances, Check, Transfer

NOW = datetime(2026, 11, 21, 14, 3, 11, tzinfo=UTC)
OWNER = "0x0709cf2d5d4f3d38f5948d697fe64d7fb3639eb1"
MERCHANT = "0x51aa07bb3c7b0a10ba1d5eb20a7d0d1f0000c2d4"
USDC = "0xaf88d065e77c8cc2239327c5edb3a432268e5831"
USDC_ON_BASE = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
INTENT_ID = "0x7c1f4ab2" + "5e" * 24 + "90cd9e2b"
TXN_HASH = "0x9b21c4" + "5" * 52 + "77ad01"
ARBITRUM, BASE, ETHEREUM = 42161, 8453, 1
CHAINS = {ARBITRUM: "Arbitrum", BASE: "Base", ETHEREUM: "Ethereum"}
CHAIN_INFOS: dict[int | None, ChainInfo] = {each: ChainInfo(id=each, name=name) for each, name in CHAINS.items()}


def named(*rows: tuple[Any, ...]) -> list[Any]:
    """Return rows of a table for `pytest.mark.parametrize`. The first value of each is its ID."""
    return [pytest.param(*values, id=name) for name, *values in rows]


class Catalogue:
    def chain(self, chain_id: int | None) -> ChainInfo | None:
        return CHAIN_INFOS.get(chain_id)

    def token(self, chain_id: int | None, address: str | None) -> TokenInfo | None:
        return None

    def lists(self, chain_id: int | None, address: str | None) -> bool | None:
        return None if chain_id not in CHAINS or address is None else address in (USDC, USDC_ON_BASE)

    derived = None

    def featured(self, chain_id: int | None) -> tuple[TokenInfo, ...]:
        return ()


CATALOGUE = Catalogue()


def before(**length: int) -> datetime:
    return NOW - timedelta(**length)


def intent(status: str | None = "EXECUTING", **members: Any) -> Intent:
    usual: dict[str, Any] = {
        "owner_address": OWNER,
        "origin_chain_id": ARBITRUM,
        "destination_chain_id": BASE,
        "created_at": before(minutes=2),
        "updated_at": before(minutes=1),
        "expires_at": NOW + timedelta(minutes=3),
    }
    return Intent(intent_id=INTENT_ID, status=status, **{**usual, **members})


def transaction(status: str | None, **members: Any) -> IntentTransaction:
    usual: dict[str, Any] = {"chain_id": ARBITRUM, "txn_hash": TXN_HASH, "updated_at": before(seconds=20)}
    return IntentTransaction(status=status, **{**usual, **members})


def deposit(status: str | None, **members: Any) -> IntentTransaction:
    """Return a deposit of the requested 100 USDC."""
    usual: dict[str, Any] = {"token_amount": 100_000_000, "token_address": USDC}
    return transaction(status, **{**usual, **members})


def refund(status: str | None, **members: Any) -> IntentTransaction:
    usual: dict[str, Any] = {"to_address": OWNER, "token_amount": 99_500_000, "token_address": USDC}
    return transaction(status, **{**usual, **members})


def summary(**members: Any) -> IntentReceiptSummary:
    usual: dict[str, Any] = {
        "route_providers": ("RELAY",),
        "origin_token_address": USDC,
        "origin_token_amount": 100_000_000,
        "origin_token_metadata": TokenMetadata(chain_id=ARBITRUM, token_address=USDC, symbol="USDC", decimals=6),
        "destination_token_address": USDC_ON_BASE,
        "destination_token_metadata": TokenMetadata(
            chain_id=BASE, token_address=USDC_ON_BASE, symbol="USDC", decimals=6
        ),
        "started_at": before(seconds=40),
    }
    return IntentReceiptSummary(**{**usual, **members})


def receipt(status: str | None = "EXECUTING", **members: Any) -> IntentReceipt:
    """Return a receipt. Steps may be plain statuses: `receipt("FAILED", deposit="SUCCEEDED", origin="REVERTED")`."""
    usual: dict[str, Any] = {
        "owner_address": OWNER,
        "origin_chain_id": ARBITRUM,
        "destination_chain_id": BASE,
        "summary": summary(),
        "updated_at": before(seconds=20),
    }
    for leg in ("deposit", "origin", "destination", "refund"):
        given = members.pop(leg, None)
        made = _leg(leg, given) if isinstance(given, str) else given
        usual[f"{leg}_transaction"] = made
    return IntentReceipt(intent_id=INTENT_ID, status=status, **{**usual, **members})


def _leg(leg: str, status: str) -> IntentTransaction:
    if leg == "refund":
        return refund(status)
    if leg == "deposit":
        return deposit(status)
    return transaction(status, chain_id=BASE if leg == "destination" else ARBITRUM)


def at(
    of_intent: Intent | None = None,
    of_receipt: IntentReceipt | None = None,
    *,
    now: datetime = NOW,
    names: Names = CATALOGUE,
    unread: bool = False,
    has_balance: bool | None = None,
    balances: Sequence[BalanceGroup] | None = None,
    checked_at: datetime | None = None,
) -> Transfer:
    """Return a transfer. Balances count as checked if `has_balance` or any balances are given."""
    is_checked = has_balance is not None or bool(balances)
    has = bool(balances) if has_balance is None else has_balance
    held = Balances(Check.CHECKED, has, tuple(balances or ()), checked_at) if is_checked else UNCHECKED
    of_intent = of_intent or Intent(intent_id=INTENT_ID)
    is_unread = unread and of_receipt is None
    return Transfer(of_intent, of_receipt, now=now, names=names, balances=held, is_unread=is_unread)
