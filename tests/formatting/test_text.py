import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intents_ui.formatting import text, times
from intents_ui.formatting.text import Name, Sentence, capitalized, fill, parts_of, visible
from intents_ui.formatting.times import Time
from tests.transfers.builders import NOW, named

HIDDEN = named(
    ("nul", "\x00", "⟨U+0000⟩"),
    ("c1", "\x85", "⟨U+0085⟩"),
    ("right-to-left override", "\u202e", "⟨U+202E⟩"),
    ("isolate", "\u2066", "⟨U+2066⟩"),
    ("zero-width space", "\u200b", "⟨U+200B⟩"),
    ("byte-order mark", "\ufeff", "⟨U+FEFF⟩"),
    ("tag letter", "\U000e0041", "⟨U+E0041⟩"),
    ("lone surrogate", "\ud800", "⟨U+D800⟩"),
    ("line separator", "\u2028", "⟨U+2028⟩"),
    ("variation selector", "\ufe01", "⟨U+FE01⟩"),
    ("emoji style without an emoji", "\ufe0f", "⟨U+FE0F⟩"),
    ("supplementary variation selector", "\U000e0100", "⟨U+E0100⟩"),
    ("mongolian variation selector", "\u180b", "⟨U+180B⟩"),
    ("ten variation selectors", "\ufe02" * 10, "⟨U+FE02⟩" * 10),
)


@pytest.mark.parametrize(("hidden", "shown"), HIDDEN)
def test_a_hidden_character_is_shown_by_its_code_point(hidden, shown):
    assert text.visible(f"US{hidden}DC") == f"US{shown}DC"


@pytest.mark.parametrize(
    "ordinary", ["USD Coin", "Ünïcödé", "日本円", "עברית", "👍", "<script>alert(1)</script>", "USD\u0421"]
)
def test_ordinary_text_stays_as_it_is(ordinary):
    assert text.visible(ordinary) == ordinary


def test_an_emoji_keeps_its_style_and_a_letter_two_marks():
    assert text.visible("Thanks ❤\ufe0f!") == "Thanks ❤!"
    assert text.visible("Z" + "\u0301" * 50 + "A" + "\u0308") == "Z\u0301\u0301A\u0308"


def test_each_kind_of_text_has_its_limit():
    for cap, kind in ((16, text.symbol), (64, text.name), (280, text.memo), (500, text.reason)):
        assert kind("a" * cap) == text.Text("a" * cap, "", 0)
        assert kind("a" * cap + "bc") == text.Text("a" * cap, "bc", 2)


def test_text_is_never_cut_inside_a_code_point_notation():
    assert text.symbol("ABCDEFGHIJ\u202eK") == text.Text("ABCDEFGHIJ", "⟨U+202E⟩K", 2)


@pytest.mark.parametrize("nothing", [None, "", "  \n "])
def test_an_empty_text_is_unknown(nothing):
    assert text.name(nothing) == text.Text("—")


def test_a_memo_keeps_its_lines_and_a_name_has_none():
    assert text.memo("one\r\ntwo").shown == "one\ntwo"
    assert text.name("one\r\ntwo").shown == "one⟨U+000D⟩⟨U+000A⟩two"


@given(st.text(st.characters(), max_size=600))
def test_no_hidden_character_survives(received):
    whole = text.bare(text.memo(received).whole)
    assert not any(text.is_hidden(character) for character in whole if character not in "\n\t")
    whole.encode("utf-8")


@given(st.text(st.characters(), max_size=100))
def test_sanitizing_twice_equals_sanitizing_once(received):
    once = text.visible(received)
    assert text.visible(once) == once


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("\u05e9\u05dc\u05d5\u05dd", "\u2068\u05e9\u05dc\u05d5\u05dd\u2069"),
        ("USD \u0633\u0644\u0627\u0645", "\u2068USD \u0633\u0644\u0627\u0645\u2069"),
        ("\u0663", "\u2068\u0663\u2069"),
        ("日本 €", "日本 €"),
        ("\u2068x\u2069", "⟨U+2068⟩x⟨U+2069⟩"),
    ],
    ids=["Hebrew", "Arabic in it", "an Arabic digit", "from the left", "a stranger's own"],
)
def test_right_to_left_text_is_isolated(written: str, shown: str) -> None:
    assert text.name(written).shown == shown
    assert text.bare(shown) == text.visible(written)


UNTIL = times.utc(NOW, now=NOW)


def test_a_filled_sentence_has_the_parts_of_its_values() -> None:
    inner = Sentence("at ", UNTIL)
    told = fill("{chain}: wait until {then}, on {chain}.", {"chain": Name("07:15 UTC"), "then": inner})
    assert told == "07:15 UTC: wait until at 14:03:11 UTC, on 07:15 UTC."
    assert [part for part in parts_of(told) if isinstance(part, Time)] == ["14:03:11 UTC"]
    assert [part for part in parts_of(told) if isinstance(part, Name)] == ["07:15 UTC"] * 2


def test_a_capital_letter_leaves_times_as_they_are() -> None:
    told = capitalized(Sentence("expected by ", UNTIL))
    assert told == "Expected by 14:03:11 UTC"
    assert [part.at for part in parts_of(told) if isinstance(part, Time)] == [NOW]
    assert (capitalized(""), parts_of("at 07:15 UTC")) == ("", ("at 07:15 UTC",))


FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\0=1", "＝1+1", "＋1", "－1", "＠SUM(A1)"]  # noqa: RUF001

AFTER_BLANKS = [" =1+1", "\u00a0@A1", " \t +1", "\u3000-1"]


@pytest.mark.parametrize("formula", [*FORMULAS, *AFTER_BLANKS])
def test_would_be_formulas_become_text(formula):
    assert text.csv_cell(formula) == f"'{visible(formula, lines=True)}"


@pytest.mark.parametrize("ordinary", ["", "0x12", "100 USDC", "a=b", "1-1", "'quoted'", " 1", "order -1"])
def test_cells_that_are_not_formulas_stay_unchanged(ordinary):
    assert text.csv_cell(ordinary) == ordinary


def test_hidden_characters_are_visible_in_a_cell():
    assert text.csv_cell("a\u202eb\u200bc\0d\ne") == "a⟨U+202E⟩b⟨U+200B⟩c⟨U+0000⟩d\ne"
    assert text.csv_cell("=1\u202e") == "'=1⟨U+202E⟩"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def test_each_field_is_on_its_own_line():
    assert text.indented('{"a":[1,2],"b":{},"c":[ ]}') == ('{\n  "a": [\n    1,\n    2\n  ],\n  "b": {},\n  "c": []\n}')


@pytest.mark.parametrize("token", ["1.50", "1e+30", "1E-07", "-0.0", '"\\u0041\\/"', '"a\\"b"', '"{[,:]}"', "1" * 78])
def test_every_json_token_is_preserved(token):
    assert text.indented(f'{{"a":{token}}}') == f'{{\n  "a": {token}\n}}'


@given(VALUES, st.sampled_from([None, 1]))
def test_the_layout_equals_the_standard_librarys(value, indent):
    compact = json.dumps(value, indent=indent)
    assert text.indented(compact) == json.dumps(value, indent=2)
