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
from tests.faults.site import NATIVE, USDC, Dashboard, Log
from tests.faults.upstream import upstream
from tests.pages.conftest import fresh, switch_to


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
    """Return a path of each kind of page that sends requests to the service."""
    found = {which: f"/intent/{emulator.finished(which)['intentId']}" for which in (3, 8, 11)}
    running = f"/intent/{emulator.play('stalled-in-bridge')['intentId']}"
    quoted = f"/intent/{emulator.play('expired-quote')['intentId']}"
    owner = f"/address/{emulator.finished(3)['ownerAddress']}"
    token = f"/token/1/{USDC}"
    return {
        "home": "/",
        "search": "/search?q=0x" + "ab" * 32,
        "search by keys": f"/search?owner={owner.rpartition('/')[2]}",
        "transaction": "/tx/0x" + "cd" * 32,
        "history": "/history?origin=8453",
        "recoverable": "/history?recoverable=1",
        "address": owner,
        "address with a filter": f"{owner}?status=in-flight",
        "address of a token": f"/address/{USDC}",
        "intent": found[3],
        "intent refunded": found[8],
        "intent failed": found[11],
        "intent running": running,
        "intent quoted": quoted,
        "commit": f"{quoted}/commit",
        "balances": f"{found[11]}/balances",
        "reply": f"{found[8]}/reply",
        "route stats": f"{found[8]}/route-stats",
        "share": f"{found[8]}/share",
        "chains": "/chains",
        "chains of a provider": "/chains?provider=CCTP",
        "chain": "/chain/8453",
        "provider": "/provider/RELAY",
        "tokens": "/tokens?chain=1",
        "tokens searched": "/tokens?q=usd",
        "token": token,
        "routes of a token": f"{token}/routes",
        "intents of a token": f"{token}/intents",
        "routes": f"/routes?from=1&token={USDC}",
        "one route": f"/routes?from=1&token={USDC}&to=8453&for={NATIVE}",
        "console": "/console/GetIntentHistory",
        "triage": "/triage",
        "help": "/help",
        "saved": "/saved",
        "demo": "/demo",
    }
