import pytest
from hypothesis import given
from hypothesis import strategies as st

from intents_ui.formatting import text
from tests.display.builders import named

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


def test_an_emoji_keeps_its_style_without_a_note():
    assert text.visible("Thanks ❤\ufe0f!") == "Thanks ❤!"


def test_a_flood_of_combining_marks_is_cut_to_two():
    assert text.visible("Z" + "\u0301" * 50 + "A" + "\u0308") == "Z\u0301\u0301A\u0308"


@pytest.mark.parametrize(
    ("cap", "kind"),
    named(
        ("symbol", 16, text.symbol),
        ("name", 64, text.name),
        ("memo", 280, text.memo),
        ("reason", 500, text.reason),
    ),
)
def test_each_kind_of_text_has_its_limit(kind, cap):
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
