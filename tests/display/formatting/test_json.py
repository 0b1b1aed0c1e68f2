"""A JSON response as a tree and as text: everything in order and exact, within the limits of a page."""

import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intents_ui.display.formatting import json_text
from intents_ui.display.formatting.json_text import JsonKind, Node, tree


def planted(text: str) -> Node:
    found = tree(text)
    assert found
    return found.root


def nodes(node: Node) -> Iterator[Node]:
    yield node
    for each in node.inside:
        yield from nodes(each)


@pytest.mark.parametrize(
    "number",
    ["0", "-1", "1.10", "1e+30", "3.1e-15", "12345678901234567890123456789.000", "-0.0", "1E400", str(2**256 - 1)],
)
def test_a_number_is_shown_digit_by_digit(number: str) -> None:
    (found,) = planted(f'{{"n":{number}}}').inside
    assert (found.kind, found.text, found.more) == (JsonKind.NUMBER, number, 0)


def test_fields_keep_their_order_including_duplicates() -> None:
    found = planted('{"b":true,"a":null,"b":"x","c":[],"d":{}}').inside
    assert [(each.key, each.kind, each.text) for each in found] == [
        ("b", JsonKind.WORD, "true"),
        ("a", JsonKind.WORD, "null"),
        ("b", JsonKind.TEXT, "x"),
        ("c", JsonKind.LIST, ""),
        ("d", JsonKind.OBJECT, ""),
    ]


def test_hidden_characters_are_visible_in_names_and_texts() -> None:
    (found,) = planted(json.dumps({"a\u202eb": "c\u200bd\n\ud800"})).inside
    assert (found.key, found.text) == ("a⟨U+202E⟩b", "c⟨U+200B⟩d⟨U+000A⟩⟨U+D800⟩")


def test_a_response_that_is_too_large_is_shown_in_part() -> None:
    found = tree(json.dumps({"intents": [{"a": 1, "b": 2, "c": {}}] * 5000}))
    assert found
    assert not found.is_whole
    assert len(list(nodes(found.root))) <= json_text.MOST
    (intents,) = found.root.inside
    assert (intents.count, intents.left_out) == (5000, 5000 - len(intents.inside))
    assert 0 < len(intents.inside) <= json_text.MOST_OF_A_LIST


@pytest.mark.parametrize("text", ["", "null", "1", '"x"', "{", "<html>", "[" * 100_000])
def test_text_that_is_not_json_has_no_tree(text: str) -> None:
    assert tree(text) is None


@pytest.mark.parametrize(
    ("text", "intent_id"),
    [
        ('{"intentId":"0x12ab"}', "0x12ab"),
        ('{"intentId":"a/../b"}', ""),
        ('{"intentId":12}', ""),
        ('{"id":"0x12ab"}', ""),
        (json.dumps({"intentId": "x" * 201}), ""),
    ],
)
def test_an_intent_id_in_json_links_to_its_page(text: str, intent_id: str) -> None:
    assert planted(text).inside[0].intent_id == intent_id


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def test_each_field_is_on_its_own_line():
    assert json_text.indented('{"a":[1,2],"b":{},"c":[ ]}') == (
        '{\n  "a": [\n    1,\n    2\n  ],\n  "b": {},\n  "c": []\n}'
    )


@pytest.mark.parametrize("token", ["1.50", "1e+30", "1E-07", "-0.0", '"\\u0041\\/"', '"a\\"b"', '"{[,:]}"', "1" * 78])
def test_every_json_token_is_preserved(token):
    assert json_text.indented(f'{{"a":{token}}}') == f'{{\n  "a": {token}\n}}'


@given(VALUES, st.sampled_from([None, 1]))
def test_the_layout_equals_the_standard_librarys(value, indent):
    compact = json.dumps(value, indent=indent)
    assert json_text.indented(compact) == json.dumps(value, indent=2)
