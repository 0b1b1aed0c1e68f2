"""One connection, one outstanding request: unsolicited bytes are never the response to the next request."""

import contextlib
import json
import threading
from collections.abc import Callable, Iterator

import pytest

from intents_ui.service import operations
from intents_ui.service.errors import ServiceError
from tests.service.clients import call_sender
from tests.service.scripted_server import Visit, response, serving

KEPT_OPEN = {"Connection": "keep-alive"}
ALL_FOUR = ["0xa", "0xb", "0xc", "0xd"]
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
    """Answers the requests of each connection. On the first one, each response has `behind` behind it."""

    def __init__(self, answer: Callable[[str], bytes], behind: bytes) -> None:
        self.answer, self.behind = answer, behind
        self.connections = 0

    def __call__(self, visit: Visit) -> None:
        self.connections += 1
        behind = self.behind if self.connections == 1 else b""
        for each in requests_on(visit):
            each.send(self.answer(asked_for(each)) + behind)


TALKS = [
    pytest.param(named, named(FOREIGN), id="a second response"),
    pytest.param(named, b"x", id="one byte"),
    pytest.param(chunked, named(FOREIGN), id="behind chunks"),
    pytest.param(chunked, b"\r\n\r\nHTTP/1.1 200 OK\r\n", id="the beginning of a response"),
    pytest.param(long, named(FOREIGN), id="behind a long response"),
]


# The request after the first one may get the bytes behind the first response. It refuses them by their intent ID.
EXPECTED = (["0xa", "0xc", "0xd"], ALL_FOUR)


@pytest.mark.parametrize("live", [False, True], ids=["threads", "live"])
@pytest.mark.parametrize(("answer", "behind"), TALKS)
def test_bytes_behind_a_response_never_answer_another_request(answer, behind, *, live):
    talk, found = Talk(answer, behind), []
    with serving(talk) as server, call_sender(server.url, live=live, size=2**18, connections=1, total=60.0) as ask:
        for name in ALL_FOUR:
            with contextlib.suppress(ServiceError):
                found.append(ask(operations.get_intent(name)).intent_id)
    assert found in EXPECTED
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


@pytest.mark.parametrize("live", [False, True], ids=["threads", "live"])
def test_a_late_response_on_an_idle_connection_is_never_read(*, live):
    talk = Late()
    with serving(talk) as server, call_sender(server.url, live=live, connections=1, total=60.0) as ask:
        assert ask(operations.get_intent("0xa")).intent_id == "0xa"
        talk.may.set()
        assert talk.did.wait(60)
        assert ask(operations.get_intent("0xb")).intent_id == "0xb"
    assert talk.connections == 2


@pytest.mark.parametrize("live", [False, True], ids=["threads", "live"])
def test_a_gateway_that_labels_responses_with_ids_of_its_own_breaks_nothing(*, live):
    def script(visit: Visit) -> None:
        visit.send(named(asked_for(visit), **{"X-Request-Id": "of-the-gateway"}))

    with serving(script) as server, call_sender(server.url, live=live) as ask:
        assert ask(operations.get_intent("0xa")).intent_id == "0xa"
