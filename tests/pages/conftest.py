"""The site through Django's own client, asking an embedded service that the test can set."""

from collections.abc import Iterator

import pytest
import time_machine
from django.core.cache import cache
from django.test import Client

from intents_ui import newest, wiring
from intents_ui.emulator.app import Emulator
from intents_ui.pages import console, embed, everyone, feeds, history, home, intent, recoverable, token
from intents_ui.service import clock, paused
from intents_ui.service.lifetimes import LIFETIMES, Kind, Lifetime
from intents_ui.settings import ENV

# As they are before a test puts its own in their place.
MADE = (
    wiring.emulator,
    wiring.service,
    wiring.hub,
    wiring.exports,
    wiring.ticket_threads,
    wiring.text_threads,
    wiring.places_by_hand,
)
LEARNED = (
    *(wiring.health, wiring.kept, wiring.catalog, wiring.routes, wiring.prices, wiring.token_lists),
    *(home.entries, history.newest, intent.plan, recoverable.answer_to, token.newest),
    *(embed.read, everyone.newest, feeds.transfer, feeds.newest, console.examples),
    newest.newest,
)

# They were kept before anything else was, and tests of their pages are about that.
KEPT = (Kind.CHAINS, Kind.TOKENS, Kind.TOKEN_SEARCH, Kind.ROUTES, Kind.NO_ROUTES, Kind.BALANCES)


@pytest.fixture(autouse=True)
def asked_anew() -> Iterator[None]:
    """Most tests change what the service says between two pages, or count what one page asks. Tests of what is kept
    (`tests/service`, `tests/faults`, those in a browser) have the lifetimes of a real installation."""
    others = {kind: Lifetime(0, 0, 0) for kind in Kind if kind not in KEPT}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ENV, "intents_service_kept", {**LIFETIMES, **others})
        yield


@pytest.fixture
def emulator() -> Iterator[Emulator]:
    """A service of this test's own, at a moment of its own: the same transfers in every run, and nothing kept."""
    with time_machine.travel("2026-11-21T12:00:00Z"):
        yield from fresh()


def fresh() -> Iterator[Emulator]:
    forget()
    embedded = wiring.emulator()
    assert embedded is not None
    yield embedded
    wiring.close_all()
    forget()


def forget() -> None:
    """What this process has made and learned so far, but for the clients of a test's own."""
    for each in MADE:
        each.cache_clear()
    forget_answers()


def forget_answers() -> None:
    """What it has learned of the service."""
    for each in LEARNED:
        each.cache_clear()
    paused.heard(None)
    clock.forget()
    cache.clear()


@pytest.fixture
def site(emulator: Emulator) -> Client:
    return Client()
