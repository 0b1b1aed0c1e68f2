from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intents_ui.formatting import amounts
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
    assert (shown.in_words, shown.in_words.whole) == ("1,247.91 USDC", "1,247.912345 USDC")


@pytest.mark.parametrize("decimals", [None, -1, 78, 10**9])
def test_decimals_are_never_assumed(decimals):
    assert str(amounts.amount(1_247_912_345, decimals=decimals, symbol="USDC")) == "1,247,912,345 base units of USDC"
    assert str(amounts.amount(7, decimals=decimals)) == "7 base units"


def test_an_amount_may_be_unknown_and_its_symbol_hostile():
    assert str(amounts.amount(None, decimals=6)) == "—"
    assert str(amounts.amount(None, decimals=6, symbol="USDC")) == "— USDC"
    assert str(amounts.amount(1, decimals=0, symbol="ETH\u202e")) == "1 ETH⟨U+202E⟩"


FORMATTED = named(
    ("USD: thousands", amounts.usd, "5000.12", "$5,000.12"),
    ("USD: a float's last digit", amounts.usd, "0.069999999999999999", "$0.07"),
    ("USD: rounded like the amount beside it", amounts.usd, "4994.519345", "$4,994.52"),
    ("USD: half up", amounts.usd, "5.525", "$5.53"),
    ("USD: half up below zero", amounts.usd, "-4994.515", "-$4,994.52"),
    ("USD: less than a cent", amounts.usd, "3.1e-15", "<$0.01"),
    ("USD: less than half a cent", amounts.usd, "0.0049", "<$0.01"),
    ("USD: almost a cent", amounts.usd, "0.0099", "$0.01"),
    ("USD: one cent", amounts.usd, "0.01", "$0.01"),
    ("USD: nothing", amounts.usd, "0", "$0.00"),
    ("USD: exponent", amounts.usd, "1e+12", "$1,000,000,000,000.00"),
    ("USD: more digits than the usual context", amounts.usd, "1e+40", "$10" + ",000" * 13 + ".00"),
    ("USD: below zero", amounts.usd, "-12.5", "-$12.50"),
    ("USD: a little below zero", amounts.usd, "-0.001", "-<$0.01"),
    ("full USD: no exponent", amounts.usd_full, "3.1e-15", "$0.0000000000000031"),
    ("full USD: two decimals", amounts.usd_full, "0.5", "$0.50"),
    ("full USD: nothing", amounts.usd_full, "0", "$0.00"),
    ("full USD: ungrouped", amounts.usd_full, "-1e+3", "-$1000.00"),
    ("fee: six significant digits", amounts.fee, "5.527422", "$5.52742"),
    ("fee: a float's last digit", amounts.fee, "0.069999999999999999", "$0.07"),
    ("fee: below a cent", amounts.fee, "0.0312345678", "$0.0312346"),
    ("fee: tiny", amounts.fee, "3.1e-15", "$0.0000000000000031"),
    ("fee: nothing", amounts.fee, "0", "$0.00"),
    ("fee: below zero", amounts.fee, "-12.5", "-$12.50"),
    ("percent already", amounts.percent, "-0.31", "-0.31%"),
    ("percent: four decimals", amounts.percent, "12.345678", "12.3457%"),
    ("percent: tiny", amounts.percent, "1e-7", "<0.0001%"),
    ("percent: the smallest that is written out", amounts.percent, "0.0001", "0.0001%"),
    ("percent: tiny, below zero", amounts.percent, "-1e-7", "-<0.0001%"),
    ("percent: none", amounts.percent, "0.00", "0%"),
    ("fraction", amounts.fraction, "0.005", "0.5%"),
    ("fraction of one", amounts.fraction, "1", "100%"),
    ("fraction with more digits than the usual context", amounts.fraction, "1e+30", "100" + ",000" * 10 + "%"),
    ("number: grouped", amounts.number, "1247912", "1,247,912"),
    ("number: an exponent", amounts.number, "1E+3", "1,000"),
    ("number: trailing zeros", amounts.number, "12.50", "12.5"),
    ("number: zeros that count", amounts.number, "100.00", "100"),
    ("number: below zero", amounts.number, "-0.5", "-0.5"),
    ("number: zero below zero", amounts.number, "-0.00", "0"),
)


@pytest.mark.parametrize(("form", "value", "shown"), FORMATTED)
def test_a_decimal_has_a_form_for_its_meaning(form, value, shown):
    assert form(Decimal(value)) == shown
    if form is amounts.fee:
        assert Decimal(form(Decimal(value)).whole.replace("$", "")) == Decimal(value)


def test_a_whole_number_has_more_digits_than_a_float():
    assert amounts.number(2**53 + 1) == "9,007,199,254,740,993"


def test_an_unknown_value_is_a_dash():
    for form in (amounts.usd, amounts.usd_full, amounts.fee, amounts.percent, amounts.fraction):
        assert form(None) == "—"


@given(st.integers(10**9, 10**18))
def test_a_stablecoin_and_its_usd_value_show_the_same_cents(value):
    assert amounts.usd(Decimal(value).scaleb(-6)) == f"${amounts.amount(value, decimals=6).short}"


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


def test_a_warning_follows_the_amount_in_a_sentence():
    shown = amounts.Amount("5.00", "5", "5000000", "USDC", warning="unlisted")
    assert str(shown) == shown.in_full == "5.00 USDC (unlisted)"


SHARES = {
    (1204, 1228): "98.0%",
    (0, 20): "0%",
    (20, 20): "100%",
    (99_999, 100_000): "99.9%",
    (1, 100_000): "0.1%",
    (1, 3): "33.3%",
    (2, 3): "66.7%",
    (1, 2): "50.0%",
}


def test_a_share_has_one_decimal() -> None:
    assert {(part, whole): amounts.share(part, whole) for part, whole in SHARES} == SHARES


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


def test_what_is_usual_is_a_count() -> None:
    shown = {0.02: "2 of 100", 0.5: "50 of 100", 0.002: "1 of 500", 0.0: "almost none"}
    assert {share: amounts.of_hundred(share) for share in shown} == shown
