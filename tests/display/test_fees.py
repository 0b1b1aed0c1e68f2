from decimal import Decimal

from intents_ui.display import fees as display
from intents_ui.service.wire import GasFee, IntentFees, ProviderFee
from tests.display.builders import ARBITRUM, CATALOGUE, ETHEREUM


def gas(chain_id, usd):
    return GasFee(chain_id=chain_id, total_fee_usd=Decimal(usd))


RECEIVED = IntentFees(
    origin_gas=gas(ETHEREUM, "0.91"),
    destination_gas=gas(ARBITRUM, "0.40"),
    provider=ProviderFee(quote_provider="CCTP"),
    service_fee_usd=Decimal("0.44"),
    total_fee_usd=Decimal("1.75"),
)


def labels(fees):
    return [(part.label, part.shown) for part in fees.parts]


def test_parts_and_total():
    fees = display.fees(RECEIVED, using=CATALOGUE)
    assert fees.shown == "$1.75"
    assert labels(fees) == [("Gas on Ethereum", "$0.91"), ("Gas on Arbitrum", "$0.40"), ("Service", "$0.44")]
    assert [part.share for part in fees.parts] == [Decimal("52.0"), Decimal("22.9"), Decimal("25.1")]
    assert fees.adds_up is True


def test_a_total_that_the_parts_do_not_make():
    assert display.fees(RECEIVED.model_copy(update={"total_fee_usd": Decimal("2.10")})).adds_up is False


def test_without_a_total_the_parts_are_summed():
    fees = display.fees(RECEIVED.model_copy(update={"total_fee_usd": None}))
    assert (fees.shown, fees.adds_up) == ("$1.75", None)


def test_gas_in_one_sum():
    fees = display.fees(IntentFees(gas_fee_usd=Decimal("1.31"), collector_fee_usd=Decimal("0.10")))
    assert labels(fees) == [("Gas", "$1.31"), ("Collector", "$0.10")]


def test_a_provider_by_its_name_and_from_its_own_fee():
    provider = ProviderFee(quote_provider="LIFI", quote_provider_fee_usd=Decimal("0.20"))
    assert labels(display.fees(IntentFees(provider=provider))) == [("LI.FI", "$0.20")]


def test_no_fees_are_unknown_and_not_zero():
    assert display.fees(None).shown == display.fees(IntentFees()).shown == "—"


def test_a_discount_does_not_break_the_bar():
    fees = display.fees(IntentFees(gas_fee_usd=Decimal("1"), service_fee_usd=Decimal("-1")))
    assert [part.share for part in fees.parts] == [0, 0]


def test_a_negative_part_leaves_no_shares_to_draw():
    odd = display.fees(IntentFees(service_fee_usd=Decimal(10), collector_fee_usd=Decimal(-9), total_fee_usd=Decimal(1)))
    assert [part.share for part in odd.parts] == [0, 0]
    assert odd.adds_up
