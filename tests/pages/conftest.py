"""Fixtures of page tests: Django's test client, with an embedded service that the test controls."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import httpx
import pytest
import time_machine
from django.core.cache import cache
from django.test import Client

from intents_ui import app, startup
from intents_ui.emulator.app import Emulator
from intents_ui.service import catalog
from intents_ui.service.client import InProcessTransport
from intents_ui.service.operations import Kind
from intents_ui.startup import App
from tests import surfaces
from tests.pages.cases import Pages
from tests.pages.recorded import Recorded, recorded
from tests.policies import NOT_CACHED, policies
from tests.waiting import PATIENCE

# Tests of pages with this data depend on its lifetimes.
CACHED_KINDS = (
    Kind.CHAINS,
    Kind.TOKENS,
    Kind.TOKEN_SEARCH,
    Kind.NO_ROUTES,
    Kind.BALANCES,
)


@pytest.fixture
def response_cache() -> None:
    """Let a test have the default lifetimes of cached responses."""


@pytest.fixture(autouse=True)
def without_response_cache(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Most tests change the service's data between two pages, or count a page's requests.

    Tests of caching (with the fixture `response_cache`, `tests/service`, `tests/faults`) have the default lifetimes.
    """
    if "response_cache" not in request.fixturenames:
        others = [kind for kind in Kind if kind not in CACHED_KINDS]
        monkeypatch.setattr("intents_ui.service.operations.POLICIES", policies(*others, **NOT_CACHED))


@pytest.fixture(autouse=True)
def patient_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages wait for names and prices however slow the machine is."""
    monkeypatch.setattr(catalog, "PATIENCE_SECONDS", PATIENCE)


@pytest.fixture
def emulator() -> Iterator[Emulator]:
    """Embedded service of one test at a time that stands still: the same transfers, however slow the machine is."""
    with time_machine.travel("2026-11-21T12:00:00Z", tick=False):
        yield from fresh()


@pytest.fixture
def still(emulator: Emulator) -> Iterator[None]:
    """Stop the clock, so that nothing happens between two requests, however slow the machine is."""
    with time_machine.travel(datetime.now(UTC), tick=False):
        yield


@pytest.fixture(scope="module")
def world() -> Iterator[tuple[Emulator, Client]]:
    """A world for all scenarios. Their transfers don't meet: each scenario has an owner of its own."""
    with surfaces.world() as found:
        yield found


def fresh() -> Iterator[Emulator]:
    """Run on objects of its own."""
    before = app.current()
    app.use(startup.build())
    cache.clear()
    emulator = app.current().emulator
    assert emulator is not None
    try:
        yield emulator
    finally:
        switch_to(before)
        cache.clear()


def switch_to(objects: App) -> None:
    """Close the current objects and use others. An event loop left open fails a later test."""
    app.current().close()
    app.use(objects)


def renew(*names: str) -> None:
    """Replace these of the current objects by new ones."""
    now = app.current()
    new = startup.build(emulator=now.emulator, service=now.service)
    app.use(replace(now, **{name: getattr(new, name) for name in names}))


@pytest.fixture
def operations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Operations called on the service."""
    found: list[str] = []
    send = InProcessTransport.handle_request

    def sent(transport: InProcessTransport, request: httpx.Request) -> httpx.Response:
        found.append(request.url.path.rpartition("/")[2])
        return send(transport, request)

    monkeypatch.setattr(InProcessTransport, "handle_request", sent)
    return found


@pytest.fixture
def transport(emulator: Emulator) -> Iterator[Recorded]:
    """The pages' transport to the service, which a test can read and change."""
    with recorded(emulator) as transport:
        yield transport


@pytest.fixture
def site(emulator: Emulator) -> Client:
    return Client()


@pytest.fixture
def pages(transport: Recorded, emulator: Emulator, monkeypatch: pytest.MonkeyPatch) -> Pages:
    return Pages(transport, emulator, monkeypatch)
