"""Fairness: while one client uses all it can, the others are served from their own share."""

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from django.core.cache import cache

from intents_ui import app, application, asgi, startup
from intents_ui.emulator.app import Emulator
from intents_ui.http import limits
from intents_ui.http.limits import REQUESTS
from intents_ui.service import request_context
from intents_ui.service.request_context import Origin
from intents_ui.settings import ENV
from intents_ui.web import reading
from tests.pages import asgi as front_door
from tests.pages.conftest import fresh
from tests.pages.doors import ids
from tests.pages.recorded import recorded
from tests.waiting import PATIENCE, until

pytestmark = pytest.mark.usefixtures("emulator")

GREEDY, OTHER = "203.0.113.7", "198.51.100.7"
NOTHING = "0x" + "12" * 32


@pytest.fixture
def emulator() -> Iterator[Emulator]:
    yield from fresh()


@pytest.fixture(autouse=True)
def nothing_spent() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


def ask(visitor: str, path: str, method: str = "GET", **how: Any) -> httpx.Response:
    return front_door.ask(method, path, peer=visitor, **how)


def is_refused(answer: httpx.Response) -> bool:
    """Politely: with a time after which to come back."""
    return answer.status_code == 429 and int(answer.headers["Retry-After"]) > 0


@contextmanager
def in_hand(*clients: str, each: int) -> Iterator[None]:
    """Hold as many requests of each client."""
    held = [client for client in clients for _ in range(each)]
    assert {app.current().requests_in_hand.take(client) for client in held} == {None}
    try:
        yield
    finally:
        for client in held:
            app.current().requests_in_hand.give_back(client)


@contextmanager
def running(client: str, count: int) -> Iterator[threading.Event]:
    """Run jobs of a client until the block or the event ends them."""
    go_on = threading.Event()
    with request_context.request_scope(Origin("request", client=client)):
        jobs = [app.current().executor.submit(lambda: go_on.wait(PATIENCE)) for _ in range(count)]
    until(lambda: all(each.running() for each in jobs))
    try:
        yield go_on
    finally:
        go_on.set()
        for each in jobs:
            each.result(PATIENCE)


SHARE = startup.THREADS // 8


# Tickets, exports and the console


@pytest.mark.usefixtures("clock")
def test_a_ticket_is_charged_per_identifier_and_keeps_its_text_when_rejected(monkeypatch):
    monkeypatch.setattr(ENV, "intents_rate_pages", 1)
    text = " ".join(f"/intent/{each}" for each in ids(15))
    assert ask(GREEDY, "/triage", "POST", data={"q": text}).status_code == 200
    refused = ask(GREEDY, "/triage", "POST", data={"q": text})
    assert is_refused(refused)
    assert "have reached the rate limit" in refused.text
    assert ids(1)[0] in refused.text
    assert ask(OTHER, "/triage", "POST", data={"q": text}).status_code == 200


def test_exports_of_one_address_leave_capacity_for_others(monkeypatch):
    monkeypatch.setattr(ENV, "intents_max_export_rows", 20)
    assert app.current().exports.take(GREEDY) is None
    for kind in ("csv", "json"):
        assert is_refused(ask(GREEDY, f"/export/history.{kind}"))
    assert ask(OTHER, "/export/history.csv").status_code == 200
    app.current().exports.give_back(GREEDY)
    assert ask(GREEDY, "/export/history.csv").status_code == 200


def test_requests_in_hand_of_one_client_are_limited_to_an_eighth_whatever_they_are():
    with in_hand(GREEDY, each=REQUESTS // 8):
        for path in ("/help", "/console/GetChains?ask=fields", "/export/history.json", "/static/img/mark.svg"):
            assert is_refused(ask(GREEDY, path))
        assert is_refused(ask(GREEDY, "/triage", "POST", data={"q": NOTHING}))
        assert is_refused(call(GREEDY))
        assert json.loads(ask(GREEDY, "/export/history.json").text)["error"] == limits.BEYOND_SHARE.title
        assert ask(GREEDY, "/healthz").status_code == 200
        assert ask(OTHER, "/triage", "POST", data={"q": NOTHING}).status_code == 200
        assert ask(OTHER, "/help").status_code == 200
        assert call(OTHER).status_code == 200
    assert ask(GREEDY, "/triage", "POST", data={"q": NOTHING}).status_code == 200
    assert app.current().requests_in_hand.held == 0


# Pages that wait


def test_while_one_client_uses_its_threads_its_other_pages_wait_and_those_of_others_do_not():
    answers: list[int] = []
    waiting = threading.Thread(target=lambda: answers.append(ask(GREEDY, "/help").status_code))
    with running(GREEDY, SHARE) as go_on:
        waiting.start()
        assert ask(OTHER, "/help").status_code == 200
        assert answers == []
        go_on.set()
        waiting.join(PATIENCE)
    assert answers == [200]


def test_a_page_that_waited_too_long_for_a_thread_is_rejected(monkeypatch):
    monkeypatch.setattr(application, "QUEUE_SECONDS", -1.0)
    late = ask(GREEDY, "/help")
    assert (late.status_code, late.headers["Retry-After"]) == (503, "2")
    assert "Dashboard busy" in late.text


def test_slow_balances_of_one_client_leave_threads_for_its_pages_and_for_others(emulator, monkeypatch):
    monkeypatch.setattr(reading, "BALANCE_TIMEOUT", 0.0)
    finished = [emulator.finished(which)["intentId"] for which in (3, 8, 11, 14, 16, 18)]
    is_answering, asked = threading.Event(), []
    with recorded(emulator) as way:
        app.current().service.threads = app.current().executor

        def answer(_: object) -> dict[str, object] | None:
            asked.append(request_context.client())
            return None if is_answering.wait(PATIENCE) else {}

        way.scripts["GetIntentHistory"] = answer
        try:
            for each in finished[1:]:
                assert ask(GREEDY, f"/intent/{each}").status_code == 200
            assert ask(OTHER, f"/intent/{finished[0]}").status_code == 200
            until(lambda: OTHER in asked)
            assert asked.count(GREEDY) == SHARE // 2
        finally:
            is_answering.set()
            until(lambda: app.current().executor.running == 0)


# Bodies


class Sender:
    """Sends most of a ticket, and the rest when the test says so."""

    LENGTH = 150_000
    PIECE = 15_000

    def __init__(self, visitor: str, rest: asyncio.Event) -> None:
        self.visitor = visitor
        self.sent = 0
        self.status = 0
        self._rest = rest

    async def post(self, text: bytes = b"") -> None:
        length = len(text) or self.LENGTH
        kind = "application/x-www-form-urlencoded"
        scope = front_door.scope("/triage", "POST", peer=self.visitor, content_type=kind, content_length=str(length))

        async def receive() -> Any:
            if self.sent >= length:
                await asyncio.Event().wait()
            if self.sent >= self.LENGTH - self.PIECE:
                await self._rest.wait()
            piece = text or b"x" * self.PIECE
            self.sent += len(piece)
            return {"type": "http.request", "body": piece, "more_body": self.sent < length}

        async def send(message: Any) -> None:
            self.status = message.get("status", self.status)

        await asgi.application(scope, receive, send)


async def test_request_bodies_of_one_address_are_limited_to_an_eighth_of_the_memory():
    app.current().body_bytes.most = 8 * 1024 * 1024
    rest = asyncio.Event()
    greedy = [Sender(GREEDY, rest) for _ in range(30)]
    other = Sender(OTHER, rest)
    sending = [asyncio.create_task(each.post()) for each in greedy]
    while any(each.sent < Sender.LENGTH - Sender.PIECE for each in greedy):
        await asyncio.sleep(0)
    assert 0 < app.current().body_bytes.held <= app.current().body_bytes.most // 8 < sum(each.sent for each in greedy)
    rest.set()
    await other.post(b"q=" + NOTHING.encode())
    assert other.status == 200
    await asyncio.gather(*sending)
    result = [each.status for each in greedy]
    assert 429 in result, "beyond the share"
    assert set(result) <= {400, 429}
    assert app.current().body_bytes.held == 0


# The embedded service


def call(visitor: str, operation: str = "GetChains", content: bytes = b"{}") -> httpx.Response:
    return ask(
        visitor, f"/rpc/Service/{operation}", "POST", content=content, headers={"Content-Type": "application/json"}
    )


@pytest.mark.usefixtures("clock")
def test_remote_calls_of_the_embedded_service_are_rate_limited_like_pages(monkeypatch):
    monkeypatch.setattr(ENV, "intents_rate_pages", 1)
    app.current().rate_limiter.consume_here(GREEDY, limits.SECONDS - 1)
    assert call(GREEDY).status_code == 200
    refused = call(GREEDY)
    assert is_refused(refused)
    assert refused.text == "Too many requests\n"
    assert refused.headers["X-Content-Type-Options"] == "nosniff"
    assert call(OTHER).status_code == 200
    assert {call("127.0.0.1").status_code for _ in range(20)} == {200}, "this machine is not counted"


def test_requests_over_the_concurrency_limit_are_rejected_at_once_and_others_served():
    with in_hand(*(f"203.0.113.{number}" for number in range(100, 108)), each=REQUESTS // 8):
        busy = ask(OTHER, "/help")
        assert (busy.status_code, busy.headers["Retry-After"]) == (503, "2")
        assert "<h1>Dashboard busy</h1>" in busy.text
        assert 'role="search"' in busy.text
        assert "script-src 'self'" in busy.headers["Content-Security-Policy"]
        assert busy.headers["X-Content-Type-Options"] == "nosniff"
        assert busy.headers["Cache-Control"] == "no-store"
        fragment = ask(OTHER, "/newest", headers={"HX-Request": "true", "HX-Request-Type": "partial"})
        assert fragment.status_code == 503
        assert "<html" not in fragment.text
        file = ask(OTHER, f"/intent/{NOTHING}.json")
        assert (file.status_code, file.json()["error"]) == (503, "Dashboard busy")
        assert ask(OTHER, "/healthz").text == "ok\n"
    assert ask(OTHER, "/help").status_code == 200
