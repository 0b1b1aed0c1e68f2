import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intents_ui.search import identifiers
from tests.tables import toml

HASH = "0x7c1f4ab2" + "5e" * 24 + "90cd9e2b"
OWNER = "0x0709CF2d5D4f3D38f5948d697fE64d7FB3639Eb1"


@pytest.mark.parametrize("nothing", ["", "   \n", '""', "“ ”"])
def test_an_empty_text_is_neither_found_nor_invalid(nothing):
    assert identifiers.read(nothing) == identifiers.ParsedText()


def processor_seconds(call: Callable[[], object]) -> float:
    """Return the least CPU time in seconds of three rounds of a call."""
    spent = []
    for _ in range(3):
        began = time.process_time()
        call()
        spent.append(time.process_time() - began)
    return min(spent)


def grows_with_its_length(read, text):
    """Return whether eight times the text takes about eight times the CPU time, not sixty-four times."""
    short = text[: len(text) // 8 - 1] + "!"
    whole = text[:-1] + "!"
    return processor_seconds(lambda: read(whole)) < 30 * processor_seconds(lambda: read(short))


@pytest.mark.parametrize("unit", toml(__file__, "pasted")["hostile"]["units"], ids=ascii)
def test_the_cost_of_hostile_text_grows_with_length_only(unit):
    assert grows_with_its_length(identifiers.read, (unit * identifiers.LONGEST)[: identifiers.LONGEST])


ALPHABET = st.sampled_from([*'0x1aFzé/:.%_-…\u200b\u202e"“ \n', "https://", "tx/", "intent/", HASH, OWNER, ".eth"])


@given(st.one_of(st.text(st.characters()), st.lists(ALPHABET, max_size=60).map("".join)))
def test_any_text_is_parsed(received):
    found = identifiers.read(received)
    for finding in found.lookups:
        finding.value.encode()
        assert 0 < len(finding.value) <= 128
    assert not (found.problem and found.lookups)
