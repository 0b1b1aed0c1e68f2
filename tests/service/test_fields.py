"""Every notation of a number or a time, and the value it is read as."""

import json
from datetime import datetime
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
from tests.tables import rows

MOST = 2**256 - 1
adapter = cache(TypeAdapter)


def read(kind: Any, value: object) -> Any:
    return adapter(kind).validate_python(value)


KINDS = {
    "amount": UInt256, "decimal": Figure, "token decimals": Decimals, "chain ID": ChainId, "cursor": Cursor,
    "time": Timestamp,
}  # fmt: skip


def meaning(kind: str, written: str) -> object:
    if kind == "time":
        return None if written == "none" else datetime.fromisoformat(written)
    return Decimal(written) if kind == "decimal" else int(written)


@pytest.mark.parametrize(("kind", "written", "meant"), rows(__file__, "notations"))
def test_a_value_is_exact_in_every_notation_or_invalid(kind, written, meant):
    if meant == "invalid":
        with pytest.raises(ValueError, match=r"."):
            read(KINDS[kind], decode.read(written))
        return
    found = read(KINDS[kind], decode.read(written))
    assert found == meaning(kind, meant)
    if kind == "decimal":
        assert found.as_tuple() == Decimal(meant).as_tuple()


@pytest.mark.parametrize("written", ["9" * 5_000, f'"{"9" * 5_000}"'], ids=["number", "text"])
def test_thousands_of_digits_are_no_amount(written):
    with pytest.raises(ValueError, match=r"."):
        read(UInt256, decode.read(written))


@given(st.integers(0, MOST))
def test_every_amount_round_trips_digit_for_digit(amount):
    assert read(UInt256, decode.read(str(amount))) == read(UInt256, decode.read(f'"{amount}"')) == amount


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**30), max_value=10**30, places=20))
def test_every_decimal_round_trips_digit_for_digit(figure):
    written = str(figure)
    assert read(Figure, decode.read(written)) == read(Figure, decode.read(f'"{written}"')) == figure


def test_numbers_up_to_their_limit_are_read():
    for kind, limit in ((ChainId, 2**64), (Cursor, 2**63), (Decimals, 78), (UInt256, 2**256)):
        for number in (0, 18, limit - 1):
            assert read(kind, number) == read(kind, str(number)) == number


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
