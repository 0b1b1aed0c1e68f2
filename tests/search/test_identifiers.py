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
SOLANA = "7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU"
SIGNATURE = "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW"


def wide(characters: str) -> str:
    return "".join(chr(ord(character) + 0xFEE0) for character in characters)


def groups(written: str) -> str:
    prefix, digits = ("0x", written[2:]) if written.startswith("0x") else ("", written)
    return prefix + " ".join(digits[at : at + 8] for at in range(0, len(digits), 8))


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


MISSES = named(
    ("call data", "0x" + "ab" * 68, "Too long for a transaction hash or an address (136 hex characters)."),
    ("shortened, three digits of a tail", "…e2b", input_errors.TOO_SHORT),
    (
        "zero width inside, too long",
        f"0x12\u200b{DIGITS}",
        "A transaction hash has 64 hex characters. This one has 66.",
    ),
    (
        "groups without 0x in a sentence",
        f"it is {groups(DIGITS)} help",
        "This may be a hash or address split by spaces. Remove the spaces.",
    ),
    ("nul", f"{HASH}\x00", "Unprintable character (⟨U+0000⟩). Copy the value again."),
    ("override between words", "a\u202eb", "No transaction hash, address or intent ID found."),
    ("too long", "x" * 10_001, "Too long: 10,001 characters. The limit is 10,000."),
)


@pytest.mark.parametrize(("received", "problem"), MISSES)
def test_a_malformed_identifier_says_what_is_wrong(received, problem):
    found = identifiers.read(received)
    assert found.problem == problem
    assert not found.lookups


SHORTENED = named(
    ("both ends", "Where is 0x7c1f...9e2b...", "7c1f", "9e2b"),
    ("tail alone in a sentence", "it ends with …9e2b, help", "", "9e2b"),
    ("head alone before a word", "it is 0xf9607d...please", "f9607d", ""),
    ("least of a tail", "0x7…e2b", "7", "e2b"),
    ("Markdown table", "| id | amount |\n| --- | --- |\n| …9e2b | 100 |", "", "9e2b"),
    ("in a link", "https://etherscan.io/tx/0x7c1f…9e2b", "7c1f", "9e2b"),
    ("an invisible character", "0x7c1f…\u200b9e2b", "7c1f", "9e2b"),
)


@pytest.mark.parametrize(("received", "head", "tail"), SHORTENED)
def test_a_shortened_id_is_found_with_both_its_ends(received, head, tail):
    found = identifiers.read(received)
    assert [(each.kind, each.head, each.tail) for each in found.findings] == [(Kind.SHORTENED, head, tail)]
    assert found.shortened[0].value == (f"0x{head}…{tail}" if head else f"…{tail}")
    assert (found.problem, found.lookups) == ("", ())
    assert found.refusal == input_errors.SHORTENED


@pytest.mark.parametrize(
    "received",
    named(
        ("words and numbers behind dots", "it was ...added ...2026 ...face"),
        ("ranges and paths", "see a..9e2b and ../9e2b4f and v1...2f3a"),
        ("hardly a head", "I paid 0x1... and 0x... to it"),
        ("longer words", "…9e2bq ...9e2bé"),
    ),
)
def test_dots_in_a_sentence_are_not_shortened_ids(received):
    assert not identifiers.read(received).shortened


def test_a_shortened_id_next_to_its_full_value_counts_unless_it_is_the_links_label():
    assert identifiers.read(f"{HASH} and 0x7c1f…9e2b").kinds == {Kind.HASH, Kind.SHORTENED}
    assert identifiers.read(f"[0x7c1f…9e2b](https://etherscan.io/tx/{HASH})").kinds == {Kind.TRANSACTION}
    assert identifiers.read(f"[0x7c1f…aaaa](https://etherscan.io/tx/{HASH})").kinds == {
        Kind.TRANSACTION,
        Kind.SHORTENED,
    }


@pytest.mark.parametrize("nothing", ["", "   \n", '""', "“ ”"])
def test_an_empty_text_is_neither_found_nor_invalid(nothing):
    assert identifiers.read(nothing) == identifiers.ParsedText()


@pytest.mark.parametrize(
    ("received", "warning"),
    named(
        ("bidi around", f"\u202a{HASH}\u202c", "Invisible characters"),
        ("zero width inside", f"it is {HASH[:30]}\u200b{HASH[30:]}, help", "Invisible characters"),
        ("full-width", f"it is {wide(HASH)}, help", "Lookalike characters"),
        ("O for 0", "O" + HASH[1:], "Lookalike characters"),
        ("cyrillic x", "0\u0445" + DIGITS, "Lookalike characters"),
        ("full-width without 0x", f"送金{wide(DIGITS)}です", "Lookalike characters"),
    ),
)
def test_a_corrected_hash_says_so(received, warning):
    (found,) = identifiers.read(received).findings
    assert (found.kind, found.value) == (Kind.HASH, HASH)
    assert warning in found.warning


@pytest.mark.parametrize(
    ("received", "warning"),
    named(
        ("checksum", OWNER[:-2] + "B1", "Checksum mismatch"),
        ("native", "0x" + "0" * 40, "placeholder address of the native token"),
        ("placeholder", "0x" + "f" * 64, "a placeholder"),
    ),
)
def test_a_doubtful_identifier_gets_a_warning_and_can_be_looked_up(received, warning):
    found = identifiers.read(received)
    assert warning in found.lookups[0].warning
    assert not found.problem


def test_an_invisible_character_splits_an_identifier():
    other = "0x" + "9b" * 32
    found = identifiers.read(f"{HASH}\u200b{other}\u200b{SOLANA}")
    assert [finding.value for finding in found.findings] == [HASH, other, SOLANA]


def test_a_ticket_yields_each_identifier_once_in_order():
    ticket = f"""Hi, I sent from {OWNER} (arb1:{OWNER}) and it never arrived!
    {HASH}
    https://arbiscan.io/tx/{HASH} and also intent_99, see also {OWNER[:-1]}.
    Amount was 100000000000000000000000000000000000000000 wei."""
    found = identifiers.read(ticket)
    assert [(finding.kind, finding.value) for finding in found.lookups] == [
        (Kind.ADDRESS, ADDRESS),
        (Kind.HASH, HASH),
        (Kind.INTENT, "intent_99"),
    ]
    assert "This one has 39" in found.findings[-1].problem
    assert not found.problem


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


def test_our_own_link_with_its_transaction_gives_both():
    other = "0x" + "9b" * 32
    found = identifiers.read(f"https://dash.example/intent/{HASH}?tx={other}")
    assert [(finding.kind, finding.value) for finding in found.findings] == [
        (Kind.INTENT, HASH),
        (Kind.TRANSACTION, other),
    ]


@pytest.mark.parametrize(
    "received",
    named(
        ("a line between", f"{HASH[:30]}\n\n{HASH[30:]} and more"),
        ("two ids side by side", f"it is {DIGITS[:32]} {DIGITS[32:]} ok"),
        ("a short word", f"it is {HASH[:-3]}\nadd it"),
    ),
)
def test_consecutive_lines_are_not_always_one_hash(received):
    found = identifiers.read(received)
    assert not found.kinds & {Kind.HASH, Kind.ADDRESS}


def test_a_complete_hash_takes_no_characters_from_its_neighbors():
    lines = identifiers.read(f"{DIGITS[:24]}\n{ADDRESS[2:]}\n{DIGITS}")
    assert [finding.value for finding in lines.lookups] == [ADDRESS, HASH]


def test_numbers_with_a_unit_in_a_sentence_are_an_amount():
    assert identifiers.read(f"I sent {'1' * 40} wei").kinds == {Kind.WORDS}


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
