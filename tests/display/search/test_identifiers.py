import pytest
from hypothesis import given
from hypothesis import strategies as st

from intents_ui.display.search import identifiers, input_errors
from intents_ui.display.search.identifiers import Kind
from tests.costs import processor_seconds
from tests.display.builders import named

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


FOUND = named(
    ("a hash", HASH, Kind.HASH, HASH),
    ("without 0x", DIGITS, Kind.HASH, HASH),
    ("upper case", "0X" + DIGITS.upper(), Kind.HASH, HASH),
    ("straight quotes", f'"{HASH}"', Kind.HASH, HASH),
    ("brackets", f"<{HASH}>", Kind.HASH, HASH),
    ("wrapped by a mail program", f"{HASH[:40]}\n{HASH[40:]}", Kind.HASH, HASH),
    ("in a sentence", f"it is {HASH}, please help", Kind.HASH, HASH),
    ("our page", f"/intent/{HASH}", Kind.INTENT, HASH),
    ("our short page", f"/i/{HASH.upper()}", Kind.INTENT, HASH),
    ("our page with host", f"https://dash.example/intents/{HASH}?tab=calls", Kind.INTENT, HASH),
    ("our page, other id", "https://dash.example/intent/abc-123.", Kind.INTENT, "abc-123"),
    ("other id", "intent_123abc", Kind.INTENT, "intent_123abc"),
    ("explorer", f"https://etherscan.io/tx/{HASH}#eventlog", Kind.TRANSACTION, HASH),
    ("address", ADDRESS, Kind.ADDRESS, ADDRESS),
    ("address without 0x", OWNER[2:], Kind.ADDRESS, ADDRESS),
    ("explorer's address", f"https://basescan.org/address/{OWNER}#tokentxns", Kind.ADDRESS, ADDRESS),
    ("only figures", "1" * 40, Kind.ADDRESS, "0x" + "1" * 40),
    ("quoted-printable", f"a link: https://etherscan.io/?tx=3D{HASH[:50]}=\n{HASH[50:]} .", Kind.TRANSACTION, HASH),
    ("wrapped in a sentence", f"my transfer {HASH[:30]}\n{HASH[30:]} is lost", Kind.HASH, HASH),
    ("wrapped in a quotation", f"> it is {HASH[:30]}\n> {HASH[30:]} and\n> lost", Kind.HASH, HASH),
    ("wrapped in a link", f"https://etherscan.io/tx/{HASH[:20]}\n{HASH[20:]}", Kind.TRANSACTION, HASH),
    ("groups in a sentence", f"it is {groups(HASH)}, help", Kind.HASH, HASH),
    ("address in groups", f"from {groups(OWNER)} to", Kind.ADDRESS, ADDRESS),
    ("a no-break space inside", f"{HASH[:30]}\u00a0{HASH[30:]}", Kind.HASH, HASH),
    ("Japanese", f"送金{HASH}が届きません", Kind.HASH, HASH),
    ("Japanese, solana", f"署名{SIGNATURE}です", Kind.SOLANA_SIGNATURE, SIGNATURE),
    ("Markdown", f"it is _{HASH}_ and **lost**", Kind.HASH, HASH),
    ("bytea", f"\\x{DIGITS}", Kind.HASH, HASH),
    ("dots at the end of a sentence", f"I sent {HASH}...", Kind.HASH, HASH),
    ("session id", f"https://etherscan.io/tx/{HASH};jsessionid={'1A2B' * 8}", Kind.TRANSACTION, HASH),
    (
        "encoded twice",
        f"https://mail.example/go?u=https%253A%252F%252Farbiscan.io%252Ftx%252F{HASH}%2526x",
        Kind.TRANSACTION,
        HASH,
    ),
    ("short and whole", f"[{HASH[:8]}…{HASH[-6:]}](https://etherscan.io/tx/{HASH})", Kind.TRANSACTION, HASH),
    ("an order number", "20260131123456789012", Kind.WORDS, "20260131123456789012"),
    ("32 digits", "0f" * 16, Kind.WORDS, "0f" * 16),
    ("a long Japanese word", "送金" * 20, Kind.WORDS, "送金" * 20),
    ("Persian", "نمی\u200cشود", Kind.WORDS, "نمی\u200cشود"),
    ("solana address", SOLANA, Kind.SOLANA_ADDRESS, SOLANA),
    ("solana explorer", f"https://solscan.io/account/{SOLANA}", Kind.SOLANA_ADDRESS, SOLANA),
    ("solana signature", f"sig {SIGNATURE}.", Kind.SOLANA_SIGNATURE, SIGNATURE),
    ("words", "  where is   my money ", Kind.WORDS, "where is my money"),
    ("composed", "Cafe\u0301", Kind.WORDS, "Café"),
    ("a script", "<script>alert(1)</script>", Kind.WORDS, "<script>alert(1)</script>"),
)


@pytest.mark.parametrize(("received", "kind", "value"), FOUND)
def test_pasted_identifiers_are_found(received, kind, value):
    found = identifiers.read(received)
    assert [(finding.kind, finding.value) for finding in found.findings] == [(kind, value)]
    assert not found.problem


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
    ("61 digits", HASH[:-3], "A transaction hash has 64 hex characters. This one has 61."),
    ("39 digits", OWNER[:-1], "An address has 40 hex characters. This one has 39."),
    ("61 digits in our page", f"/intent/{HASH[:-3]}", "A transaction hash has 64 hex characters. This one has 61."),
    ("call data", "0x" + "ab" * 68, "Too long for a transaction hash or an address (136 hex characters)."),
    ("g for 9", "0xg" + DIGITS[1:], "Hashes and addresses use 0-9 and a-f only. This one has “g”."),
    ("shortened, head and tail too short", "0x1…2", input_errors.TOO_SHORT),
    ("shortened, three digits of a tail", "…e2b", input_errors.TOO_SHORT),
    ("two digits of words", "ab", "Text must have at least 3 characters. This one has 2."),
    ("name", "vitalik.eth", "ENS names aren't supported. Paste the address instead."),
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
    ("ellipsis", "0x7c1f…9e2b", "7c1f", "9e2b"),
    ("three dots", "0x7c1f...9e2b", "7c1f", "9e2b"),
    ("two dots", "0x7c1f..9e2b", "7c1f", "9e2b"),
    ("tail alone", "…9e2b", "", "9e2b"),
    ("tail alone, three dots", "...9e2b", "", "9e2b"),
    ("tail alone, behind 0x", "0x…9e2b", "", "9e2b"),
    ("tail alone in a sentence", "it ends with …9e2b, help", "", "9e2b"),
    ("head alone", "0x7c1f4a…", "7c1f4a", ""),
    ("head alone before a word", "it is 0xf9607d...please", "f9607d", ""),
    ("least of a tail", "0x7…e2b", "7", "e2b"),
    ("least of a head", "0x7c1f…", "7c1f", ""),
    ("upper case", "0X7C1F…9E2B", "7c1f", "9e2b"),
    ("surrounded by text", "Where is 0x7c1f…9e2b? It is late.", "7c1f", "9e2b"),
    ("at the end of a sentence", "Where is 0x7c1f...9e2b...", "7c1f", "9e2b"),
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
    assert identifiers.read(nothing) == identifiers.Pasted()


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
