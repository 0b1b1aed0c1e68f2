import pytest
from hypothesis import given
from hypothesis import strategies as st

from intents_ui.display.formatting import confusables, text
from tests.display.builders import named

# Letters are written as code points, so that this file can't mislead its readers.
READ_ALIKE = named(
    ("small letters", "usdc", "USDC"),
    ("Cyrillic Es", "USD\u0421", "USDC"),
    ("full width", "\uff35\uff33\uff24\uff23", "USDC"),
    ("an accent", "U\u0301SDC", "USDC"),
    ("a zero-width space", "USD\u200bC", "USDC"),
    ("a right-to-left override", "\u202eUSDC", "USDC"),
    ("a small l for a capital i", "LlNK", "LINK"),
    ("r and n", "rnUSD", "mUSD"),
)


@pytest.mark.parametrize(("one", "other"), READ_ALIKE)
def test_names_that_look_the_same_read_the_same(one, other):
    assert confusables.readings(one) & confusables.readings(other)


@pytest.mark.parametrize(
    ("one", "other"),
    named(
        ("another letter", "USDC", "USDT"),
        ("a bridged one", "USDC.e", "USDC"),
        ("nothing", "", "\u200b"),
    ),
)
def test_others_do_not(one, other):
    assert not confusables.readings(one) & confusables.readings(other)


IMITATIONS = named(
    ("Cyrillic", "USD\u0421", [("\u0421", "C")]),
    ("a word in each script", "\u0421\u0431\u0435\u0440 Coin", []),
    ("all Cyrillic", "\u0421\u0431\u0435\u0440", []),
    ("Japanese", "\u65e5\u672c\u5186", []),
    ("accents", "\u0141\u00f3d\u017a M\u00f8ller Stra\u00dfe \u00c6ther", []),
)


@pytest.mark.parametrize(("name", "found"), IMITATIONS)
def test_a_letter_imitates_ascii_only_in_a_word_with_ascii_letters(name, found):
    assert [(each.letter, each.instead) for each in confusables.imitations(name)] == found


MIXTURES = named(
    ("Greek in Latin", "s\u03a9HM", ("Latin", "Greek")),
    ("a word in each", "\u03a9 Token", None),
    ("all that Japanese is written with", "\u65e5\u672c\u306e\u30c8\u30fc\u30af\u30f3", None),
)


@pytest.mark.parametrize(("name", "scripts"), MIXTURES)
def test_a_word_that_mixes_scripts_gets_a_warning(name, scripts):
    found = confusables.mixture(name)
    assert (found and found.scripts) == scripts


@pytest.mark.parametrize(
    ("name", "found"),
    named(
        ("bidi", "ETH\u202e", ["\u202e"]),
        ("zero width, each once", "U\u200bS\u200bD\u2060C", ["\u200b", "\u2060"]),
        ("a picture of two", "\U0001f468\u200d\U0001f680", []),
        ("a blank", "USD Coin", []),
    ),
)
def test_hidden_characters_are_found(name, found):
    assert list(confusables.hidden(name)) == found


@pytest.mark.parametrize(
    ("name", "explicit", "any_"),
    [
        pytest.param("Visit https://claim-usdt.example to redeem", *["https://claim-usdt.example"] * 2, id="a link"),
        pytest.param("claim at WWW.Reward.Xyz/now", *["WWW.Reward.Xyz/now"] * 2, id="www"),
        pytest.param("$ claim-usdt.example", "", "claim-usdt.example", id="a domain"),
        pytest.param("yearn.finance", "", "yearn.finance", id="a token named after its site"),
        pytest.param("USDC.e", "", "", id="a bridged token"),
    ],
)
def test_web_addresses_are_found(name, explicit, any_):
    assert confusables.link(name, is_explicit=True) == explicit
    assert confusables.link(name, is_explicit=False) == any_


@given(st.text(st.characters(), max_size=60))
def test_any_text_has_readings_without_hidden_characters(name):
    readings = confusables.readings(name)
    assert not any(text.is_hidden(each) or each.isspace() for reading in readings for each in reading)
    assert readings & confusables.readings(f" {name}\u200b") or not readings
