from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intents_ui.service.models import (
    ChainInfo,
    DepositTransaction,
    GasFee,
    Intent,
    IntentFees,
    NativeCurrency,
    ProviderFee,
    TokenMetadata,
)
from intents_ui.transfers import comparison as display
from tests.transfers import builders
from tests.transfers.builders import ARBITRUM, BASE, CATALOGUE, ETHEREUM, INTENT_ID, USDC, Catalogue, named


def gas(chain_id, usd, **members):
    return GasFee(chain_id=chain_id, total_fee_usd=None if usd is None else Decimal(usd), **members)


def usd(text):
    return Decimal(text)


RECEIVED = IntentFees(
    origin_gas=gas(ETHEREUM, "0.91"),
    destination_gas=gas(ARBITRUM, "0.40"),
    provider=ProviderFee(quote_provider="CCTP"),
    service_fee_usd=usd("0.44"),
    total_fee_usd=usd("1.75"),
)


def fees(received, *, using=CATALOGUE, **members):
    return display.Fees(builders.at(Intent(intent_id=INTENT_ID, fees=received, **members), names=using))


def labels(found):
    return [(part.label, part.shown) for part in found.parts]


def test_parts_and_total():
    found = fees(RECEIVED)
    assert (found.shown, found.is_stated) == ("$1.75", True)
    assert labels(found) == [
        ("Network fee (Ethereum)", "$0.91"),
        ("Network fee (Arbitrum)", "$0.40"),
        ("Service fee", "$0.44"),
    ]
    assert found.bar == [(0, usd("52.0")), (usd("52.0"), usd("22.9")), (usd("74.9"), usd("25.1"))]
    assert (found.adds_up, found.sentence) == (True, "")


@pytest.mark.parametrize(
    ("total", "sentence", "adds_up"),
    named(
        ("a part is missing", "2.10", "Fees add up to $1.75, $0.35 less than the quoted total.", False),
        ("more parts than the total", "1.72", "Fees add up to $1.75, $0.03 more than the quoted total.", False),
        ("by cents, all rounded", "1.73", "Fees add up to $1.75, $0.02 more than the quoted total.", True),
        ("no total", None, "The service reported no total. This is the sum of the fees listed.", True),
    ),
)
def test_the_gap_between_the_parts_and_the_total_is_stated(total, sentence, adds_up):
    found = fees(RECEIVED.model_copy(update={"total_fee_usd": None if total is None else usd(total)}))
    assert (found.sentence, found.adds_up) == (sentence, adds_up)


def test_network_fees_are_summed_if_reported_as_one():
    found = fees(IntentFees(gas_fee_usd=usd("1.31"), collector_fee_usd=usd("0.10")))
    assert labels(found) == [("Network fees", "$1.31"), ("Collector fee", "$0.10")]


def test_the_fee_of_an_unnamed_provider_has_no_name():
    found = fees(IntentFees(provider=ProviderFee(quote_provider_fee_usd=usd("0.20"))))
    assert labels(found) == [("Bridge fee", "$0.20")]


def test_missing_fees_are_unknown_not_zero():
    assert fees(None).shown == fees(IntentFees()).shown == "—"
    assert fees(None).sentence == fees(IntentFees()).sentence == ""


def test_a_fee_without_usd_is_shown_and_no_usd_total_computed():
    received = IntentFees(gas_fee_usd=usd("1"), service_fee_total=5, fee_token_address=USDC, total_fee_usd=usd("2"))
    found = fees(received)
    assert [(part.label, part.shown) for part in found.parts] == [("Network fees", "$1.00"), ("Service fee", "—")]
    unchecked = "Some fees have no USD value, so the total can't be checked."
    assert (found.shown, found.adds_up, found.sentence, found.bar) == ("$2.00", True, unchecked, [])
    without = fees(received.model_copy(update={"total_fee_usd": None}))
    assert (without.shown, without.sentence) == ("—", "Some fees have no USD value, so no total is shown.")


def test_the_deposits_decimals_are_used_for_an_unlisted_token():
    asked = DepositTransaction(token_address=USDC, chain_id=ARBITRUM, decimals=8)
    received = IntentFees(fee_token_address=USDC, total_fee_amount=150_000_000)
    found = fees(received, origin_chain_id=ARBITRUM, deposit_transaction=asked)
    assert found.in_token == "1.50"
    described = builders.intent(fees=received, deposit_transaction=asked)
    in_token = display.Fees(builders.at(described, builders.receipt())).in_token
    assert in_token.startswith("150.00 USDC (decimals differ, 150,000,000 base units")  # the receipt has 6


class Coins(Catalogue):
    def chain(self, chain_id):
        coin = NativeCurrency(symbol="POL", decimals=18) if chain_id == BASE else None
        return ChainInfo(id=chain_id, name="Somewhere", native_currency=coin)


def test_a_network_fee_is_in_the_native_token_of_its_chain():
    received = IntentFees(
        origin_gas=gas(BASE, "1", total_fee_amount=2**64 + 1),
        destination_gas=gas(ARBITRUM, "1", total_fee_amount=5, native_token_symbol="ETH"),
    )
    found = fees(received, using=Coins())
    assert found.parts[0].in_token.whole == "18.446744073709551617 POL"
    assert [part.in_token for part in found.parts] == [
        "18.4467 POL",
        "5 base units of ETH",
    ]


PARTS = ("gas_fee_usd", "provider_fee_usd", "service_fee_usd", "collector_fee_usd")


@settings(deadline=None)
@given(st.lists(st.integers(0, 2**256 - 1), min_size=4, max_size=4), st.integers(0, 2**256 - 1))
def test_amounts_and_difference_make_the_total_to_the_last_unit(values, total):
    names = ("gas_fee_total", "provider_fee_total", "service_fee_total", "collector_fee_total")
    received = IntentFees(**dict(zip(names, values, strict=True)), total_fee_amount=total, fee_token_address=USDC)
    known = TokenMetadata(chain_id=ARBITRUM, token_address=USDC, symbol="FEE", decimals=None)
    receipt = builders.receipt(summary=builders.summary(origin_token_metadata=known))
    sentence = display.Fees(builders.at(builders.intent(fees=received), receipt)).sentence
    if sum(values) == total:
        assert sentence == "Some fees have no USD value, so no total is shown."
    else:
        listed, apart = (f"{units:,} base units of FEE" for units in (sum(values), abs(total - sum(values))))
        more = "less" if total > sum(values) else "more"
        assert f"add up to {listed}, {apart} {more} than the quoted total." in sentence


@settings(deadline=None)
@given(st.lists(st.decimals(0, 10**12, places=6), min_size=1, max_size=4))
def test_a_bar_is_full_and_nothing_overlaps(values):
    until = Decimal(0)
    for start, width in fees(IntentFees(**dict(zip(PARTS, values, strict=False)))).bar:
        assert start == until
        assert width >= 0
        until += width
    assert until == (100 if any(values) else 0)
