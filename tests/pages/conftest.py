"""Fixtures of page tests: Django's test client, with an embedded service that the test controls."""

from collections.abc import Iterator

import pytest
import time_machine
from django.core.cache import cache
from django.test import Client

from intents_ui import wiring
from intents_ui.emulator.app import Emulator
from intents_ui.pages import console, embed, feeds, history, home, intent, recoverable, route_stats, token
from intents_ui.service.operations.cache_ttl import LIFETIMES, Kind, Lifetime
from intents_ui.settings import ENV
from intents_ui.web import newest

# Cached objects of `wiring`, taken before a test replaces any of them.
CACHED = (
    wiring.emulator,
    wiring.service,
    wiring.hub,
    wiring.exports,
    wiring.ticket_threads,
    wiring.text_threads,
    wiring.console_slots,
)
DATA_CACHES = (
    *(wiring.health, wiring.kept, wiring.catalog, wiring.routes, wiring.prices, wiring.token_lists),
    *(home.entries, history.newest, intent.plan, recoverable.answer_to, token.newest),
    *(embed.read, route_stats.newest, feeds.transfer, feeds.newest, console.examples),
    newest.newest,
)

# Tests of pages with this data depend on its lifetimes.
CACHED_KINDS = (Kind.CHAINS, Kind.TOKENS, Kind.TOKEN_SEARCH, Kind.ROUTES, Kind.NO_ROUTES, Kind.BALANCES)


@pytest.fixture(autouse=True)
def without_response_cache() -> Iterator[None]:
    """Most tests change the service's data between two pages, or count a page's requests.

    Tests of caching (`tests/service`, `tests/faults`, browser tests) have the default lifetimes.
    """
    others = {kind: Lifetime(0, 0, 0) for kind in Kind if kind not in CACHED_KINDS}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ENV, "intents_cache_ttl", {**LIFETIMES, **others})
        yield


@pytest.fixture
def emulator() -> Iterator[Emulator]:
    """Embedded service of one test, at a fixed time: the same transfers in every run, without cached data."""
    with time_machine.travel("2026-11-21T12:00:00Z"):
        yield from fresh()


def fresh() -> Iterator[Emulator]:
    reset()
    embedded = wiring.emulator()
    assert embedded is not None
    yield embedded
    wiring.close_all()
    reset()


def reset() -> None:
    """Drop all cached objects and data of the process, except the test's own clients."""
    for each in CACHED:
        each.cache_clear()
    clear_data()


def clear_data() -> None:
    """Drop all cached service data."""
    for each in DATA_CACHES:
        each.cache_clear()
    cache.clear()


@pytest.fixture
def site(emulator: Emulator) -> Client:
    return Client()
