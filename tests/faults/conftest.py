"""A dashboard per module, and a service on a socket with faults that tests inject."""

import logging
from collections.abc import Iterator

import pytest
import time_machine
from django.core.cache import cache

from intents_ui import app, startup
from intents_ui.emulator.app import Emulator
from intents_ui.service import client
from intents_ui.service.client import DeadlineTransport
from tests.faults.site import Dashboard, Log
from tests.faults.upstream import upstream
from tests.pages.cases import Transfers, mapped
from tests.pages.conftest import fresh, switch_to
from tests.tables import toml


@pytest.fixture(scope="module")
def emulator() -> Iterator[Emulator]:
    with time_machine.travel("2026-11-21T12:00:00Z"):
        yield from fresh()


@pytest.fixture(scope="module")
def shared(emulator: Emulator) -> Iterator[Dashboard]:
    log = Log()
    logging.getLogger().addHandler(log)
    transport = DeadlineTransport(connections=48)
    with upstream(emulator) as service, pytest.MonkeyPatch.context() as patch:
        patch.setattr(client, "MAX_RETRY_WAIT", 0.0)  # retries don't wait
        yield Dashboard(service, log, transport, patch)
    transport.close()
    logging.getLogger().removeHandler(log)


@pytest.fixture
def dashboard(shared: Dashboard) -> Iterator[Dashboard]:
    shared.service.clear_faults()
    yield shared
    shared.service.clear_faults()
    switch_to(startup.build(emulator=app.current().emulator))
    cache.clear()


@pytest.fixture(scope="module")
def paths(emulator: Emulator) -> dict[str, str]:
    return mapped(toml(__file__, "requests")["paths"], Transfers(emulator).filled)
