import pytest

from intents_ui.display.formatting import hashes

OWNER = "0x0709CF2d5D4f3D38f5948d697fE64d7FB3639Eb1"
HASH = "0x9b21c4" + "5" * 52 + "77ad01"

CANONICAL = [
    ("as it is", HASH, HASH),
    ("without 0x", HASH[2:], HASH),
    ("upper case", HASH.upper(), HASH),
    ("one short", HASH[:-1], None),
    ("one long", HASH + "0", None),
    ("no hex", HASH[:-1] + "g", None),
    ("full-width digit", HASH[:-1] + "\uff10", None),
    ("line break", HASH + "\n", None),
    ("empty", "", None),
]


@pytest.mark.parametrize(("received", "known"), [row[1:] for row in CANONICAL], ids=[row[0] for row in CANONICAL])
def test_a_hash_has_one_canonical_form(received, known):
    assert hashes.canonical_hash(received) == known


def test_addresses_are_checksummed_and_shortened():
    assert hashes.checksum(OWNER.lower()) == OWNER
    assert hashes.short_address(OWNER.lower()) == "0x0709CF…639Eb1"
    assert hashes.short_hash(HASH) == "0x9b21c4…77ad01"
    assert hashes.short_id("0x7c1f4ab2" + "0" * 48 + "90cd9e2b") == "0x7c1f4ab2…90cd9e2b"


@pytest.mark.parametrize(
    "other",
    ["7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU", "cosmos1depk54cuajgkzea6zpgkq36tnjwdzv4afc3d27", "0x12"],
)
def test_an_address_of_another_format_stays_unchanged(other):
    assert hashes.checksum(other) == other


def test_short_values_are_not_shortened():
    assert hashes.short_id("intent_123abc") == "intent_123abc"
    assert hashes.short_id("\u202eabc") == "⟨U+202E⟩abc"


def test_unknown_is_a_dash():
    assert {hashes.short_id(None), hashes.short_hash(None), hashes.short_address(None), hashes.checksum(None)} == {"—"}


@pytest.mark.parametrize(
    ("address", "wrong"),
    [
        pytest.param(OWNER, False, id="right"),
        pytest.param(OWNER.lower(), False, id="lower case claims nothing"),
        pytest.param("0x" + OWNER[2:].upper(), False, id="upper case claims nothing"),
        pytest.param(OWNER[:-2] + "B1", True, id="one letter in the other case"),
        pytest.param(OWNER[2:-2] + "B1", True, id="without 0x"),
    ],
)
def test_the_checksum_is_checked(address, wrong):
    assert hashes.has_wrong_checksum(address) is wrong


@pytest.mark.parametrize(
    ("txn_hash", "placeholder"),
    [
        pytest.param("0x" + "0" * 64, True, id="zeros"),
        pytest.param("0x" + "f" * 64, True, id="f's"),
        pytest.param("0x" + "F" * 64, True, id="F's"),
        pytest.param("0x" + "1" * 54 + "0" * 10, True, id="ten zeros at the end"),
        pytest.param("0x" + "1" * 55 + "0" * 9, False, id="nine zeros at the end"),
        pytest.param("", True, id="empty"),
        pytest.param(None, True, id="none"),
        pytest.param(HASH, False, id="a hash"),
    ],
)
def test_placeholders(txn_hash, placeholder):
    assert hashes.is_placeholder(txn_hash) is placeholder


def test_links_are_built_from_root_and_hex():
    assert hashes.transaction_link("https://etherscan.io/", txn_hash=HASH.upper()) == f"https://etherscan.io/tx/{HASH}"
    assert hashes.address_link("https://basescan.org", address=OWNER) == f"https://basescan.org/address/{OWNER.lower()}"


@pytest.mark.parametrize(
    "txn_hash", [None, "", "0x" + "0" * 64, "0x" + "f" * 64, "0x12", HASH + "?x", "javascript:alert(1)"]
)
def test_values_that_are_not_transactions_have_no_link(txn_hash):
    assert hashes.transaction_link("https://etherscan.io", txn_hash=txn_hash) is None


@pytest.mark.parametrize("address", [None, "", "0x" + "0" * 40, "0x" + "E" * 40, "alice.eth"])
def test_values_that_are_not_accounts_have_no_link(address):
    assert hashes.address_link("https://etherscan.io", address=address) is None


HOSTILE = [
    None,
    "",
    "javascript:alert(1)",
    "JaVa\tScript:alert(1)",
    "data:text/html,x",
    "vbscript:x",
    "http://etherscan.io",
    "ftp://etherscan.io",
    "//evil.example",
    "/evil.example",
    "https:evil.example",
    "https:/evil.example",
    "https:///evil.example",
    "https://a@evil.example",
    "https://a:b@evil.example",
    "https://evil\\@a.example",
    "https://a.example\\@evil.example",
    "https://\u0430.com",  # Cyrillic
    "https://éxplorer.example",
    "https://127.1",
    "https://127.0.0.1",
    "https://0x7f.1",
    "https://2130706433",
    "https://[::1]",
    "https://[::ffff:127.0.0.1]",
    "https://localhost",
    "https://a.example:8443",
    "https://a.example:443",
    "https://a.example:",
    "\x01https://a.example",
    " https://a.example",
    "https://a.example ",
    "https://a.example\n",
    "https://a.example/\r\nSet-Cookie: x",
    "https://a.exa\tmple",
    "https://a.example/%2e%2e",
    "https://%61.example",
    "https://a.example?x=",
    "https://a.example/?x=",
    "https://a.example/#",
    "https://a.example#",
    "https://a.example/<script>",
    'https://a.example/"onclick="x',
    "https://a.example/'",
    "https://a.example//evil.example",
    "https://-a.example",
    "https://a-.example",
    "https://.example",
    "https://a..example",
    "https://a.example.",
    "https://a_b.example",
    "https://a.example/" + "x" * 400,
    "https://" + "a" * 64 + ".example",
    "https://" + "a." * 200 + "example",
    "https://a\u3002example",
    "https://a.\uff45xample",
    "https://a.example/\u202e",
    "https://\u200ba.example",
    "https://a.example/\x00",
    "blob:https://a.example/x",
    "view-source:https://a.example",
]


@pytest.mark.parametrize("url", HOSTILE, ids=ascii)
def test_no_link_is_built_on_a_hostile_explorer(url):
    assert hashes.explorer_root(url) is None
    assert hashes.transaction_link(url, txn_hash=HASH) is None


@pytest.mark.parametrize(
    ("url", "root"),
    [
        ("https://etherscan.io", "https://etherscan.io"),
        ("https://explorer.b3.fun/", "https://explorer.b3.fun"),
        ("https://a.example/mainnet/", "https://a.example/mainnet"),
        ("https://xn--e1afmkfd.xn--p1ai", "https://xn--e1afmkfd.xn--p1ai"),
    ],
)
def test_a_valid_explorer_url_is_used(url, root):
    assert hashes.explorer_root(url) == root
