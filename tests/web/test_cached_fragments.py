"""Cached fragments show what a page without them would show."""

from collections.abc import Callable
from functools import partial
from typing import Final

from intents_ui.display.formatting import hashes, short_forms, times
from intents_ui.display.formatting.short_forms import ShortForms
from intents_ui.display.transfers.transfer import Transfer
from intents_ui.web import cached_fragments
from intents_ui.web.cached_fragments import cached_fragment
from tests.display.builders import NOW, OWNER, at, before, intent

TWIN: Final = OWNER[:10] + "7" * 24 + OWNER[-8:]

short = partial(short_forms.shown, whole=hashes.checksum, shorten=hashes.short_address)


def transfer() -> Transfer:
    return at(intent(), now=NOW)


def row(address: str, of: Transfer) -> Callable[[], str]:
    return partial(cached_fragment, of, "row", caller=lambda: short(address))


def page(*parts: Callable[[], str]) -> list[str]:
    return ShortForms().draw(lambda: " ".join(part() for part in parts)).split()


def test_a_cached_address_is_shown_in_full_beside_a_lookalike() -> None:
    cached, other = row(OWNER, transfer()), row(TWIN, transfer())
    lookalike = partial(short, TWIN)
    assert page(cached) == [hashes.short_address(OWNER)]
    for parts in ([cached, lookalike], [lookalike, cached], [cached, other]):
        assert {each.lower() for each in page(*parts)} == {OWNER, TWIN}
    assert page(cached) == [hashes.short_address(OWNER)]


def test_the_clock_of_a_fragment_is_that_of_its_transfer() -> None:
    age = partial(times.ago, before(minutes=7))
    drawn = ShortForms().draw(
        lambda: cached_fragment(transfer(), "row", caller=lambda: age(now=cached_fragments.now()))
    )
    assert drawn == "7 min ago"
