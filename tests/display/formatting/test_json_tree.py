"""A JSON response as a tree: everything in order and exact, within the limits of a page."""

import json
from collections.abc import Iterator

import pytest

from intents_ui.display.formatting import json_tree
from intents_ui.display.formatting.json_tree import JsonKind, Node, tree


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


def test_a_long_text_is_cut_and_counted() -> None:
    (found,) = planted(json.dumps({"data": "0x" + "ab" * 5000})).inside
    assert (len(found.text), len(found.text) + found.more) == (json_tree.LONGEST_TEXT, 10_002)


def test_the_first_levels_are_open_and_long_lists_are_not() -> None:
    root = planted(json.dumps({"short": [1] * 20, "long": [1] * 21, "object": {"inner": {"x": 1}}}))
    short, long, member = root.inside
    assert (root.is_open, short.is_open, long.is_open, member.is_open) == (True, True, False, True)
    assert member.inside[0].is_open is False


def test_a_collapsed_object_has_a_preview() -> None:
    (found,) = planted('{"t":{"none":null,"chainId":1,"address":"0x2260fac5e5542a773aa44fbcfedf7c193bc2c599"}}').inside
    assert found.glimpse == "chainId: 1, address: 0x2260fac5…3bc2c599"


def test_a_response_that_is_too_large_is_shown_in_part() -> None:
    found = tree(json.dumps({"intents": [{"a": 1, "b": 2, "c": {}}] * 5000}))
    assert found
    assert not found.is_whole
    assert len(list(nodes(found.root))) <= json_tree.MOST
    (intents,) = found.root.inside
    assert (intents.count, intents.left_out) == (5000, 5000 - len(intents.inside))
    assert 0 < len(intents.inside) <= json_tree.MOST_OF_A_LIST


def test_an_object_with_many_fields_is_truncated() -> None:
    found = tree(json.dumps({str(number): [[]] for number in range(100_000)}))
    assert found
    assert len(list(nodes(found.root))) <= json_tree.MOST


def test_a_complete_json_tree_says_so() -> None:
    found = tree('{"a":[1,2,{"b":[]}]}')
    assert found
    assert found.is_whole


@pytest.mark.parametrize("text", ["", "null", "1", '"x"', "{", "<html>", "[" * 100_000])
def test_text_that_is_not_json_has_no_tree(text: str) -> None:
    assert tree(text) is None


def test_the_nesting_depth_is_limited() -> None:
    found = tree("[" * 500 + "]" * 500)
    assert found
    assert not found.is_whole
    assert len(list(nodes(found.root))) < 100


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
