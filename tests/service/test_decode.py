"""Lossless JSON reading and writing; invalid JSON raises nothing but ValueError."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intents_ui.service import decode
from intents_ui.service.decode import Verbatim

TRICKY = st.lists(st.sampled_from(["intent", '"', "\\", ":", ",", "{", "}", " ", "x", "\u0069"]), max_size=5).map(
    "".join
)
NAMED = st.recursive(
    st.integers(0, 9) | st.floats(allow_nan=False, allow_infinity=False) | TRICKY | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TRICKY, inner, max_size=3),
    max_leaves=8,
)


def test_nesting_has_a_limit():
    assert decode.read("[" * 64 + "]" * 64)
    for text in ("[" * 65 + "]" * 65, '{"a":' * 100_000 + "1" + "}" * 100_000):
        with pytest.raises(ValueError, match=r"."):
            decode.read(text)


@pytest.mark.parametrize("text", ['{"a":1,"a" :2}', '{"a":1,"\\u0061":2}', '{"x":{"a":1,"a":2},"y":"\\":"}'])
def test_a_key_that_is_there_twice_is_rejected(text):
    with pytest.raises(ValueError, match="twice"):
        decode.read(text)


def test_a_number_with_thousands_of_digits_stays_text():
    assert decode.read("9" * 5_000) == "9" * 5_000


def test_members_are_extracted_byte_for_byte():
    text = '\n{ "a" : {"fee": 1.50,\t"x":[1,  2]} , "b\\u0041":-0.0 }'
    assert decode.members(text) == {"a": '{"fee": 1.50,\t"x":[1,  2]}', "bA": "-0.0"}


@pytest.mark.parametrize(
    "text",
    [
        '{"a":{"intent":1},"intent":2}',
        '{"intent":2,"a":[{"intent":1}]}',
        '{"intent": 2 , "a": "\\"intent\\":1"}',
        '{"intent":2,"a":"intent"}',
        r'{"intent": 2, "x\"intent": {"forged":1}}',
        r'{"x\"intent": {"forged":1}, "intent": 2}',
        r'{"intent": 2, "{\"intent" : {"forged":1} }',
        r'{"\u0069ntent": 2, "x\"intent": {"forged":1}}',
        r'{"intent": 2, "x\\\"intent": {"forged":1}}',
    ],
)
def test_a_member_is_not_mistaken_for_another_one(text):
    assert decode.member(text, "intent") == "2"


@given(st.dictionaries(TRICKY | st.just("intent"), NAMED, max_size=4), st.sampled_from([None, 1]), st.booleans())
def test_extraction_finds_the_same_members_as_a_parser(document, indent, ascii_only):
    text = json.dumps(document, indent=indent, ensure_ascii=ascii_only)
    parts = decode.members(text)
    assert parts.keys() == document.keys()
    for name in {*document, "intent"}:
        if name in document:
            assert parts[name] in text
            assert json.loads(parts[name]) == json.loads(decode.member(text, name)) == document[name]
            only = json.dumps({"intent": document[name]}, indent=indent, ensure_ascii=ascii_only)
            assert decode.only_member(only) == decode.member(only, "intent")
        else:
            with pytest.raises(KeyError):
                decode.member(text, name)


def test_requests_write_large_integers_as_text_and_verbatim_text_unchanged():
    assert decode.write({"a": 2**53 - 1, "b": 2**53, "c": [True, None], "intent": Verbatim('{ "fee":1.50}')}) == (
        b'{"a":9007199254740991,"b":"9007199254740992","c":[true,null],"intent":{ "fee":1.50}}'
    )
