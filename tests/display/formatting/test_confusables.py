import pytest
from hypothesis import given
from hypothesis import strategies as st

from intents_ui.formatting import text
from intents_ui.tokens import token_amounts
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
    assert token_amounts.readings(one) & token_amounts.readings(other)


@pytest.mark.parametrize(
    ("one", "other"),
    named(
        ("another letter", "USDC", "USDT"),
        ("a bridged one", "USDC.e", "USDC"),
        ("nothing", "", "\u200b"),
    ),
)
def test_others_do_not(one, other):
    assert not token_amounts.readings(one) & token_amounts.readings(other)


@given(st.text(st.characters(), max_size=60))
def test_any_text_has_readings_without_hidden_characters(name):
    readings = token_amounts.readings(name)
    assert not any(text.is_hidden(each) or each.isspace() for reading in readings for each in reading)
    assert readings & token_amounts.readings(f" {name}\u200b") or not readings
