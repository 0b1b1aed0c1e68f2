"""The site through Django's own client, asking an embedded service that the test can set."""

from collections.abc import Iterator

import pytest
import time_machine
from django.core.cache import cache
from django.test import Client

from intents_ui import looks, wiring
from intents_ui.emulator.app import Emulator
from intents_ui.pages import console, history, home, intent, recoverable, token


@pytest.fixture
def emulator() -> Iterator[Emulator]:
    """A service of this test's own, at a moment of its own: the same transfers in every run, and nothing kept."""
    with time_machine.travel("2026-11-21T12:00:00Z"):
        yield from fresh()


def fresh() -> Iterator[Emulator]:
    made = (wiring.emulator, wiring.service, wiring.catalog, wiring.hub, wiring.exports, wiring.ticket_threads)
    made += (
        wiring.routes,
        wiring.prices,
        wiring.token_lists,
        home.entries,
        history.newest,
        intent.plan,
        looks.look,
        recoverable.answer_to,
        token.newest,
    )
    made += (console.examples, wiring.places_by_hand)
    for each in made:
        each.cache_clear()
    looks.forget()
    cache.clear()
    embedded = wiring.emulator()
    assert embedded is not None
    yield embedded
    wiring.close_all()
    for each in made:
        each.cache_clear()


@pytest.fixture
def site(emulator: Emulator) -> Client:
    return Client()
