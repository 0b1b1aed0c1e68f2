"""Identifiers in a whole ticket, and notes about the rest."""

import re

import pytest

from intents_ui.display.search.identifiers import Kind
from intents_ui.display.triage import ticket
from tests.display.search.test_identifiers import grows_with_its_length

HASH = "0x" + "9b21c4" + "5" * 52 + "77ad01"
OWNER = "0x0709cf2d5d4f3d38f5948d697fe64d7fb3639eb1"


def addresses(count: int) -> list[str]:
    return [f"0x{'ab' * 16}{number:08x}" for number in range(1, count + 1)]


def test_every_identifier_is_found_once_in_text_order():
    read = ticket.read(f"{OWNER} sent https://basescan.org/tx/{HASH}, again {HASH} of {OWNER.upper()}, and vitalik.eth")
    assert [(each.kind, each.value) for each in read.findings] == [
        (Kind.ADDRESS, OWNER),
        (Kind.HASH, HASH),
        (Kind.NEAR_MISS, "vitalik.eth"),
    ]
    assert (read.notes, read.problem) == ((), "")


def test_two_hundred_lines_are_read_whole():
    read = ticket.read("\r\n".join(addresses(200)))
    assert [each.value for each in read.findings] == addresses(200)
    assert read.notes == ()


def test_identifiers_beyond_two_hundred_are_counted():
    read = ticket.read("\n".join(addresses(230)))
    assert [each.value for each in read.findings] == addresses(200)
    assert read.notes == ("Only the first 200 of 230 identifiers were looked up. Submit the other 30 separately.",)


def test_a_long_thread_with_few_identifiers_is_read():
    assert ticket.read(f"{OWNER}\n" + "> so it goes\n" * 2000 + HASH).findings[1:]


@pytest.mark.parametrize("filler", ["word ", "line\n", "送金 "])
def test_a_text_that_is_too_long_is_cut_at_a_space_with_a_note(filler):
    text = f"{OWNER} " + filler * (ticket.LONGEST // len(filler)) + HASH
    read = ticket.read(text)
    assert [each.value for each in read.findings] == [OWNER]
    (note,) = read.notes
    assert re.match(rf"Only the first 6[\d,]+ of {len(text):,} characters were read\.", note)


def test_no_identifier_is_cut_in_two():
    before = f"{OWNER} " + "x " * ((ticket.LONGEST - 70) // 2)
    assert [each.value for each in ticket.read(f"{before}{HASH}").findings] == [OWNER]
    whole = f"{before[:-70]} {HASH}"
    assert [each.value for each in ticket.read(f"{whole} {OWNER}").findings] == [OWNER, HASH]


def test_an_endless_word_is_read_up_to_the_limit():
    assert ticket.read("g" * 70_000).problem
    assert ticket.read(f"{OWNER} {HASH}," + "é" * 70_000).findings == ticket.read(f"{OWNER}").findings


@pytest.mark.parametrize("control", ["\x00", "\x1b", "\x7f", "\x9f"])
def test_an_untypable_character_costs_no_identifier(control):
    read = ticket.read(f"{OWNER}{control}{HASH}{control}")
    assert [each.value for each in read.findings] == [OWNER, HASH]


def test_invisible_characters_are_reported_once():
    read = ticket.read(f"\u200b{OWNER}\u200b and {HASH}")
    assert read.notes == ("Ignored invisible characters in or around identifiers.",)
    assert not any(each.warning for each in read.findings)


@pytest.mark.parametrize(
    ("received", "problem"),
    [
        pytest.param("", "Paste some text.", id="nothing"),
        pytest.param(" \r\n\t", "Paste some text.", id="blanks"),
        pytest.param("hello " * 50, "No transaction hash, address or intent ID found.", id="prose"),
        pytest.param(
            "Hello,\nmy transfer is gone.\nPlease help",
            "No transaction hash, address or intent ID found.",
            id="short prose",
        ),
        pytest.param("my order 4711 is gone", "No transaction hash, address or intent ID found.", id="with a number"),
        pytest.param(OWNER[:-1], "An address has 40 hex characters. This one has 39.", id="nearly one"),
    ],
)
def test_a_ticket_without_identifiers_says_why(received, problem):
    assert ticket.read(received) == ticket.Ticket(problem=problem)


@pytest.mark.parametrize("number", ["4711-0815", "<b>4711</b> \u202e", "#A17 (2026)"])
def test_numbers_alone_are_looked_up(number):
    assert [each.kind for each in ticket.read(number).findings] == [Kind.WORDS]


def test_several_malformed_identifiers_each_get_a_message():
    assert len(ticket.read(f"{OWNER[:-1]} and 0x1234…abcd").findings) == 2


def test_malformed_identifiers_are_counted():
    read = ticket.read(f"{OWNER} and 0xabcdef0123456789, 0\u0445{HASH[2:]}")
    assert [each.kind for each in read.findings] == [Kind.ADDRESS, Kind.NEAR_MISS, Kind.NEAR_MISS]


@pytest.mark.parametrize(
    "unit",
    [
        "abcd ",
        "0xabcd abcd ",
        "a\u200b",
        "abcdef0123456789\u200b",
        "\uff10",
        "0\u0445",
        "\u0430",
        "a=\n> ",
        "0=\n> ",
        "z\u200b" * 40 + " ",
    ],
    ids=ascii,
)
def test_the_cost_of_joining_broken_lines_grows_with_length_only(unit):
    assert grows_with_its_length(ticket.read, (unit * ticket.LONGEST)[: ticket.LONGEST])


@pytest.mark.parametrize(
    "unit",
    [OWNER[:-4] + "{:04x}\n", "0x{:06x}…abcd ", HASH[:-4] + "{:04x} ", "7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJo{:04} "],
)
def test_the_cost_of_a_text_full_of_identifiers_grows_with_length_only(unit):
    text = "".join(unit.format(number) for number in range(7000))[: ticket.LONGEST]
    assert grows_with_its_length(ticket.read, text)
