"""The embedded service, called in-process like a remote one and from many threads."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing

import pytest

from intents_ui.service import operations
from intents_ui.service.client import InProcessTransport, ServiceClient
from intents_ui.service.errors import Reason, Unreachable
from tests.service.clients import CANARY, config
from tests.waiting import until


class Application:
    """Answers GetIntent with the ID it was asked for, held until it is told to go on."""

    def __init__(self) -> None:
        self.headers: dict[bytes, bytes] = {}
        self.inside = 0
        self._lock = threading.Lock()
        self.go_on = threading.Event()
        self.go_on.set()

    async def __call__(self, scope, receive, send) -> None:
        message = await receive()
        self.headers = dict(scope["headers"])
        with self._lock:
            self.inside += 1
        while not self.go_on.is_set():
            await asyncio.sleep(0.001)
        with self._lock:
            self.inside -= 1
        assert b"fail" not in message["body"], "told to"
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
        await send({"type": "http.response.body", "body": b'{"intent":' + message["body"] + b"}"})


@pytest.fixture
def application() -> Application:
    return Application()


def client(application: Application, **how: float) -> ServiceClient:
    return ServiceClient(config("http://embedded", **how), transport=InProcessTransport(application))


def test_an_embedded_application_responds_like_a_remote_service(application):
    with client(application) as service:
        assert service.ask(operations.get_intent("0x1")).intent_id == "0x1"
    assert application.headers[b"x-access-key"] == CANARY.encode()


async def test_the_async_client_can_call_it_too(application):
    async with aclosing(client(application)) as live:
        assert (await live.ask_async(operations.get_intent("0x1"))).intent_id == "0x1"


def test_many_threads_are_served_concurrently(application):
    application.go_on.clear()
    with client(application, total=60.0) as service, ThreadPoolExecutor(8) as threads:
        asked = [threads.submit(service.ask, operations.get_intent(f"0x{number}")) for number in range(8)]
        until(lambda: application.inside == 8)
        application.go_on.set()
        assert [one.result(60).intent_id for one in asked] == [f"0x{number}" for number in range(8)]


def test_a_slow_call_is_cut_off_at_the_timeout(application):
    application.go_on.clear()
    with client(application, total=0.1) as service, pytest.raises(Unreachable) as caught:
        service.ask(operations.get_intent("0x1"))
    assert caught.value.reason is Reason.TIMEOUT


def test_an_exception_in_the_application_is_a_service_error(application, caplog):
    with client(application) as service, pytest.raises(Unreachable) as caught:
        service.ask(operations.get_intent("fail"))
    assert caught.value.status == 500
    assert "told to" in caplog.text
