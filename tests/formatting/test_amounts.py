from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intents_ui.formatting import amounts
from tests.tables import rows


@pytest.mark.parametrize(("name", "value", "decimals", "short"), rows(__file__, "amounts"))
def test_an_amount_has_a_short_form(name, value, decimals, short):
    assert amounts.amount(int(value), decimals=int(decimals)).short == short


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


@pytest.mark.parametrize(("form", "name", "value", "shown"), rows(__file__, "decimals"))
def test_a_decimal_has_a_form_for_its_meaning(form, name, value, shown):
    told = getattr(amounts, form)(Decimal(value))
    assert told == shown
    if form == "fee":
        assert Decimal(told.whole.replace("$", "")) == Decimal(value)


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
