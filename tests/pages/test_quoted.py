"""Quoted amounts are small and labeled, and no arrow leads to what did not arrive."""

import html
import re

import pytest
from django.test import Client

from intents_ui.emulator.app import Emulator

ARROWS = {"": "money-then", "/embed": "embed-then"}
AMOUNT = re.compile(
    r'<span class="labeled"( data-note)?>(?:<span class="amount-label">([^<]+)</span> )?<span class="amount"'
)


def shown(site: Client, emulator: Emulator, number: int, prefix: str) -> tuple[list[tuple[bool, str]], bool]:
    """Return whether each amount is small, its label, and whether there's an arrow between them."""
    page = site.get(f"{prefix}/intent/{emulator.finished(number)['intentId']}").content.decode()
    found = [(bool(small), html.unescape(label)) for small, label in AMOUNT.findall(page)]
    return found, f'class="{ARROWS[prefix]}"' in page


@pytest.mark.parametrize("prefix", ARROWS, ids=["page", "embed"])
@pytest.mark.parametrize(
    ("number", "amounts", "has_arrow"),
    [
        (2, [(False, ""), (False, "")], True),
        (25, [(False, ""), (True, "Quoted:")], False),
        (28, [(True, "Quoted:"), (True, "Quoted:")], False),
        (5, [(True, "Quoted:"), (True, "Quoted:")], False),
        (8, [(False, ""), (False, "Refunded:")], False),
    ],
    ids=["delivered", "refund failed", "deposit reverted", "expired", "refunded"],
)
def test_an_amount_is_large_only_if_it_moved(
    site: Client, emulator: Emulator, prefix: str, number: int, amounts: list[tuple[bool, str]], has_arrow: bool
) -> None:
    found, arrow = shown(site, emulator, number, prefix)
    assert (found[-2:], arrow) == (amounts, has_arrow)
    assert {*found} == {*amounts}  # the same amounts below a page's headline
