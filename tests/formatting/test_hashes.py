from functools import partial

import pytest

from intents_ui.formatting import hashes, text
from intents_ui.formatting.hashes import ShortForms
from tests.transfers.builders import MERCHANT, OWNER, TXN_HASH, named

CHECKSUMMED = "0x0709CF2d5D4f3D38f5948d697fE64d7FB3639Eb1"
HASH = "0x9b21c4" + "5" * 52 + "77ad01"

CANONICAL = named(
    ("as it is", HASH, HASH),
    ("without 0x", HASH[2:], HASH),
    ("upper case", HASH.upper(), HASH),
    ("one short", HASH[:-1], None),
    ("no hex", HASH[:-1] + "g", None),
    ("full-width digit", HASH[:-1] + "\uff10", None),
    ("line break", HASH + "\n", None),
)


@pytest.mark.parametrize(("received", "known"), CANONICAL)
def test_a_hash_has_one_canonical_form(received, known):
    assert hashes.canonical_hash(received) == known


def test_values_are_shortened_and_addresses_checksummed():
    assert hashes.checksum(CHECKSUMMED.lower()) == CHECKSUMMED
    assert hashes.short_address(CHECKSUMMED.lower()) == "0x0709CF…639Eb1"
    assert hashes.short_hash(HASH) == "0x9b21c4…77ad01"
    assert hashes.short_id("0x7c1f4ab2" + "0" * 48 + "90cd9e2b") == "0x7c1f4ab2…90cd9e2b"
    assert hashes.short_id("intent_123abc") == "intent_123abc"
    assert hashes.short_id("\u202eabc") == "⟨U+202E⟩abc"
    assert {hashes.short_id(None), hashes.short_hash(None), hashes.short_address(None), hashes.checksum(None)} == {"—"}


def test_a_checksum_that_is_claimed_is_checked():
    known = {CHECKSUMMED: False, CHECKSUMMED.lower(): False, CHECKSUMMED[:-2] + "B1": True}
    assert {address: hashes.has_wrong_checksum(address) for address in known} == known


def test_placeholders_are_zeros_or_fs_or_end_in_ten_zeros():
    placeholders = {"0x" + "0" * 64: True, "0x" + "f" * 64: True, "0x" + "1" * 54 + "0" * 10: True}
    known = {**placeholders, "0x" + "1" * 55 + "0" * 9: False, HASH: False}
    assert {txn_hash: hashes.is_placeholder(txn_hash) for txn_hash in known} == known


@pytest.mark.parametrize("root", ["etherscan.io", "explorer.b3.fun", "a.example/mainnet", "xn--e1afmkfd.xn--p1ai"])
def test_a_valid_explorer_url_is_used(root):
    assert hashes.explorer_root(f"https://{root}") == hashes.explorer_root(f"https://{root}/") == f"https://{root}"


TWIN = OWNER[:10] + "7" * 24 + OWNER[-8:]
TWIN_HASH = TXN_HASH[:8] + "6" * 52 + TXN_HASH[-6:]

address = partial(hashes.shortened, whole=hashes.checksum, shorten=hashes.short_address)
txn_hash = partial(hashes.shortened, whole=text.visible, shorten=hashes.short_hash)


def page(*values, show=address):
    return ShortForms().draw(lambda: " ".join(show(each) for each in values)).split()


def test_values_with_the_same_short_form_are_shown_in_full():
    shown = page(OWNER, MERCHANT, TWIN, OWNER)
    whole = hashes.checksum(OWNER)
    assert shown == [whole, hashes.short_address(MERCHANT), hashes.checksum(TWIN), whole]
    assert page(TXN_HASH, TWIN_HASH, show=txn_hash) == [TXN_HASH, TWIN_HASH]


SAME = named(
    ("in capitals", OWNER.upper().replace("X", "x")),
    ("quite different", MERCHANT),
    ("too short to be shortened", "0x12"),
)


@pytest.mark.parametrize("other", SAME)
def test_unambiguous_values_stay_short(other):
    assert page(OWNER, other) == [hashes.short_address(OWNER), hashes.short_address(other)]


def test_short_forms_are_compared_within_one_page_only():
    page(OWNER)
    assert page(TWIN) == [address(TWIN)] == [hashes.short_address(TWIN)]


def test_a_reused_fragment_shows_lookalikes_in_full():
    fragments = {}

    def fragment(value):
        return hashes.short_forms.get().reuse(fragments, value, lambda: address(value))

    assert page(OWNER, show=fragment) == [hashes.short_address(OWNER)]
    whole = [hashes.checksum(OWNER), hashes.checksum(TWIN)]
    assert page(OWNER, TWIN, show=fragment) == whole
    assert page(TWIN, OWNER, show=fragment) == whole[::-1]
    assert page(OWNER, show=fragment) == [hashes.short_address(OWNER)]


def test_a_fragment_has_the_values_of_fragments_in_it():
    around, inner = {}, {}

    def draw():
        forms = hashes.short_forms.get()
        return forms.reuse(around, "around", lambda: forms.reuse(inner, "inner", lambda: address(OWNER)))

    assert [ShortForms().draw(draw) for _ in range(2)] == [hashes.short_address(OWNER)] * 2
    inner.clear()
    assert ShortForms().draw(lambda: f"{draw()} {address(TWIN)}").split() == [
        hashes.checksum(OWNER),
        hashes.checksum(TWIN),
    ]
