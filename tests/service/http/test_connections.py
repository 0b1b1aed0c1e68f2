"""One connection, one outstanding request: unsolicited bytes are never the response to the next request."""

import asyncio
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intents_ui.ops import metrics
from intents_ui.service.client import ServiceClient
from intents_ui.service.errors import Flaw, ServiceError, Unreadable
from intents_ui.service.http import transport
from intents_ui.service.operations.config import Group
from tests.service.clients import async_client, client, config
from tests.service.scripted_server import Visit, response, serving

KEPT_OPEN = {"Connection": "keep-alive"}
FOREIGN = "0x" + "f0" * 16


def named(intent_id: str, **headers: str) -> bytes:
    return response({"intent": {"intentId": intent_id, "status": "QUOTED"}}, headers=KEPT_OPEN | headers)


def chunked(intent_id: str) -> bytes:
    body = json.dumps({"intent": {"intentId": intent_id, "status": "QUOTED"}}).encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    return head + f"{len(body):x}\r\n".encode() + body + b"\r\n0\r\n\r\n"


def long(intent_id: str) -> bytes:
    """Ends where a read of 64 KiB ends."""
    empty = response({"intent": {"intentId": intent_id, "x": ""}}, headers=KEPT_OPEN)
    filler = "x" * (65_536 - len(empty) - 3)
    return response({"intent": {"intentId": intent_id, "x": filler}}, headers=KEPT_OPEN)


def requests_on(visit: Visit) -> Iterator[Visit]:
    """All requests of one connection."""
    yield visit
    while True:
        yield Visit(visit.connection, visit.closing)


def asked_for(visit: Visit) -> str:
    return str(json.loads(visit.body)["intentId"])


class Talk:
    """What a server does on each connection; `firsts` is what it sends behind the first response of the first one."""

    def __init__(self, answer, behind: bytes) -> None:
        self.answer, self.behind = answer, behind
        self.connections = 0
        self.sent = threading.Event()

    def __call__(self, visit: Visit) -> None:
        self.connections += 1
        is_first = self.connections == 1
        for each in requests_on(visit):
            each.send(self.answer(asked_for(each)) + (self.behind if is_first else b""))
            self.sent.set()


def look_once_all_was_sent(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the bytes behind a long response may still be on their way."""
    look = transport.refuse_more

    def refuse_more(response):
        assert talk.sent.wait(60)
        look(response)

    monkeypatch.setattr(transport, "refuse_more", refuse_more)


ANSWERS = [named, chunked, long]
BEHIND = [named(FOREIGN), b"x", b"\r\n\r\nHTTP/1.1 200 OK\r\n"]


@pytest.mark.parametrize("behind", BEHIND, ids=["a second response", "one byte", "the beginning of one"])
@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: answer.__name__)
def test_a_response_with_bytes_behind_it_is_refused_and_its_connection_closed(answer, behind, monkeypatch):
    talk = Talk(answer, behind)
    look_once_all_was_sent(talk, monkeypatch)
    with serving(talk) as server, client(server.url, size=2**18, connections=1, total=5.0) as service:
        with pytest.raises(Unreadable) as caught:
            service.get_intent("0xa")
        assert service.get_intent("0xb").intent_id == "0xb"
        assert service.get_intent("0xc").intent_id == "0xc"
    assert caught.value.flaw is Flaw.MORE_BYTES
    assert talk.connections == 2


@pytest.mark.parametrize("behind", BEHIND, ids=["a second response", "one byte", "the beginning of one"])
@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: answer.__name__)
async def test_the_live_client_refuses_a_response_with_bytes_behind_it(answer, behind, monkeypatch):
    talk = Talk(answer, behind)
    look_once_all_was_sent(talk, monkeypatch)
    with serving(talk) as server:
        async with async_client(server.url, size=2**18, connections=1, total=5.0) as service:
            with pytest.raises(Unreadable) as caught:
                await service.get_intent("0xa")
            assert (await service.get_intent("0xb")).intent_id == "0xb"
            assert (await service.get_intent("0xc")).intent_id == "0xc"
    assert caught.value.flaw is Flaw.MORE_BYTES
    assert talk.connections == 2


class Late:
    """Sends one more response on the first connection while it is idle."""

    def __init__(self) -> None:
        self.may, self.did = threading.Event(), threading.Event()
        self.connections = 0

    def __call__(self, visit: Visit) -> None:
        self.connections += 1
        visit.send(named(asked_for(visit)))
        if self.connections == 1:
            self.may.wait(60)
            visit.send(named(FOREIGN))
            self.did.set()
        for each in requests_on(Visit(visit.connection, visit.closing)):
            each.send(named(asked_for(each)))


def test_a_late_response_on_an_idle_connection_is_never_read():
    talk = Late()
    with serving(talk) as server, client(server.url, connections=1, total=5.0) as service:
        assert service.get_intent("0xa").intent_id == "0xa"
        talk.may.set()
        assert talk.did.wait(60)
        assert service.get_intent("0xb").intent_id == "0xb"
    assert talk.connections == 2


async def test_the_live_client_never_reads_a_late_response_on_an_idle_connection():
    talk = Late()
    with serving(talk) as server:
        async with async_client(server.url, connections=1, total=5.0) as service:
            assert (await service.get_intent("0xa")).intent_id == "0xa"
            talk.may.set()
            assert await asyncio.to_thread(talk.did.wait, 10)
            assert (await service.get_intent("0xb")).intent_id == "0xb"
    assert talk.connections == 2


async def test_a_response_that_names_another_request_is_refused_and_counted():
    def script(visit: Visit) -> None:
        visit.send(named(asked_for(visit), **{"X-Request-Id": "somebody-elses"}))

    with serving(script) as server:
        with client(server.url) as service, pytest.raises(Unreadable) as caught:
            service.get_intent("0xa")
        async with async_client(server.url) as live:
            with pytest.raises(Unreadable) as caught_live:
                await live.get_intent("0xa")
    assert caught.value.flaw is caught_live.value.flaw is Flaw.OTHER_REQUEST
    before = metrics.mismatched.labels("other_request")._value.get()
    metrics.call("GetIntent", caught.value, 0.1)
    assert metrics.mismatched.labels("other_request")._value.get() == before + 1


def test_a_response_that_names_its_request_is_read():
    def script(visit: Visit) -> None:
        visit.send(named(asked_for(visit), **{"X-Request-Id": visit.headers["x-request-id"]}))

    with serving(script) as server, client(server.url) as service:
        assert service.get_intent("0xa").intent_id == "0xa"


@settings(max_examples=15, deadline=None)
@given(st.lists(st.sampled_from(["plain", "doubled", "split"]), min_size=6, max_size=6))
def test_three_clients_on_one_connection_never_get_each_others_responses(manners):
    left = list(manners)
    lock = threading.Lock()

    def script(visit: Visit) -> None:
        for each in requests_on(visit):
            with lock:
                manner = left.pop() if left else "plain"
            whole = named(asked_for(each))
            match manner:
                case "plain":
                    each.send(whole)
                case "doubled":
                    each.send(whole + named(FOREIGN))
                case "split":
                    each.send(whole[:30])
                    each.send(whole[30:] + b"HTTP/1.1 200 OK\r\n")

    def ask(service: ServiceClient, intent_id: str) -> bool:
        """Whether it was answered; by hand, so that no check of ids hides a response of another request."""
        attempt = service.attempt("GetIntent", json.dumps({"intentId": intent_id}), group=Group.INTENT)
        if attempt.error is not None:
            assert isinstance(attempt.error, ServiceError)
            assert isinstance(attempt.error, Unreadable)
            assert attempt.error.flaw is Flaw.MORE_BYTES
            return False
        assert json.loads(attempt.text)["intent"]["intentId"] == intent_id
        return True

    with (
        serving(script) as server,
        ServiceClient(config(server.url, total=20.0, connections=1, connection_wait=20.0)) as service,
        ThreadPoolExecutor(3) as clients,
    ):
        answered = list(clients.map(lambda name: ask(service, name), [f"0x{number:04x}" for number in range(9)]))
    assert answered.count(False) == len([each for each in manners if each != "plain"])
