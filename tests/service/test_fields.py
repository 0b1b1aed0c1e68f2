"""Every notation of a number or a time, and the value it is read as."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from typing import Any
from urllib.parse import unquote

import pytest
from django.urls import resolve, reverse
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from intents_ui.service import decode
from intents_ui.service.fields import (
    ChainId,
    Cursor,
    Decimals,
    Figure,
    Flag,
    Identifier,
    IntentId,
    Text,
    Timestamp,
    UInt256,
)

MOST = 2**256 - 1
adapter = cache(TypeAdapter)


def read(kind: Any, value: object) -> Any:
    return adapter(kind).validate_python(value)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("7845", 7845),
        ('"7845"', 7845),
        ('"01"', 1),
        ("-0", 0),
        ("1e18", 10**18),
        ('"1E+18"', 10**18),
        ("1.50e2", 150),
        ("12.000", 12),
        ("5.0", 5),
        ("0e999999999", 0),
        (str(2**53 + 1), 2**53 + 1),
        (str(MOST), MOST),
        (f'"{MOST}"', MOST),
    ],
)
def test_an_amount_is_exact_in_every_notation(written, meant):
    assert read(UInt256, decode.read(written)) == meant


@given(st.integers(0, MOST))
def test_every_amount_round_trips_digit_for_digit(amount):
    assert read(UInt256, decode.read(str(amount))) == read(UInt256, decode.read(f'"{amount}"')) == amount


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**30), max_value=10**30, places=20))
def test_every_decimal_round_trips_digit_for_digit(figure):
    written = str(figure)
    assert read(Figure, decode.read(written)) == read(Figure, decode.read(f'"{written}"')) == figure


INVALID = {
    "an amount": (
        UInt256,
        ["1.5", "-1", '"-1"', str(MOST + 1), "1e78", "1E+400", "1e1000000", '"1e1000000"', "1e1000000000"],
        ["1e-1000000", "1e99999999999999999999", "9" * 5_000, f'"{"9" * 5_000}"', "true", '"0x10"', '"½"', '"1_000"'],
        ['"١٢"', '" 1"', "[]", "{}"],
    ),
    "a decimal": (
        Figure,
        ["1" + "0" * 91, "1e91", "1e-91", "9" * 81, "9" * 82, f"9.{'9' * 80}", '"NaN"', '"Infinity"', "true"],
        ["1e1000000000", "[]"],
    ),
    "token decimals": (Decimals, ["-1", "78", "255", "1000000000"]),
    "a chain ID": (ChainId, [str(2**64), f'"{2**64}"']),
    "a cursor": (Cursor, [str(2**63), f'"{2**63}"']),
}


@pytest.mark.parametrize("kind", INVALID)
def test_invalid_numbers_are_rejected(kind):
    as_a, *lists = INVALID[kind]
    for written in (each for one in lists for each in one):
        with pytest.raises(ValueError, match=r"."):
            read(as_a, decode.read(written))


def test_numbers_up_to_their_limit_are_read():
    for kind, limit in ((ChainId, 2**64), (Cursor, 2**63), (Decimals, 78), (UInt256, 2**256)):
        for number in (0, 18, limit - 1):
            assert read(kind, number) == read(kind, str(number)) == number


@pytest.mark.parametrize(
    ("written", "figure"),
    [
        ("1e90", Decimal("1e90")),
        ("1e-90", Decimal("1e-90")),
        ("9" * 80, Decimal("9" * 80)),
        (f"0.{'9' * 80}", Decimal(f"0.{'9' * 80}")),
        (f"9.{'9' * 79}", Decimal(f"9.{'9' * 79}")),
        ("-1.5", Decimal("-1.5")),
        (1.5, Decimal("1.5")),
        ("0e9999", Decimal(0)),
    ],
    ids=str,
)
def test_a_decimal_may_have_80_digits_and_an_exponent_of_90(written, figure):
    found = read(Figure, written)
    assert found == figure
    assert found.as_tuple() == figure.as_tuple()


NOON = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2026-11-21T12:00:00Z", NOON),
        ("2026-11-21t12:00:00z", NOON),
        ("2026-11-21 12:00:00", NOON),
        ("2026-11-21T12:00:00+00:00", NOON),
        ("2026-11-21T17:30:00+05:30", NOON),
        ("2026-11-21T07:00:00-0500", NOON),
        ("2026-11-21T12:00:00.5Z", NOON.replace(microsecond=500_000)),
        ("2026-11-21T12:00:00.123456789Z", NOON.replace(microsecond=123_456)),
        (1_795_262_400, NOON),
        ("1795262400", NOON),
        (1_795_262_400_000, NOON),
        (Decimal("1795262400.5"), NOON.replace(microsecond=500_000)),
        (NOON, NOON),
        (NOON.replace(tzinfo=None), NOON),
        ("2000-01-01T00:00:00Z", datetime(2000, 1, 1, tzinfo=UTC)),
        ("2200-12-31T23:59:59Z", datetime(2200, 12, 31, 23, 59, 59, tzinfo=UTC)),
        ("0001-01-01T00:00:00Z", None),
        ("0001-01-01T00:00:00.000+02:00", None),
        (0, None),
    ],
)
def test_a_time_is_read_in_every_known_format(written, meant):
    assert read(Timestamp, written) == meant


@pytest.mark.parametrize(
    "written",
    [
        "tomorrow",
        "2026-02-30T00:00:00Z",
        "2026-11-21",
        "2026-11-21T25:00:00Z",
        "9999-12-31T23:59:59-12:00",
        "9999-12-31T23:59:59Z",
        "2201-01-01T00:00:00Z",
        "1999-12-31T23:59:59Z",
        datetime(9999, 1, 1, tzinfo=UTC),
        1,
        10**11 - 1,
        10**11,
        -1,
        10**18,
        "0000-01-01T00:00:00Z",
        True,
        "1e80",
        [],
        "2026-11-21T12:00:00+99:00",
    ],
)
def test_invalid_times_are_rejected(written):
    with pytest.raises(ValueError, match=r"."):
        read(Timestamp, written)


@given(st.one_of(st.text(), st.integers(), st.floats(), st.decimals(), st.booleans(), st.none(), st.lists(st.none())))
def test_no_input_raises_anything_but_value_error(value):
    for kind in (UInt256, Figure, Timestamp, Decimals, Text, Identifier, Flag, IntentId, ChainId, Cursor):
        try:
            read(kind, value)
        except ValueError:
            continue


def test_a_lone_surrogate_is_replaced_and_the_rest_of_the_text_kept():
    text = read(Text, json.loads('"a\\ud800b\\u0000\\u202e"'))
    assert text == "a\ufffdb\x00\u202e"
    assert text.encode()


@given(st.text(max_size=210) | st.from_regex(r"[/ .a-c%?#]{0,8}", fullmatch=True))
def test_every_accepted_intent_id_has_a_url(written):
    try:
        intent_id = read(IntentId, written)
    except ValueError:
        return
    assert resolve(unquote(reverse("intent", args=[intent_id]))).kwargs == {"intent_id": intent_id}


@given(st.integers(0, 2**70) | st.just(2**64))
def test_every_chain_of_a_list_has_a_url(number):
    try:
        chain_id = read(ChainId, number)
    except ValueError:
        return
    assert resolve(reverse("chain", args=[chain_id])).kwargs == {"chain_id": str(number)}


def test_ids_have_at_most_200_characters():
    for kind, problem in ((IntentId, "an ID that doesn.t fit a URL"), (Identifier, "longer than")):
        for length in (1, 199, 200):
            assert read(kind, "x" * length) == "x" * length
        with pytest.raises(ValueError, match=problem):
            read(kind, "x" * 201)
        with pytest.raises(ValueError, match="not a text"):
            read(kind, 5)
