"""Identifiers in a whole ticket, and notes about the rest."""

import re

import pytest

from intents_ui.search.identifiers import Kind
from intents_ui.triage import lookup
from tests.search.test_identifiers import grows_with_its_length

HASH = "0x" + "9b21c4" + "5" * 52 + "77ad01"
OWNER = "0x0709cf2d5d4f3d38f5948d697fe64d7fb3639eb1"


def addresses(count: int) -> list[str]:
    return [f"0x{'ab' * 16}{number:08x}" for number in range(1, count + 1)]


def test_every_identifier_is_found_once_in_text_order():
    read = lookup.read(f"{OWNER} sent https://basescan.org/tx/{HASH}, again {HASH} of {OWNER.upper()}, and vitalik.eth")
    assert [(each.kind, each.value) for each in read.findings] == [
        (Kind.ADDRESS, OWNER),
        (Kind.HASH, HASH),
        (Kind.NEAR_MISS, "vitalik.eth"),
    ]
    assert (read.notes, read.problem) == ((), "")


def test_identifiers_beyond_two_hundred_are_counted():
    read = lookup.read("\n".join(addresses(230)))
    assert [each.value for each in read.findings] == addresses(200)
    assert read.notes == ("Only the first 200 of 230 identifiers were looked up. Submit the other 30 separately.",)


@pytest.mark.parametrize("filler", ["word ", "line\n", "送金 "])
def test_a_text_that_is_too_long_is_cut_at_a_space_with_a_note(filler):
    text = f"{OWNER} " + filler * (lookup.LONGEST // len(filler)) + HASH
    read = lookup.read(text)
    assert [each.value for each in read.findings] == [OWNER]
    (note,) = read.notes
    assert re.match(rf"Only the first 6[\d,]+ of {len(text):,} characters were read\.", note)


def test_no_identifier_is_cut_in_two():
    before = f"{OWNER} " + "x " * ((lookup.LONGEST - 70) // 2)
    assert [each.value for each in lookup.read(f"{before}{HASH}").findings] == [OWNER]
    whole = f"{before[:-70]} {HASH}"
    assert [each.value for each in lookup.read(f"{whole} {OWNER}").findings] == [OWNER, HASH]


@pytest.mark.parametrize("control", ["\x00", "\x1b", "\x7f", "\x9f"])
def test_an_untypable_character_costs_no_identifier(control):
    read = lookup.read(f"{OWNER}{control}{HASH}{control}")
    assert [each.value for each in read.findings] == [OWNER, HASH]


@pytest.mark.parametrize("number", ["4711-0815", "<b>4711</b> \u202e", "#A17 (2026)"])
def test_numbers_alone_are_looked_up(number):
    assert [each.kind for each in lookup.read(number).findings] == [Kind.WORDS]


@pytest.mark.parametrize("unit", ["0xabcd abcd ", "a=\n> "], ids=ascii)
def test_the_cost_of_joining_broken_lines_grows_with_length_only(unit):
    assert grows_with_its_length(lookup.read, (unit * 16_000)[:16_000])


def test_the_cost_of_a_text_full_of_identifiers_grows_with_length_only():
    text = "".join(f"{HASH[:-4]}{number:04x} 0x{number:06x}…abcd " for number in range(700))
    assert grows_with_its_length(lookup.read, text)
