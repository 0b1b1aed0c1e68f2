"""The emulator, with responses that a test can change."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import httpx
import pytest
from django.core.cache import cache

from intents_ui import app, startup
from intents_ui.emulator.app import Emulator
from intents_ui.service.client import InProcessTransport, ServiceClient
from tests.pages.conftest import switch_to

REFERENCE = {"GetChains", "GetTokenList"}

type Change = Callable[[Any], Any]


class OddService(httpx.BaseTransport):
    """A transport that returns the emulator's responses and caches them, so the clock must be stopped.

    `changes` has a function for the response's document by operation. If it returns text, that is sent unchanged.
    """

    def __init__(self, emulator: Emulator) -> None:
        self._service = InProcessTransport(emulator)
        self._answers: dict[tuple[str, bytes], tuple[int, bytes]] = {}
        self.changes: dict[str, Change] = {}

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        operation, body = request.url.path.rpartition("/")[2], request.read()
        if (operation, body) not in self._answers:
            answer = self._service.handle_request(request)
            self._answers[operation, body] = answer.status_code, answer.read()
        status, content = self._answers[operation, body]
        if operation in self.changes and status == 200:
            changed = self.changes[operation](json.loads(content))
            content = changed.encode() if isinstance(changed, str) else json.dumps(changed).encode()
        headers = {"Content-Type": "application/json"}
        return httpx.Response(status, headers=headers, stream=httpx.ByteStream(content))

    def close(self) -> None:
        """Do nothing: a page closes its client, but the service stays."""

    def end(self) -> None:
        self._service.close()


class Odd:
    """The site with changed responses."""

    def __init__(self, way: OddService) -> None:
        self.way = way
        self._before: set[str] = set()
        self._use()

    def rewrite(self, **changes: Change) -> None:
        """Set the changes. Lists of names stay cached unless they change, because every page would load them again."""
        self.way.changes = changes
        names_stay = not REFERENCE & (changes.keys() | self._before)
        self._use(**({"catalog": app.current().catalog} if names_stay else {}))
        self._before = set(changes)

    def _use(self, **given: Any) -> None:
        self.client = ServiceClient(app.service_config(), transport=self.way)
        switch_to(replace(startup.build(emulator=app.current().emulator, service=self.client), **given))
        cache.clear()


@contextmanager
def odd_service(emulator: Emulator, monkeypatch: pytest.MonkeyPatch) -> Iterator[Odd]:
    way = OddService(emulator)
    try:
        yield Odd(way)
    finally:
        way.end()
