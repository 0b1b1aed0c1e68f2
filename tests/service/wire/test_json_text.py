"""Lossless JSON reading and writing; invalid JSON raises nothing but ValueError."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intents_ui.service.wire import json_text
from intents_ui.service.wire.json_text import Verbatim

DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nope",
        '{"a":1',
        "\ufeff{}",
        "{} {}",
        '{"a":NaN}',
        "[Infinity]",
        "-Infinity",
        '{"a":1,"a":2}',
        "{'a':1}",
        "[" * 65 + "]" * 65,
        "[" * 100_000,
        '{"a":' * 100_000 + "1" + "}" * 100_000,
    ],
    ids=lambda text: text[:16],
)
def test_ambiguous_json_is_rejected(text):
    with pytest.raises(ValueError, match=r"."):
        json_text.read(text)


@pytest.mark.parametrize("spoilt", ['{"x":{"a":1,"a":2},"y":"\\":"}', '{"a":1,"a" :2}', '{"a":1,"\\u0061":2}'])
def test_duplicate_keys_are_detected_in_any_spelling(spoilt):
    with pytest.raises(ValueError, match="twice"):
        json_text.read(spoilt)


def test_nesting_up_to_the_limit_is_read():
    assert json_text.read("[" * 64 + "]" * 64)


def test_a_number_with_thousands_of_digits_stays_text():
    assert json_text.read("9" * 5_000) == "9" * 5_000


@given(st.dictionaries(st.text(), DOCUMENTS), st.sampled_from([None, 1, "\t"]), st.booleans())
def test_each_member_keeps_its_exact_source_text(document, indent, ascii_only):
    text = json.dumps(document, indent=indent, ensure_ascii=ascii_only)
    members = json_text.members(text)
    assert members.keys() == document.keys()
    assert all(part in text and json.loads(part) == document[name] for name, part in members.items())
    assert all(json_text.member(text, name) == part for name, part in members.items() if "\\" not in name)


@pytest.mark.parametrize(
    "text",
    [
        '{"a":{"nextPage":1},"nextPage":2}',
        '{"nextPage":2,"a":{"nextPage":1}}',
        '{"nextPage":2,"a":[{"nextPage":1}]}',
        '{"nextPage": 2 , "a": "\\"nextPage\\":1"}',
        '{"nextPage":2,"a":"nextPage"}',
    ],
)
def test_a_nested_member_is_not_mistaken_for_one_of_the_same_name(text):
    assert json_text.member(text, "nextPage") == "2"


def test_a_member_is_extracted_byte_for_byte():
    text = '\n{ "a" : {"fee": 1.50,\t"x":[1,  2]} , "b\\u0041":-0.0 }'
    assert json_text.members(text) == {"a": '{"fee": 1.50,\t"x":[1,  2]}', "bA": "-0.0"}


def test_requests_write_large_integers_as_text_and_others_as_numbers():
    assert json_text.write({"a": 2**53 - 1, "b": 2**53, "c": [True, None]}) == (
        b'{"a":9007199254740991,"b":"9007199254740992","c":[true,null]}'
    )


def test_verbatim_text_is_sent_unchanged():
    assert json_text.write({"intent": Verbatim('{ "fee":1.50}')}) == b'{"intent":{ "fee":1.50}}'


TRICKY = st.lists(st.sampled_from(["intent", '"', "\\", ":", ",", "{", "}", " ", "x", "\u0069"]), max_size=5).map(
    "".join
)
NAMED = st.recursive(
    st.integers(0, 9) | TRICKY,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TRICKY, inner, max_size=3),
    max_leaves=8,
)


def pairs_once(pairs):
    """The strict reading of an object: a key that is there twice is refused."""
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


@pytest.mark.parametrize(
    "text",
    [
        r'{"intent": {"a":1}, "x\"intent": {"forged":1}}',
        r'{"x\"intent": {"forged":1}, "intent": {"a":1}}',
        r'{"intent": {"a":1}, ",\"intent": {"forged":1}}',
        r'{"intent": {"a":1}, "{\"intent" : {"forged":1} }',
        r'{"\u0069ntent": {"a":1}, "x\"intent": {"forged":1}}',
        r'{"intent": {"a":1}, "x\\\"intent": {"forged":1}}',
    ],
)
def test_a_member_with_the_same_name_ending_is_never_matched(text):
    assert json.loads(json_text.member(text, "intent")) == {"a": 1}


@given(st.dictionaries(TRICKY | st.just("intent"), NAMED, max_size=4), st.sampled_from([None, 1]), st.booleans())
def test_extraction_finds_the_same_member_as_a_strict_parser(document, indent, ascii_only):
    text = json.dumps(document, indent=indent, ensure_ascii=ascii_only)
    expected = json.loads(text, object_pairs_hook=pairs_once)
    json_text.read(text)
    for name in {*document, "intent"}:
        if name in expected:
            assert json.loads(json_text.member(text, name), object_pairs_hook=pairs_once) == expected[name]
        else:
            with pytest.raises(KeyError):
                json_text.member(text, name)


@pytest.mark.parametrize("second", ["intent", r"\u0069ntent"])
def test_a_duplicate_member_is_rejected_before_extraction(second):
    with pytest.raises(ValueError, match="twice"):
        json_text.read(f'{{"intent": 1, "{second}": 2}}')
