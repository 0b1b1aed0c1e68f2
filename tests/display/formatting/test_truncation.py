from functools import partial

import pytest

from intents_ui.display.formatting import hashes, short_forms, text
from intents_ui.display.formatting.short_forms import ShortForms, Whole
from tests.display.builders import MERCHANT, OWNER, TXN_HASH

TWIN = OWNER[:10] + "7" * 24 + OWNER[-8:]
TWIN_HASH = TXN_HASH[:8] + "6" * 52 + TXN_HASH[-6:]
SOLANA = "7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV"

address = partial(short_forms.shown, whole=hashes.checksum, shorten=hashes.short_address)
txn_hash = partial(short_forms.shown, whole=text.visible, shorten=hashes.short_hash)


def page(*values, show=address):
    return ShortForms().draw(lambda: " ".join(show(each) for each in values)).split()


def test_values_with_the_same_short_form_are_shown_in_full():
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
def test_unambiguous_values_stay_short(other):
    assert page(OWNER, other) == [hashes.short_address(OWNER), hashes.short_address(other)]


def test_letter_case_matters_only_for_addresses_that_are_not_hex():
    other = SOLANA[:10] + SOLANA[10:30].lower() + SOLANA[30:]
    assert page(SOLANA, other) == [SOLANA, other]
    assert page(SOLANA, SOLANA.swapcase()) == [SOLANA, SOLANA.swapcase()]


def test_an_address_and_a_hash_are_different_identifiers():
    one = TXN_HASH[:8] + "1" * 28 + TXN_HASH[-6:]
    found = ShortForms().draw(lambda: f"{txn_hash(TXN_HASH)} {address(one)}")
    assert found == f"{TXN_HASH} {hashes.checksum(one)}"


def test_overlong_values_do_not_fill_the_page():
    one, other = OWNER + "a" * 4000 + "b" * 6, OWNER + "c" * 4000 + "b" * 6
    assert page(one, other) == [hashes.short_address(one)] * 2


def test_a_shortened_value_differs_from_a_short_one():
    found = []
    ShortForms().draw(lambda: str(found.append([address(OWNER), address(TWIN), address("0x12")])))
    assert [isinstance(each, Whole) for each in found[-1]] == [True, True, False]


def test_short_forms_are_compared_within_one_page_only():
    page(OWNER)
    assert page(TWIN) == [address(TWIN)] == [hashes.short_address(TWIN)]
