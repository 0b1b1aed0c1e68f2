from functools import partial

import pytest

from intents_ui.display import hashes, short_forms, text
from intents_ui.display.short_forms import ShortForms, Whole
from tests.display.builders import MERCHANT, OWNER, TXN_HASH

TWIN = OWNER[:10] + "7" * 24 + OWNER[-8:]
TWIN_HASH = TXN_HASH[:8] + "6" * 52 + TXN_HASH[-6:]
SOLANA = "7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV"

address = partial(short_forms.shown, whole=hashes.checksum, shorten=hashes.short_address)
txn_hash = partial(short_forms.shown, whole=text.visible, shorten=hashes.short_hash)


def page(*values, show=address):
    return ShortForms().draw(lambda: " ".join(show(each) for each in values)).split()


def test_two_that_are_shortened_to_the_same_are_shown_whole_and_others_are_not():
    shown = page(OWNER, MERCHANT, TWIN, OWNER)
    whole = hashes.checksum(OWNER)
    assert shown == [whole, hashes.short_address(MERCHANT), hashes.checksum(TWIN), whole]
    assert page(TXN_HASH, TWIN_HASH, show=txn_hash) == [TXN_HASH, TWIN_HASH]


SAME = [
    pytest.param(OWNER, id="once more"),
    pytest.param(OWNER.upper().replace("X", "x"), id="in capitals"),
    pytest.param(MERCHANT, id="quite different"),
    pytest.param(None, id="none"),
    pytest.param("0x12", id="too short to be shortened"),
]


@pytest.mark.parametrize("other", SAME)
def test_what_cannot_be_taken_for_another_stays_short(other):
    assert page(OWNER, other) == [hashes.short_address(OWNER), hashes.short_address(other)]


def test_letter_case_makes_another_address_where_it_is_no_hex_and_no_other_short_form():
    other = SOLANA[:10] + SOLANA[10:30].lower() + SOLANA[30:]
    assert page(SOLANA, other) == [SOLANA, other]
    assert page(SOLANA, SOLANA.swapcase()) == [SOLANA, SOLANA.swapcase()]


def test_an_address_and_a_hash_are_two_things():
    one = TXN_HASH[:8] + "1" * 28 + TXN_HASH[-6:]
    found = ShortForms().draw(lambda: f"{txn_hash(TXN_HASH)} {address(one)}")
    assert found == f"{TXN_HASH} {hashes.checksum(one)}"


def test_what_no_address_can_be_does_not_fill_the_page():
    one, other = OWNER + "a" * 4000 + "b" * 6, OWNER + "c" * 4000 + "b" * 6
    assert page(one, other) == [hashes.short_address(one)] * 2


def test_it_is_told_apart_from_what_is_short_by_itself():
    found = []
    ShortForms().draw(lambda: str(found.append([address(OWNER), address(TWIN), address("0x12")])))
    assert [isinstance(each, Whole) for each in found[-1]] == [True, True, False]


def test_beyond_a_page_nothing_is_compared():
    page(OWNER)
    assert page(TWIN) == [address(TWIN)] == [hashes.short_address(TWIN)]
