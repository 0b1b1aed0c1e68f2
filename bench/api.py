"""Processor time of the API's answers as a share of that of the pages with the same content, all from cached data.

    .venv/bin/python -m bench.api

A browser that looks up an intent ID gets a redirect from the search and then the transfer's page. What is measured is
all that Django does, with compression. The cases take turns in one process, so that the machine's load affects all of
them, and the fastest round of each counts.
"""

import asyncio
import json
import logging
import os
import time
from typing import Any, Final

import django
import httpx
from django.conf import settings

from bench.journeys import request
from bench.stub_service import StubService

ROUNDS, REQUESTS = 60, 5


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
    """A dashboard with empty caches after each `restart`, and a clock that stands still."""

    def __init__(self, runner: asyncio.Runner) -> None:
        self._runner = runner
        self._transport = ReplayTransport()
        self._client: Any = None
        emulator = self._transport.service.emulator
        self.finished = emulator.finished("cctp-slow")["intentId"]

    def restart(self) -> None:
        """Restart the dashboard, load the names, and draw a page, which builds what all pages share."""
        from intents_ui import app, startup
        from intents_ui.service.client import ServiceClient

        if self._client:
            self._client.close()
        self._client = ServiceClient(app.service_config(), transport=self._transport, clock=lambda: 0.0)
        app.use(startup.build(emulator=self._transport.service.emulator, service=self._client))
        app.current().catalog.warm()
        self.open("/saved")

    def open(self, path: str) -> None:
        status, body = self._runner.run(request(path))
        assert status == 200, (path, status, body)  # noqa: S101 - a measurement of anything else is none


def answer(path: str) -> int:
    from intents_ui.application import PAGES

    where, _, query = path.partition("?")
    scope = {
        "method": "GET",
        "scheme": "http",
        "path": where,
        "query_string": query.encode(),
        "headers": [(b"host", b"localhost"), (b"accept-encoding", b"gzip")],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }
    return PAGES.page(scope).status


def seconds(paths: tuple[str, ...]) -> float:
    began = time.process_time()
    for _ in range(REQUESTS):
        for path in paths:
            assert answer(path) in (200, 302), path  # noqa: S101 - a measurement of anything else is none
    return (time.process_time() - began) / REQUESTS


def main() -> None:
    django.setup()
    logging.disable(logging.CRITICAL)
    settings.MIRROR_DATABASE = None  # this machine may have one
    with asyncio.Runner() as runner:
        site = Site(runner)
        site.restart()
        intent_id = site.finished
        page = f"/intent/{intent_id}"
        cases: Final = {
            "lookup": ((f"/search?q={intent_id}", page), (f"/api/v1/lookup?q={intent_id}",)),
            "transfer": ((page,), (f"/api/v1/transfers/{intent_id}",)),
            "history": (("/history",), ("/api/v1/transfers",)),
        }
        fastest: dict[tuple[str, ...], float] = {}
        for _ in range(ROUNDS):
            for paths in (paths for case in cases.values() for paths in case):
                fastest[paths] = min(fastest.get(paths, 60.0), seconds(paths))
    shares = {
        name: {
            "page ms": round(fastest[of_page] * 1000, 2),
            "API ms": round(fastest[of_api] * 1000, 2),
            "share": round(fastest[of_api] / fastest[of_page], 2),
        }
        for name, (of_page, of_api) in cases.items()
    }
    print(json.dumps(shares, indent=2))


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "intents_ui.settings")
    main()
