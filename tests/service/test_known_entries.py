"""History entries that come again in other responses."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intents_ui.service import decode
from intents_ui.service.models import HistoryAnswer
from intents_ui.service.operations import Answer, get_intent_history

A: dict[str, Any] = {"intentId": "0xa", "status": "SUCCEEDED", "updatedAt": "2026-11-30T10:00:00Z"}
B: dict[str, Any] = {"intentId": "0xb", "status": "EXECUTING", "updatedAt": "2026-11-30T10:00:00Z"}
COMPACT = (",", ":")


def read(*rows: Mapping[str, Any], is_cached: bool = True, written: Any = COMPACT, **filters: Any) -> HistoryAnswer:
    text = json.dumps({"intents": list(rows), "nextPage": None}, separators=written)
    call = replace(get_intent_history(**filters), is_cached=is_cached)
    document, texts = call.parse(text)
    return call.read(Answer(document, text, texts))


def test_an_equal_entry_of_another_list_is_the_same_object() -> None:
    first = read(A, B)
    again = read({**B}, {**A}, by_owner_address="0x1")
    assert again.intents[0] is first.intents[1]
    assert again.intents[1] is first.intents[0]


def test_a_changed_entry_is_read_again_beside_those_that_did_not_change() -> None:
    first = read(A, B)
    again = read(A, B | {"status": "SUCCEEDED"})
    assert again.intents[0] is first.intents[0]
    assert again.intents[1].status == "SUCCEEDED"


def test_true_and_one_are_not_the_same() -> None:
    row = A | {"intentId": "0xe"}
    assert read(row | {"hasBalance": True}).intents[0].has_balance is True
    assert read(row | {"hasBalance": 1}).intents[0].has_balance is None


def test_an_entry_with_balances_does_not_replace_the_one_without() -> None:
    first, _ = read(A), read(A | {"hasBalance": True})
    assert read(A).intents[0] is first.intents[0]


def test_entries_that_are_not_cached_are_forgotten() -> None:
    row = A | {"intentId": "0xc"}
    assert read(row, is_cached=False).intents[0] is not read(row).intents[0]


def test_what_could_not_be_read_of_an_entry_is_known_when_it_comes_again() -> None:
    row = A | {"intentId": "0xd", "createdAt": "yesterday"}
    for answer in (read(row), read(row)):
        assert answer.intents[0].unreadable == {"created_at": "yesterday"}


def test_a_list_with_an_invalid_entry_counts_it_each_time() -> None:
    for answer in (read(A, {"status": "FAILED"}), read(A, {"status": "FAILED"})):
        assert [each.intent_id for each in answer.intents] == ["0xa"]
        assert answer.unreadable_entries == 1


def test_entries_with_blanks_or_with_entries_inside_are_read_each_time() -> None:
    row = A | {"intentId": "0xf", "earlier": [{"intentId": "0x1"}, {"intentId": "0x2"}]}
    for written in (COMPACT, (", ", ": "), (" ,\n", " :\t")):
        for found in (read(row, B, written=written), read({"status": "FAILED"} | row, B, row, written=written)):
            assert {each.intent_id: each.status for each in found.intents} == {"0xf": "SUCCEEDED", "0xb": "EXECUTING"}


def test_an_entry_is_not_known_by_a_part_of_its_text() -> None:
    other = {"status": "FAILED", "intentId": "0xb"}
    inside = [{"intentId": "0x1"}, {"intentId": "0x2"}]
    for status in ("SUCCEEDED", "FAILED"):
        found = read({"intentId": "0xf", "earlier": inside, "status": status}, other)
        assert [each.status for each in found.intents] == [status, "FAILED"]


@pytest.mark.parametrize(
    "text",
    [
        '{"rows":[{"id":1}],"others":[{"x":1},{"id":2}]}',
        '{"rows":[{"id":1,"inside":[{"x":1},{"id":2}]}]}',
        '{"rows":[{"id":1,"inside":[{"x":1},{"id":2},{"id":3}]},{"id":4}, {"x":5}]}',
        '{"rows":[{"id":2}, {"x":1}]}',
    ],
)
def test_a_known_entry_elsewhere_is_none_of_the_list(text: str) -> None:
    known = {'{"id":2}': "an entry"}
    assert decode.read_list(text, "rows", known.get) == (decode.read(text), [])


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab{}[],:", max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(VALUES, max_size=5), st.dictionaries(st.text("ab", max_size=2), VALUES, max_size=2), st.data())
def test_a_list_is_read_as_any_other_document(rows: list[Any], more: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps({"rows": rows, **more}, separators=data.draw(st.sampled_from([COMPACT, (", ", " : ")])))
    whole, texts = decode.read_list(text, "rows", lambda _: None)
    assert whole == decode.read(text)
    assert [json.loads(each) for each in texts] in ([], rows)
    known = dict(zip(texts, whole["rows"], strict=False))
    again, _ = decode.read_list(text, "rows", known.get)
    assert again == whole
    assert all(entry is known[text] for entry, text in zip(again["rows"], texts, strict=False) if entry)


@pytest.mark.parametrize(
    "text",
    [
        '{"rows":[{"a":1},{"a":2}],"rows":[]}',
        '{"rows":[{"a":1},{"a":2,"a":3}]}',
        '{"rows":[{"a":1},{"a":NaN}]}',
        '{"rows":[{"a":1},]}',
        '{"rows":[{"a":1}{"a":2}]}',
        '{"rows":[{"a":1} 5]}',
        '{"rows":[{"a":1},5 {"a":2}]}',
        '{"rows":[{"a":1}],}',
        '{"rows":[{"a":1}]',
        '{"rows":[{"a":' + "[" * 62 + "]" * 62 + "}]}",
        '{"rows":[{"a":' + "[" * 100_000,
    ],
)
def test_what_is_no_json_is_no_list_either(text: str) -> None:
    for known in (lambda _: None, {'{"a":1}': 1}.get):
        with pytest.raises(ValueError, match=r"\w"):
            decode.read_list(text, "rows", known)


def test_an_entry_with_a_number_of_many_digits_is_read() -> None:
    text = '{"rows":[{"a":1},{"a":' + "9" * 5000 + "}]}"
    assert decode.read_list(text, "rows", lambda _: None) == (decode.read(text), [])
