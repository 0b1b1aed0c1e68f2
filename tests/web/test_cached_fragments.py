"""Fragments that are drawn once for as long as they are true."""

from collections.abc import Callable
from functools import partial
from typing import Final

import pytest

from intents_ui import wiring
from intents_ui.display.formatting import hashes, short_forms, times
from intents_ui.display.formatting.moment import Moment
from intents_ui.display.formatting.short_forms import ShortForms
from intents_ui.display.transfers.situation import Situation
from intents_ui.web import cached_fragments
from intents_ui.web.cached_fragments import CHECK_TIME, cached_fragment
from tests.display.builders import MERCHANT, NOW, OWNER, at, before, intent

TWIN: Final = OWNER[:10] + "7" * 24 + OWNER[-8:]

short = partial(short_forms.shown, whole=hashes.checksum, shorten=hashes.short_address)


@pytest.fixture
def situation() -> Situation:
    return at(intent(), now=Moment.of(NOW))


class Body:
    """The body of a `{% call %}` block that shows an address. `drawn`: how often."""

    def __init__(self, address: str = OWNER) -> None:
        self.address = address
        self.drawn = 0

    def __call__(self) -> str:
        self.drawn += 1
        return short(self.address)


def page(*parts: Callable[[], str]) -> list[str]:
    return ShortForms().draw(lambda: " ".join(part() for part in parts)).split()


def test_a_fragment_is_drawn_once_for_each_key(situation: Situation) -> None:
    body = Body()
    for _ in range(3):
        page(partial(cached_fragment, situation, "row", True, caller=body))
    assert body.drawn == 1
    page(partial(cached_fragment, situation, "row", False, caller=body))
    assert body.drawn == 2


def test_the_fragments_of_a_situation_are_limited(situation: Situation) -> None:
    body = Body()
    for number in range(3 * cached_fragments.MOST_FRAGMENTS):
        page(partial(cached_fragment, situation, "row", number, caller=body))
    assert len(situation.fragments) <= cached_fragments.MOST_FRAGMENTS


def test_another_situation_has_its_own_fragments(situation: Situation) -> None:
    for each, address in ((situation, OWNER), (at(intent(), now=situation.now), MERCHANT)):
        assert page(partial(cached_fragment, each, "row", caller=Body(address))) == [hashes.short_address(address)]


def test_other_logo_hosts_draw_another_fragment(situation: Situation, monkeypatch: pytest.MonkeyPatch) -> None:
    body = Body()
    for hosts in ("one", "two"):
        monkeypatch.setattr(wiring, "logos", lambda hosts=hosts: hosts)
        page(partial(cached_fragment, situation, "row", caller=body))
    assert body.drawn == 2


def test_a_fragment_outlives_the_check_that_it_shows(situation: Situation) -> None:
    drawn = []
    for check_time in ("10:00:00", "10:00:07"):
        fragment = partial(
            cached_fragment, situation, "row", caller=lambda: drawn.append(1) or CHECK_TIME, check_time=check_time
        )
        assert page(fragment, fragment) == [check_time] * 2
    assert len(drawn) == 1


def test_outside_of_a_page_nothing_is_kept(situation: Situation) -> None:
    body = Body()
    assert cached_fragment(situation, "row", caller=body) == cached_fragment(situation, "row", caller=body)
    assert body.drawn == 2


@pytest.mark.parametrize("is_first", [True, False])
def test_a_kept_fragment_is_drawn_again_beside_a_lookalike(situation: Situation, *, is_first: bool) -> None:
    row = partial(cached_fragment, situation, "row", caller=Body())
    assert page(row) == [hashes.short_address(OWNER)]
    parts = [row, partial(short, TWIN)]
    found = page(*(parts if is_first else reversed(parts)))
    assert {each.lower() for each in found} == {OWNER, TWIN}
    assert page(row) == [hashes.short_address(OWNER)]


def test_a_fragment_that_shows_a_lookalike_is_not_kept(situation: Situation) -> None:
    row = partial(cached_fragment, situation, "row", caller=Body())
    assert {each.lower() for each in page(row, partial(short, TWIN))} == {OWNER, TWIN}
    assert page(row) == [hashes.short_address(OWNER)]


def test_two_kept_fragments_that_look_alike_are_drawn_again(situation: Situation) -> None:
    other = at(intent(), now=Moment.of(NOW))
    rows = [
        partial(cached_fragment, each, "row", caller=Body(address))
        for each, address in ((situation, OWNER), (other, TWIN))
    ]
    for row in rows:
        page(row)
    assert {each.lower() for each in page(*rows)} == {OWNER, TWIN}


def test_the_clock_of_a_fragment_is_the_moment_of_its_situation(situation: Situation) -> None:
    moment = Moment.of(NOW)
    age = partial(times.ago, before(minutes=7))
    drawn = cached_fragment_of_a_page(at(intent(), now=moment), lambda: age(now=cached_fragments.now()))
    assert drawn == "7 min ago"
    assert moment.covers(NOW + times.MINUTE - times.TICK)
    assert not moment.covers(NOW + times.MINUTE)


def cached_fragment_of_a_page(situation: Situation, body: Callable[[], str]) -> str:
    return ShortForms().draw(lambda: cached_fragment(situation, "row", caller=body))
