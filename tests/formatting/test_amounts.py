from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intents_ui.formatting import amounts
from intents_ui.tokens import prices
from tests.transfers.builders import named

SHORT = named(
    ("round", 5_000_000_000, 6, "5,000.00"),
    ("half up", 1_234_565, 6, "1.23457"),
    ("less than half", 1_234_564, 6, "1.23456"),
    ("rounded to the next whole", 1_999_999, 6, "2.00"),
    ("rounded to the next power of ten", 999_999_999, 6, "1,000.00"),
    ("rounded up to one", 9_999_999, 7, "1.00"),
    ("six significant", 1_247_912_345, 6, "1,247.91"),
    ("more than six before the point", 1_247_912_345_000, 6, "1,247,912.35"),
    ("more than six in all", 42_076, 6, "0.042076"),
    ("two decimals at least", 25 * 10**18, 18, "25.00"),
    ("below one", 5 * 10**17, 18, "0.50"),
    ("a millionth", 10**12, 18, "0.000001"),
    ("dust", 10**12 - 1, 18, "<0.000001"),
    ("small", 804 * 10**13, 18, "0.00804"),
    ("small and long", 80_412_345_678, 12, "0.0804123"),
    ("one wei", 1, 18, "<0.000001"),
    ("giant", 10**30, 18, "1,000,000,000,000.00"),
    ("nothing", 0, 6, "0"),
    ("no decimals", 12_345, 0, "12,345"),
    ("one decimal", 50, 1, "5.0"),
    ("most decimals", 10**71, 77, "0.000001"),
    ("below zero", -1_999_996_000, 6, "-2,000.00"),
)


@pytest.mark.parametrize(("value", "decimals", "short"), SHORT)
def test_an_amount_has_a_short_form(value, decimals, short):
    assert amounts.amount(value, decimals=decimals).short == short


def test_an_amount_has_three_forms():
    shown = amounts.amount(1_247_912_345, decimals=6, symbol="USDC")
    assert str(shown) == "1,247.91 USDC"
    assert shown.full == "1247.912345"
    assert shown.base_units == "1247912345"
    assert not shown.exact
    assert (shown.in_words, shown.in_words.exact) == ("1,247.91 USDC", "1,247.912345 USDC")


def test_a_short_form_with_every_digit_is_exact():
    assert amounts.amount(5_000_000_000, decimals=6).exact


@pytest.mark.parametrize("decimals", [None, -1, 78, 10**9])
def test_decimals_are_never_assumed(decimals):
    assert str(amounts.amount(1_247_912_345, decimals=decimals, symbol="USDC")) == "1,247,912,345 base units of USDC"
    assert str(amounts.amount(7, decimals=decimals)) == "7 base units"


def test_an_unknown_amount_is_a_dash():
    assert str(amounts.amount(None, decimals=6)) == "—"
    assert str(amounts.amount(None, decimals=6, symbol="USDC")) == "— USDC"


def test_a_hostile_symbol_is_made_visible():
    assert str(amounts.amount(1, decimals=0, symbol="ETH\u202e")) == "1 ETH⟨U+202E⟩"


USD = named(
    ("thousands", "5000.12", "$5,000.12"),
    ("a float's last digit", "0.069999999999999999", "$0.07"),
    ("rounded like the amount beside it", "4994.519345", "$4,994.52"),
    ("half up", "5.525", "$5.53"),
    ("half up below zero", "-4994.515", "-$4,994.52"),
    ("less than a cent", "3.1e-15", "<$0.01"),
    ("less than half a cent", "0.0049", "<$0.01"),
    ("almost a cent", "0.0099", "$0.01"),
    ("one cent", "0.01", "$0.01"),
    ("nothing", "0", "$0.00"),
    ("exponent", "1e+12", "$1,000,000,000,000.00"),
    ("more digits than the usual context", "1e+40", "$10" + ",000" * 13 + ".00"),
    ("below zero", "-12.5", "-$12.50"),
    ("a little below zero", "-0.001", "-<$0.01"),
)


@pytest.mark.parametrize(("value", "shown"), USD)
def test_usd_amounts_are_rounded_to_cents(value, shown):
    assert amounts.usd(Decimal(value)) == shown


@given(st.integers(10**9, 10**18))
def test_a_stablecoin_and_its_usd_value_show_the_same_cents(value):
    assert amounts.usd(Decimal(value).scaleb(-6)) == f"${amounts.amount(value, decimals=6).short}"


FEES = {
    "5.527422": "$5.52742",
    "0.069999999999999999": "$0.07",
    "0.0312345678": "$0.0312346",
    "3.1e-15": "$0.0000000000000031",
    "0": "$0.00",
    "-12.5": "-$12.50",
}


@pytest.mark.parametrize(("value", "shown"), FEES.items())
def test_fees_have_six_significant_digits(value, shown):
    assert amounts.fee(Decimal(value)) == shown
    assert Decimal(amounts.fee(Decimal(value)).exact.replace("$", "")) == Decimal(value)


def test_unknown_usd_is_a_dash():
    assert amounts.usd(None) == amounts.fee(None) == amounts.usd_full(None) == "—"


def test_full_usd_amounts_have_every_digit_and_no_exponent():
    assert amounts.usd_full(Decimal("3.1e-15")) == "$0.0000000000000031"
    assert amounts.usd_full(Decimal(0)) == "$0.00"
    assert amounts.usd_full(Decimal("0.5")) == "$0.50"
    assert amounts.usd_full(Decimal("-1e+3")) == "-$1000.00"


PERCENT = named(
    ("percent already", amounts.percent, "-0.31", "-0.31%"),
    ("four decimals", amounts.percent, "12.345678", "12.3457%"),
    ("tiny", amounts.percent, "1e-7", "<0.0001%"),
    ("the smallest that is written out", amounts.percent, "0.0001", "0.0001%"),
    ("tiny, below zero", amounts.percent, "-1e-7", "-<0.0001%"),
    ("none", amounts.percent, "0.00", "0%"),
    ("fraction", amounts.fraction, "0.005", "0.5%"),
    ("fraction of one", amounts.fraction, "1", "100%"),
    ("fraction with more digits than the usual context", amounts.fraction, "1e+30", "100" + ",000" * 10 + "%"),
)


@pytest.mark.parametrize(("form", "value", "shown"), PERCENT)
def test_percent(form, value, shown):
    assert form(Decimal(value)) == shown
    assert form(None) == "—"


@given(st.integers(-(2**256), 2**256), st.integers(0, 77))
def test_the_full_value_gives_back_the_base_units(value, decimals):
    full = amounts.plain(value, decimals=decimals)
    whole, _, fraction = full.lstrip("-").partition(".")
    assert int(whole + fraction.ljust(decimals, "0")) == abs(value)
    assert full.startswith("-") == (value < 0)


@given(st.integers(0, 2**256), st.integers(0, 77))
def test_the_short_form_is_near_the_amount_and_never_zero(value, decimals):
    shown = amounts.amount(value, decimals=decimals)
    short, full = Decimal(shown.short.replace(",", "").removeprefix("<")), Decimal(shown.full)
    assert shown.short.startswith("<") == (0 < full < short)
    if shown.short.startswith("<"):
        return
    assert abs(short - full) <= Decimal(5).scaleb(full.adjusted() - 6)
    assert (short == 0) == (value == 0)
    assert shown.exact == (short == full)
    assert "e" not in shown.short.lower()


def test_a_sum_is_exact_to_the_last_digit():
    values = [Decimal("1e60"), Decimal("1e-60"), Decimal("0.1"), Decimal("-0.1")]
    assert amounts.total(values) == Decimal("1" + "0" * 60 + "." + "0" * 59 + "1")
    assert amounts.total([]) == 0


PRICES = {"3100": "$3,100.00", "1.0003": "$1.0003", "12.3456789": "$12.3457", "0.00001234": "$0.00001234"}


@pytest.mark.parametrize(("price", "shown"), [*PRICES.items(), ("1e-20", "<$0.000000000001"), ("-12.5", "-$12.50")])
def test_a_price_has_the_digits_that_matter(price, shown):
    assert prices.per_token(Decimal(price)) == shown


NUMBERS = named(
    ("grouped", 1_247_912, "1,247,912"),
    ("more digits than a float has", 2**53 + 1, "9,007,199,254,740,993"),
    ("an exponent", Decimal("1E+3"), "1,000"),
    ("trailing zeros", Decimal("12.50"), "12.5"),
    ("zeros that count", Decimal("100.00"), "100"),
    ("below zero", Decimal("-0.5"), "-0.5"),
    ("zero below zero", Decimal("-0.00"), "0"),
)


@pytest.mark.parametrize(("value", "shown"), NUMBERS)
def test_a_number_has_every_digit_that_counts(value, shown):
    assert amounts.number(value) == shown


def test_a_warning_follows_the_amount_in_a_sentence():
    shown = amounts.Amount("5.00", "5", "5000000", "USDC", warning="unlisted")
    assert str(shown) == shown.in_full == "5.00 USDC (unlisted)"


@pytest.mark.parametrize(
    ("part", "whole", "shown"),
    [
        (1204, 1228, "98.0%"),
        (0, 20, "0%"),
        (20, 20, "100%"),
        (99_999, 100_000, "99.9%"),
        (1, 100_000, "0.1%"),
        (1, 3, "33.3%"),
        (2, 3, "66.7%"),
        (1, 2, "50.0%"),
    ],
)
def test_a_share_has_one_decimal(part: int, whole: int, shown: str) -> None:
    assert amounts.share(part, whole) == shown


@given(st.integers(1, 10**9).flatmap(lambda whole: st.tuples(st.integers(0, whole), st.just(whole))))
def test_only_all_is_all_and_only_nothing_is_nothing(found: tuple[int, int]) -> None:
    part, whole = found
    shown = amounts.share(part, whole)
    assert (shown == "100%") is (part == whole)
    assert (shown == "0%") is (part == 0)
    assert abs(float(shown[:-1]) - 100 * part / whole) <= 0.1


def test_an_interval_is_rounded_outward() -> None:
    assert amounts.shares_between(0.97119, 0.98691) == "97.1\u201398.7%"
    assert amounts.shares_between(0.0, 1.0) == "0\u2013100%"


@pytest.mark.parametrize(
    ("share", "shown"), [(0.02, "2 of 100"), (0.5, "50 of 100"), (0.002, "1 of 500"), (0.0, "almost none")]
)
def test_what_is_usual_is_a_count(share: float, shown: str) -> None:
    assert amounts.of_hundred(share) == shown
