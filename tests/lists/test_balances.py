"""Balances: an unknown price, a price of 0 and a balance of 0 are three different things."""

from decimal import Decimal
from typing import Any

import pytest

from intents_ui.service.models import BalanceGroup, IntentHistory, TokenBalance
from intents_ui.transfers import balances
from intents_ui.transfers.balances import AddressBalances
from intents_ui.transfers.transfer import UNCHECKED, Transfer
from intents_ui.transfers.transfer import Balances as Snapshot
from tests.transfers.builders import (
    ARBITRUM,
    BASE,
    CATALOGUE,
    INTENT_ID,
    MERCHANT,
    NOW,
    USDC,
    USDC_ON_BASE,
    intent,
    named,
    receipt,
)

DEPOSIT = "0x" + "0d" * 20
DELIVERY = "0x" + "0e" * 20
INTENT = intent("FAILED", origin_intent_address=DEPOSIT, destination_intent_address=DELIVERY)
FAILED = receipt("FAILED", deposit="SUCCEEDED", origin="REVERTED")


def token(balance: int | None = 79_712_345, **members: Any) -> TokenBalance:
    usual: dict[str, Any] = {
        "contract_address": USDC,
        "balance_usd": Decimal("79.712345"),
        "price_usd": Decimal(1),
        "decimals": 6,
        "chain_id": ARBITRUM,
        "symbol": "USDC",
    }
    return TokenBalance(balance=balance, **{**usual, **members})


def group(*tokens: TokenBalance, address: str | None = DEPOSIT, chain_id: int | None = ARBITRUM) -> BalanceGroup:
    return BalanceGroup(intent_address=address, chain_id=chain_id, tokens=tokens)


def entry(*groups: BalanceGroup, has: bool | None = True, **members: Any) -> IntentHistory:
    return IntentHistory(intent_id=INTENT_ID, has_balance=has, balances=groups, **{"receipt": FAILED, **members})


def listed(found: IntentHistory | None, of_intent=INTENT, of_receipt=FAILED, *, names=CATALOGUE) -> Transfer:
    held = Snapshot.of_entry(found, checked_at=NOW) if found else UNCHECKED
    return Transfer(of_intent, of_receipt, now=NOW, names=names, balances=held)


def of(found: IntentHistory | None, of_intent=INTENT) -> AddressBalances:
    return balances.of(listed(found, of_intent), is_listed=found is not None)


def only(found: IntentHistory) -> balances.AddressHolding:
    ((holding,),) = (address.holdings for address in of(found).addresses)
    return holding


VALUES = named(
    ("a price", token(), True, "$79.71", "$1.00 each"),
    ("no price", token(price_usd=None, balance_usd=None), False, "no price", ""),
    ("no price, and a value of 0", token(price_usd=None, balance_usd=Decimal(0)), False, "no price", ""),
    ("a price of 0", token(price_usd=Decimal(0), balance_usd=Decimal(0)), False, "priced at $0", ""),
    ("a price of 0 and no value", token(price_usd=Decimal(0), balance_usd=None), False, "priced at $0", ""),
    ("a value and no price", token(price_usd=None), True, "$79.71", ""),
    ("a price and no value", token(balance_usd=None), False, "value not reported", "$1.00 each"),
    ("dust", token(1, balance_usd=Decimal("0.000001")), True, "<$0.01", "$1.00 each"),
    ("nothing", token(0, balance_usd=Decimal(0)), False, "nothing", ""),
    ("without an amount", token(None), False, "amount not reported", "$1.00 each"),
)


@pytest.mark.parametrize(("held", "has_value", "said", "each"), VALUES)
def test_a_balances_value_is_stated(held, has_value, said, each):
    holding = only(entry(group(held)))
    assert (holding.said, holding.each) == (said, each)
    assert holding.side.usd == (held.balance_usd if has_value else None)


@pytest.mark.parametrize("chain_id", [0, None])
def test_a_token_without_a_chain_is_on_that_of_its_address(chain_id):
    holding = only(entry(group(token(chain_id=chain_id, contract_address=USDC_ON_BASE), chain_id=BASE)))
    assert (holding.side.token.chain_id, holding.side.chain) == (BASE, "Base")


BOTH = intent(origin_intent_address=DEPOSIT, destination_intent_address=DEPOSIT)
FROM_BASE = BOTH.model_copy(update={"origin_chain_id": BASE, "destination_chain_id": ARBITRUM})
ADDRESSES = named(
    ("the deposit address", INTENT, DEPOSIT, ARBITRUM, "deposit address"),
    ("in other letters", INTENT, DEPOSIT.upper().replace("X", "x"), ARBITRUM, "deposit address"),
    ("the delivery address", INTENT, DELIVERY, BASE, "destination intent address"),
    ("one address on two chains, here", BOTH, DEPOSIT, ARBITRUM, "deposit address"),
    ("one address on two chains, there", BOTH, DEPOSIT, BASE, "destination intent address"),
    ("one address on two chains, from the other one", FROM_BASE, DEPOSIT, ARBITRUM, "destination intent address"),
    ("somebody else's", INTENT, MERCHANT, ARBITRUM, "another address"),
    ("another one that sorts first", INTENT, "0x" + "00" * 20, ARBITRUM, "another address"),
    ("another one that sorts last", INTENT, "0x" + "ff" * 20, ARBITRUM, "another address"),
    ("none", INTENT, None, ARBITRUM, "an unnamed address"),
)


@pytest.mark.parametrize(("of_intent", "address", "chain_id", "called"), ADDRESSES)
def test_each_balance_names_its_intent_address(of_intent, address, chain_id, called):
    written = {"intentAddress": address, "chainId": str(chain_id), "tokens": [{"balance": "1"}]}
    (found,) = balances.addresses(listed(entry(BalanceGroup.model_validate(written)), of_intent, None))
    assert (found.called, found.holdings[0].called, found.chain_id) == (called, called, chain_id)
    assert found.address == address


def test_an_address_without_a_chain_has_an_unknown_one():
    (found,) = of(entry(group(token(), chain_id=0))).addresses
    assert (found.chain, found.chain_id) == ("an unknown chain", None)


NO_OWNER = intent(owner_address=None)
NO_TIME = intent(created_at=None)
SENTENCES = named(
    ("money", INTENT, entry(group(token())), ""),
    ("money, and no word on whether it counts", INTENT, entry(group(token()), has=None), ""),
    ("not worth the return", INTENT, entry(group(token()), has=False), balances.NOT_COUNTED),
    ("nothing", INTENT, entry(has=False), balances.NOTHING),
    ("nobody looked", INTENT, entry(has=None), balances.NOT_SAID),
    ("something, nobody says what", INTENT, entry(has=True), balances.UNNAMED),
    ("not in the history", INTENT, None, balances.NOT_THERE),
    ("no owner to ask by", NO_OWNER, None, balances.NO_OWNER),
    ("no time to ask by", NO_TIME, None, balances.NO_TIME),
)


@pytest.mark.parametrize(("of_intent", "found", "sentence"), SENTENCES)
def test_missing_balances_are_explained(of_intent, found, sentence):
    shown = balances.of(listed(found, of_intent, None), is_listed=found is not None)
    assert shown.sentence == sentence
    assert shown.are_zero == (sentence == balances.NOTHING)


UNPRICED = token(1, price_usd=None, balance_usd=None)
TOTALS = named(
    (
        "several",
        entry(group(token(), UNPRICED, token(0)), group(token(), address=DELIVERY, chain_id=BASE)),
        (Decimal("159.424690"), "$159.42", "2 of 3 tokens priced"),
    ),
    ("none with a price", entry(group(UNPRICED)), (Decimal(0), "no price", "")),
    (
        "a price of 0 counts and adds nothing",
        entry(group(token(), token(price_usd=Decimal(0), balance_usd=None))),
        (Decimal("79.712345"), "$79.71", ""),
    ),
    ("an empty balance has no value", entry(group(token(0))), None),
)


@pytest.mark.parametrize(("found", "expected"), TOTALS)
def test_the_total_value_says_how_many_tokens_are_priced(found, expected):
    value = of(found).value
    assert (value and (value.usd, value.shown, value.rests_on)) == expected


HEARD = named(
    ("with a price", entry(group(token())), "Intent address balances: $79.71."),
    ("without a price", entry(group(UNPRICED)), "Intent address balances: funds without a USD price."),
    (
        "one of two with a price",
        entry(group(token(), UNPRICED)),
        "Intent address balances: $79.71, 1 of 2 tokens priced.",
    ),
    ("not counted", entry(group(token()), has=False), f"Intent address balances: $79.71. {balances.NOT_COUNTED}"),
    ("nothing", entry(has=False), balances.NOTHING),
)


@pytest.mark.parametrize(("found", "heard"), HEARD)
def test_balances_are_announced_in_one_line(found, heard):
    assert balances.heard(of(found)) == heard


def test_every_balance_is_listed_except_zero():
    unknown, priced = token(None), token(price_usd=Decimal(1))
    unpriced, worthless = token(price_usd=None, balance_usd=None), token(price_usd=Decimal(0), balance_usd=None)
    empty = token(0, balance_usd=Decimal(0))
    found = listed(entry(group(empty, priced, unpriced), group(worthless, empty, unknown, address=DELIVERY)))
    said = [holding.said for holding in balances.holdings(found)]
    assert said == ["$79.71", "no price", "priced at $0", "amount not reported"]
