import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intents_ui.search import identifiers, input_errors
from intents_ui.search.identifiers import Kind
from tests.transfers.builders import named

DIGITS = "7c1f4ab2" + "5e" * 24 + "90cd9e2b"
HASH = "0x" + DIGITS
OWNER = "0x0709CF2d5D4f3D38f5948d697fE64d7FB3639Eb1"
ADDRESS = OWNER.lower()


def wide(characters: str) -> str:
    return "".join(chr(ord(character) + 0xFEE0) for character in characters)


@pytest.mark.parametrize(
    ("received", "host"),
    [
        (f"https://etherscan.io/tx/{HASH}", "etherscan.io"),
        (f"HTTPS://Optimistic.Etherscan.io/tx/{HASH}", "optimistic.etherscan.io"),
        (f"basescan.org/tx/{HASH}", "basescan.org"),
        (f"https://a.example/x\n{HASH}", ""),
        (f"https://good.example@evil.example/tx/{HASH}", "evil.example"),
        (f"https://127.0.0.1:8000/tx/{HASH}", ""),
        (f"https://mail.example/go?u=https%3A%2F%2Farbiscan.io%2Ftx%2F{HASH}&x=1", "arbiscan.io"),
    ],
)
def test_the_host_of_a_link_is_a_hint(received, host):
    (found,) = identifiers.read(received).findings
    assert found.value == HASH
    assert found.host == host


@pytest.mark.parametrize(
    ("received", "chain_id"),
    [
        (f"arb1:{OWNER}", 42161),
        (f"eip155:10:{OWNER}", 10),
        (f"eth:{OWNER}", 1),
        (f"to:{OWNER}", None),
        (OWNER, None),
    ],
)
def test_a_chain_name_before_an_address_is_a_hint(received, chain_id):
    (found,) = identifiers.read(received).findings
    assert (found.kind, found.value, found.chain_id) == (Kind.ADDRESS, ADDRESS, chain_id)


@pytest.mark.parametrize(
    ("received", "problem"),
    named(
        ("nul", f"{HASH}\x00", "Unprintable character (⟨U+0000⟩). Copy the value again."),
        ("too long", "x" * 10_001, "Too long: 10,001 characters. The limit is 10,000."),
    ),
)
def test_a_text_that_cannot_be_read_says_why(received, problem):
    found = identifiers.read(received)
    assert (found.problem, found.findings) == (problem, ())


@pytest.mark.parametrize(("head", "tail"), [("7c1f", "9e2b"), ("7", "e2b"), ("f9607d", ""), ("", "9e2b")])
def test_a_shortened_id_has_the_known_characters_and_is_refused_where_a_full_one_is_needed(head, tail):
    found = identifiers.read(f"it is 0x{head}…{tail} there" if head else f"it ends with …{tail}")
    [only] = found.shortened
    assert (only.head, only.tail, found.lookups, found.refusal) == (head, tail, (), input_errors.SHORTENED)


@pytest.mark.parametrize("nothing", ["", "   \n", '""', "“ ”"])
def test_an_empty_text_is_neither_found_nor_invalid(nothing):
    assert identifiers.read(nothing) == identifiers.ParsedText()


@pytest.mark.parametrize(
    ("received", "value", "warning"),
    named(
        ("bidi around", f"\u202a{HASH}\u202c", HASH, "Invisible characters"),
        ("zero width inside", f"it is {HASH[:30]}\u200b{HASH[30:]}, help", HASH, "Invisible characters"),
        ("full-width", f"it is {wide(HASH)}, help", HASH, "Lookalike characters"),
        ("O for 0", "O" + HASH[1:], HASH, "Lookalike characters"),
        ("cyrillic x", "0\u0445" + DIGITS, HASH, "Lookalike characters"),
        ("full-width without 0x", f"送金{wide(DIGITS)}です", HASH, "Lookalike characters"),
        ("checksum", OWNER[:-2] + "B1", ADDRESS, "Checksum mismatch"),
        ("native", "0x" + "0" * 40, "0x" + "0" * 40, "placeholder address of the native token"),
        ("placeholder", "0x" + "f" * 64, "0x" + "f" * 64, "a placeholder"),
    ),
)
def test_a_corrected_or_doubtful_identifier_has_a_warning_and_can_be_looked_up(received, value, warning):
    found = identifiers.read(received)
    [only] = found.lookups
    assert (only.value, found.problem) == (value, "")
    assert warning in only.warning


@pytest.mark.parametrize(
    "received",
    named(
        ("link last", f"{HASH} and https://etherscan.io/tx/{HASH}"),
        ("links that differ", f"https://etherscan.io/tx/{HASH} /intent/{HASH}"),
    ),
)
def test_a_link_is_unaffected_by_the_same_digits_elsewhere(received):
    (found,) = identifiers.read(received).findings
    assert (found.kind, found.value, found.host) == (Kind.HASH, HASH, "etherscan.io")


HOSTILE = [
    "0xa",
    "%252F",
    "https://",
    "a\u200b",
    "abcd ",
    "a=\n",
    "0x1…",
    "0\uff58\u0430",
    ".",
    "..9e2b|",
    "0x ",
    "Oo",
    "\U0001f984.",
    "*",
    "a1",
    "0x" + "a" * 40,
]


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


@pytest.mark.parametrize("unit", HOSTILE, ids=ascii)
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
