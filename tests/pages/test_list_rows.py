"""Rows of a list are reused while they describe the same transfers."""

import gc
import weakref
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest
import time_machine

from intents_ui import wiring
from intents_ui.display.lists.rows import Rows
from intents_ui.display.transfers.situation import Check
from intents_ui.emulator.app import Emulator
from intents_ui.service.operations.operations import get_intent_history
from intents_ui.service.queries import paging
from intents_ui.service.queries.paging import Leaf
from intents_ui.service.wire.models import Page
from intents_ui.service.wire.results import Position
from intents_ui.web.transfers import balance_cache, situations
from tests.pages.conftest import fresh

pytestmark = pytest.mark.usefixtures("response_cache")
NOON: Final = datetime(2026, 11, 21, 12, 0, 0, 500_000, tzinfo=UTC)
FIRST: Final = Page.first(size=20)


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


@pytest.fixture
def emulator(clock: time_machine.Traveller) -> Iterator[Emulator]:
    yield from fresh()


def listed(*, balances: bool = False) -> Leaf:
    request = {"include_balances": True} if balances else {}
    return wiring.leaf(request, FIRST, at=Position())


def again() -> Leaf:
    """Return the list from a new response, which nothing else holds."""
    return paging.leaf(lambda page: wiring.uncached_service().get_intent_history(page=page), FIRST, at=Position())


def rows(**options: bool) -> Rows:
    return situations.of_entries(listed(**options).entries)


def test_the_rows_of_a_cached_response_are_reused(emulator: Emulator) -> None:
    known = rows()
    assert len(known) == 20
    assert rows() is known


def test_the_rows_of_a_response_with_the_same_bytes_are_reused(emulator: Emulator) -> None:
    before = again()
    known = situations.of_entries(before.entries)
    after = again()
    assert after.entries is before.entries
    assert situations.of_entries(after.entries) is known


def test_the_rows_of_a_response_that_replaces_a_cached_one_are_reused(emulator: Emulator) -> None:
    def renewed() -> Rows:
        wiring.service().ask_uncached(get_intent_history(page=FIRST))
        return rows()

    assert renewed() is renewed()


def test_one_new_transfer_makes_new_rows(emulator: Emulator) -> None:
    before = again()
    known = situations.of_entries(before.entries)
    emulator.play("expired-quote")
    found = situations.of_entries(again().entries)
    assert found is not known
    assert found[1:] == known[:19]  # each the same object


def test_rows_are_reused_only_with_the_same_names(emulator: Emulator) -> None:
    known = rows()
    wiring.catalog().version = object()
    assert rows() is not known


def test_rows_are_derived_again_when_a_text_changes(emulator: Emulator, clock: time_machine.Traveller) -> None:
    entries = listed().entries
    known = situations.of_entries(entries)
    clock.shift(timedelta(seconds=situations.LONGEST_REUSE.total_seconds() - 1))
    assert situations.of_entries(entries) is known
    clock.shift(timedelta(seconds=1))
    assert situations.of_entries(entries) is not known
    clock.move_to(NOON - timedelta(seconds=1))
    assert situations.of_entries(entries) is not known


def test_rows_are_derived_again_when_balances_become_known(emulator: Emulator) -> None:
    transfer = emulator.finished(8)["intentId"]
    entries = listed().entries
    known = situations.of_entries(entries)
    place = next(place for place, each in enumerate(known) if each.facts.intent.intent_id == transfer)
    assert known[place].balances.check is Check.UNCHECKED
    balance_cache.look_up(known[place].facts)
    assert situations.of_entries(entries)[place].balances.check is Check.CHECKED


def test_rows_with_balances_are_reused_later(emulator: Emulator, clock: time_machine.Traveller) -> None:
    entries = listed(balances=True).entries
    known = situations.of_entries(entries)
    assert any(each.balances.check is Check.CHECKED for each in known)
    clock.shift(timedelta(seconds=10))
    assert situations.of_entries(entries) is known


def test_rows_are_freed_with_their_response(emulator: Emulator) -> None:
    gc.disable()
    try:
        entries = again().entries
        known = weakref.ref(situations.of_entries(entries))
        found = known()
        assert found is not None
        assert found.transfers
        del found, entries
        assert known() is None
    finally:
        gc.enable()
