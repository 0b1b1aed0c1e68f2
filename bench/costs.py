"""Cost of each kind of page in function calls and memory, which depend on the code and not on the machine.

    .venv/bin/python -m bench.costs

It prints a JSON object, which `tests/test_cost.py` compares with the recorded one. In a process of its own, because the
memory that an object needs depends on what was done with others of its class. Logs are off, the clock stands still, the
garbage collector is off, and a stub service sends the first response to a request each time.
"""

import asyncio
import gc
import json
import logging
import os
import threading
import tracemalloc
from collections.abc import Callable
from enum import StrEnum
from types import FrameType
from typing import Any, Final
from unittest.mock import patch

import django
import httpx
import time_machine
from django.conf import settings

from bench.journeys import request
from bench.stub_service import StubService, owner
from intents_ui.emulator import names
from intents_ui.emulator.names import Role

NOW: Final = "2026-11-21T12:00:00Z"
ROUNDS: Final = 3
EXPIRED: Final = 20.0  # seconds: lists, searches and balances are not fresh any more, names of chains and tokens are
PATIENCE: Final = 30.0  # seconds to wait for a response that is in memory, on a busy machine
USDC: Final = "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"
NATIVE: Final = "0x" + "0" * 40
FINISHED: Final = (3, 4, 5, 7, 8, 11, 12, 13, 14, 16)  # ten scenarios with different results


class State(StrEnum):
    """What the process has cached before it gets the request. Names of chains and tokens always are."""

    UNSEEN = "unseen"  # nothing
    SEEN = "seen"  # responses that have expired, and come again with the same bytes
    CACHED = "cached"  # fresh responses


class ReplayTransport(httpx.BaseTransport):
    """Transport to a service in this process that sends the first response to a request each time."""

    def __init__(self) -> None:
        self.service = StubService()
        self._responses: dict[tuple[str, str], tuple[int, bytes]] = {}

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        question = request.url.path, request.read().decode()
        if question not in self._responses:
            head, _, content = asyncio.run(self.service.prepare(*question)).partition(b"\r\n\r\n")
            self._responses[question] = int(head.split()[1]), content
        status, content = self._responses[question]
        headers = {"Content-Type": "application/json"}
        return httpx.Response(status, headers=headers, stream=httpx.ByteStream(content))

    def close(self) -> None:
        """Do nothing: each dashboard closes its client, but the service stays."""


class Site:
    """A dashboard with empty caches after each `restart`, and a clock that only `expire` moves."""

    def __init__(self, runner: asyncio.Runner) -> None:
        self._runner = runner
        self._transport = ReplayTransport()
        self._seconds = 0.0
        self._client: Any = None
        emulator = self._transport.service.emulator
        self.finished = [emulator.finished(number)["intentId"] for number in FINISHED]
        self.running = emulator.play("stalled-in-bridge")["intentId"]

    def restart(self) -> None:
        """Restart the dashboard, load the names, and draw a page, which builds what all pages share."""
        from intents_ui import wiring
        from intents_ui.service.client import ServiceClient

        if self._client:
            self._client.close()
        self._client = ServiceClient(wiring.config(), transport=self._transport, clock=lambda: self._seconds)
        wiring.use(wiring.Dashboard(emulator=self._transport.service.emulator, service=self._client))
        wiring.catalog().warm()
        self.open("/saved")

    def expire(self) -> None:
        self._seconds += EXPIRED

    def open(self, path: str, form: bytes | None = None) -> None:
        status, body = self._runner.run(request(path, form=form))
        assert status == 200, (path, status, body)  # noqa: S101 - a measurement of anything else is none


def triage(site: Site) -> None:
    site.open("/triage", form=b"q=" + "+".join(site.finished).encode())


def live_fragment(site: Site) -> None:
    from intents_ui import wiring
    from intents_ui.live.snapshot import Snapshot
    from intents_ui.pages import intent

    receipt = wiring.service().get_intent_receipt(site.running)
    intent.receipt_fragment(Snapshot(site.running, receipt, learned_at=None))


type Draw = Callable[[Site], None]
PAGES: Final[dict[str, tuple[Draw, tuple[State, ...]]]] = {
    "empty page": (lambda site: site.open("/saved"), (State.CACHED,)),
    "home": (lambda site: site.open("/"), (State.UNSEEN, State.SEEN, State.CACHED)),
    "history": (lambda site: site.open("/history"), (State.UNSEEN, State.SEEN, State.CACHED)),
    "transfer": (lambda site: site.open(f"/intent/{site.finished[0]}"), (State.UNSEEN, State.CACHED)),
    "open transfer": (lambda site: site.open(f"/intent/{site.running}"), (State.UNSEEN,)),
    "live fragment": (live_fragment, (State.UNSEEN,)),
    "search with 20 hits": (lambda site: site.open(f"/search?owner={owner(20, 1)}"), (State.UNSEEN,)),
    "address": (lambda site: site.open(f"/address/{names.address_of(Role.OWNER, 0)}"), (State.UNSEEN,)),
    "tokens": (lambda site: site.open("/tokens?chain=8453"), (State.CACHED,)),
    "token": (lambda site: site.open(f"/token/1/{USDC}"), (State.UNSEEN,)),
    "chains": (lambda site: site.open("/chains"), (State.CACHED,)),
    "routes": (lambda site: site.open(f"/routes?from=1&token={USDC}&to=8453&for={NATIVE}"), (State.UNSEEN,)),
    "transfer by API": (lambda site: site.open(f"/api/v1/transfers/{site.finished[0]}"), (State.CACHED,)),
    "lookup by API": (lambda site: site.open(f"/api/v1/lookup?q={site.finished[0]}"), (State.CACHED,)),
    "triage of ten": (triage, (State.UNSEEN,)),
}


def function_calls(call: Callable[[], object]) -> int:
    """Return the number of Python and C functions that a call runs, in all threads of this process."""
    count = 0

    def note(_: FrameType, event: str, __: object) -> None:
        nonlocal count
        if event in ("call", "c_call"):
            count += 1  # no lock: the interpreter switches threads only at calls and jumps

    threading.setprofile_all_threads(note)
    try:
        call()
    finally:
        threading.setprofile_all_threads(None)
    return count


def peak_bytes(call: Callable[[], object]) -> int:
    """Return the maximum memory in bytes that Python objects of a call occupy at once."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def costs_of(site: Site, draw: Draw, state: State) -> dict[str, int]:
    def measured(by: Callable[[Callable[[], object]], int]) -> int:
        site.restart()
        if state is not State.UNSEEN:
            draw(site)
        if state is State.SEEN:
            site.expire()
        return by(lambda: draw(site))

    # The first round also fills the caches of functions, which outlive a dashboard. Threads may overlap, so the memory
    # of the rounds differs a little.
    peaks = [measured(peak_bytes) for _ in range(ROUNDS)]
    return {"calls": measured(function_calls), "peak bytes": min(peaks)}


def one_by_one(_: object, *calls: Callable[[], object]) -> list[object]:
    """Run calls in this thread, where they can't overlap differently each time. None of the service's fails."""
    return [call() for call in calls]


def main() -> None:
    django.setup()
    logging.disable(logging.CRITICAL)
    from intents_ui.service import caching_client
    from intents_ui.service.context import concurrency
    from intents_ui.settings import ENV

    settings.MIRROR_DATABASE = None  # this machine may have one
    caching_client.COPY_PATIENCE = ENV.intents_balance_timeout = ENV.intents_page_timeout = PATIENCE
    in_turn = patch.object(concurrency.CallThreads, "together", one_by_one)
    with time_machine.travel(NOW, tick=False), asyncio.Runner() as runner, in_turn:
        site = Site(runner)
        gc.freeze()
        gc.disable()
        cases = ((name, draw, state) for name, (draw, states) in PAGES.items() for state in states)
        print(json.dumps({f"{name}, {state}": costs_of(site, draw, state) for name, draw, state in cases}))


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "intents_ui.settings")
    main()
