"""Network and protocol faults between the client and the service, over real sockets."""

import json
import logging
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from intents_ui.service import exchange, operations
from intents_ui.service.client import ServiceClient
from intents_ui.service.errors import Overloaded, Reason, ServiceError, TooBusy, Unreachable, Unreadable
from intents_ui.service.operations import Kind, ServiceConfig
from tests.service.clients import CANARY, call_sender, client
from tests.service.scripted_server import Script, Visit, answering, response, serving
from tests.waiting import until

INTENT = '{"intent":{"intentId":"0x1","status":"QUOTED"}}'
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
GET = operations.get_intent("0x1")


def error_at(url: str, *, live: bool = False, **how) -> ServiceError:
    with call_sender(url, live=live, **how) as ask, pytest.raises(ServiceError) as caught:
        ask(GET)
    assert (caught.value.operation, caught.value.__context__) == ("GetIntent", None)
    return caught.value


def ends_in(script: Script, **how) -> ServiceError:
    """The error that GetIntent ends in, for threads and for live updates."""
    with serving(script) as server:
        error, other = (error_at(server.url, live=live, **how) for live in (False, True))
    assert (type(error), error.reason) == (type(other), other.reason)
    return error


def unreachable(error: BaseException | None) -> Reason | None:
    assert isinstance(error, Unreachable)
    return error.reason


def raw(*parts: bytes, drips: bytes = b"", is_silent: bool = False) -> Script:
    """Return a script that sends bytes, those of `drips` one by one, and then closes the connection or `is_silent`."""

    def script(visit: Visit) -> None:
        for part in parts:
            visit.send(part)
        visit.drip(drips, every=0.02)
        if is_silent:
            visit.stay_silent()

    return script


@pytest.mark.parametrize("live", [False, True], ids=["threads", "live"])
def test_a_valid_response_is_an_intent_with_its_raw_text(*, live):
    with serving(answering(INTENT)) as server, call_sender(server.url, live=live) as ask:
        intent = ask(GET)
    assert (intent.status, intent.raw) == ("QUOTED", '{"intentId":"0x1","status":"QUOTED"}')
    sent = server.visits[0]
    assert sent.head.startswith("POST /rpc/Service/GetIntent HTTP/1.1")
    assert sent.body == b'{"intentId":"0x1"}'
    assert sent.headers["x-access-key"] == CANARY
    assert sent.headers["accept-encoding"] == "identity"
    assert len(sent.headers["x-request-id"]) == 12


# No connection


def test_a_closed_port_fails_at_once():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    assert unreachable(error_at(f"http://127.0.0.1:{port}")) is Reason.REFUSED


def test_an_unknown_host_differs_from_a_closed_port(monkeypatch):
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    assert unreachable(error_at("http://nowhere.test")) is Reason.DNS


def test_a_hanging_name_lookup_costs_no_more_than_the_deadline(monkeypatch):
    over = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: over.wait(600))
    assert unreachable(error_at("http://slow.test", total=0.3)) is Reason.TIMEOUT
    # The process can exit meanwhile.
    assert all(thread.daemon for thread in threading.enumerate() if thread.name.startswith("connect"))
    over.set()


def test_plain_http_on_the_tls_port_is_an_insecure_connection_error():
    with serving(answering(INTENT)) as server:
        assert unreachable(error_at(server.url.replace("http:", "https:"))) is Reason.TLS


def test_a_call_is_rejected_quickly_when_all_connections_are_in_use():
    arrived, rejected = threading.Event(), threading.Event()

    def script(visit: Visit) -> None:
        arrived.set()
        assert rejected.wait(60)
        visit.reset()

    with (
        serving(script) as server,
        client(server.url, connections=1, connection_wait=0.05) as service,
        ThreadPoolExecutor() as threads,
    ):
        first = threads.submit(service.ask, GET)
        assert arrived.wait(60)
        with pytest.raises(Overloaded):
            service.ask(operations.get_intent("0x2"))
        assert not first.done()
        rejected.set()
        assert unreachable(first.exception()) is Reason.BROKEN


# A response that can't be used

SLOW = {
    "no first byte": Visit.stay_silent,
    "dripped headers": raw(drips=HEAD * 100),
    "dripped body": raw(HEAD + b"Content-Length: 999\r\n\r\n", drips=b" " * 999),
}
BROKEN = {
    "closed without a word": raw(),
    "reset without a word": Visit.reset,
    "half a body": raw(response(INTENT)[:-10]),
    "not HTTP": raw(b"hello\r\n\r\n"),
    "a negative chunk": raw(HEAD + b"Transfer-Encoding: chunked\r\n\r\n-5\r\n"),
    "two lengths": raw(HEAD + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\n123"),
    "endless headers": raw(HEAD + b"A: b\r\n" * 40_000 + b"\r\n"),
}
UNREADABLE: dict[Script, Reason] = {
    # A compressed or too large response isn't read.
    **{
        raw(HEAD + b"Content-Encoding: %s\r\nContent-Length: 9\r\n\r\n" % each, is_silent=True): Reason.ENCODING
        for each in (b"br", b"gzip", b"gzip, gzip")
    },
    answering("<html>Log in", kind="text/html; charset=utf-8"): Reason.CONTENT_TYPE,
    raw(HEAD + b"Content-Length: 99999999\r\n\r\n", is_silent=True): Reason.TOO_LARGE,
    **dict.fromkeys(
        map(
            answering,
            (
                *("", "{", '{"intent":NaN}', b"\xff\xfe{}", INTENT.encode("utf-16"), INTENT + "x", "[" * 20_000),
                '{"intent":{"intentId":"0x1","status":"QUOTED","status":"FAILED"}}',
                '{"intent":{"intentId":"0x1"},"\\u0069ntent":{"intentId":"0x1"}}',
                '{"intent":{"intentId":"0x1","new":{"a":1,"a":2}}}',
                '\ufeff{"intent":{"intentId":"0x1"}}',
            ),
        ),
        Reason.NOT_JSON,
    ),
    **dict.fromkeys(
        map(answering, ("[]", "null", "{}", '{"intent":null}', '{"intent":{"status":"QUOTED"}}')), Reason.WRONG_SHAPE
    ),
    answering(INTENT.replace("0x1", "0x2")): Reason.OTHER_INTENT,
}


@pytest.mark.parametrize("script", SLOW.values(), ids=SLOW)
def test_a_slow_response_is_cut_off_at_the_total_deadline(script):
    assert unreachable(ends_in(script, total=0.4)) is Reason.TIMEOUT


@pytest.mark.parametrize("script", BROKEN.values(), ids=BROKEN)
def test_a_broken_connection_is_reported_as_such(script):
    assert unreachable(ends_in(script)) is Reason.BROKEN


@pytest.mark.parametrize(("script", "reason"), UNREADABLE.items(), ids=[each.name for each in UNREADABLE.values()])
def test_a_malformed_response_is_unreadable(script, reason):
    error = ends_in(script, total=60.0)
    assert (type(error), error.reason) == (Unreadable, reason)


@pytest.mark.parametrize("status", [302, 307, 304])
def test_a_redirect_is_not_followed_and_the_key_is_not_leaked(status):
    with serving(answering(INTENT)) as other:
        elsewhere = answering("", status=status, headers={"Location": f"{other.url}/rpc/Service/GetIntent"})
        error = ends_in(elsewhere)
        assert (type(error), error.reason) == (Unreadable, Reason.REDIRECT)
    assert other.visits == []


def test_a_404_page_says_nothing_about_an_intent():
    assert isinstance(ends_in(answering("<html>", status=404, kind="text/html")), Unreadable)


@pytest.mark.parametrize("status", [500, 503, 504, 526])
def test_a_proxy_error_page_means_that_the_service_failed(status):
    error = ends_in(answering("<html>" + "x" * 60_000, status=status, kind="text/html"))
    assert (type(error), error.status) == (Unreachable, status)
    assert error.reason is (Reason.TIMEOUT if status == 504 else Reason.FAILED)
    assert len(str(error)) < 400


def test_a_proxys_429_page_is_a_rate_limit():
    error = ends_in(answering("<html>", status=429, kind="text/html", headers={"Retry-After": "7"}))
    assert isinstance(error, TooBusy)
    assert 7 <= error.retry_after <= 7.7  # a little more than was said, so that not all come back at once


# Unusual responses that are read


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(
            raw(HEAD + b"Content-Length: %d\r\n\r\n" % len(INTENT), drips=INTENT.encode()), id="dripped in time"
        ),
        pytest.param(answering(INTENT.replace("0x1", "0X1")), id="other letter case"),
    ],
)
def test_an_unusual_response_is_read(script):
    with serving(script) as server, client(server.url, total=20.0) as service:
        assert service.ask(GET).status == "QUOTED"


def test_a_client_uses_no_proxy_of_the_environment_and_stores_no_cookies(monkeypatch):
    with (
        serving(answering(INTENT)) as proxy,
        serving(answering(INTENT, headers={"Set-Cookie": "who=you; Path=/"})) as server,
    ):
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        with client(server.url) as service:
            for _ in range(2):
                service.ask_uncached(GET)
    assert (len(proxy.visits), len(server.visits)) == (0, 2)
    assert all("cookie" not in visit.headers for visit in server.visits)


def test_without_a_key_no_key_header_is_sent():
    with serving(answering(INTENT)) as server, ServiceClient(ServiceConfig(server.url)) as service:
        service.ask(GET)
    assert "x-access-key" not in server.visits[0].headers


# Large responses


def test_a_response_that_exceeds_the_size_limit_is_cut_off():
    sent = 0

    def script(visit: Visit) -> None:
        nonlocal sent
        visit.send(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
        for _ in range(10_000):
            visit.send(b"2000\r\n" + b" " * 0x2000 + b"\r\n")
            sent += 0x2000

    error = ends_in(script, total=5.0)
    assert (type(error), error.reason) == (Unreadable, Reason.TOO_LARGE)
    assert sent < 40 * 2**20  # what the sockets hold, far from the 80 MB there were


def test_large_responses_share_one_memory_limit(monkeypatch):
    monkeypatch.setattr(exchange, "memory", threading.Semaphore(3))
    large = response(json.dumps({"intent": {"intentId": "0x1", "memo": "x" * 3 * 2**19}}))
    may_end = threading.Event()

    def script(visit: Visit) -> None:
        visit.send(large[:-9])
        may_end.wait(60)
        visit.send(large[-9:])

    with (
        serving(script) as server,
        client(server.url, size=8 * 2**20, total=60.0) as service,
        ThreadPoolExecutor() as threads,
    ):
        asked = [threads.submit(service.attempt, "GetIntent", "{}", kind=Kind.MOVING) for _ in range(2)]
        until(lambda: any(each.done() for each in asked))
        may_end.set()
        errors = [each.result(60).error for each in asked]
        assert sorted(type(error) for error in errors if error) == [Overloaded]
        assert service.attempt("GetIntent", "{}", kind=Kind.MOVING).error is None


# The key


@pytest.mark.parametrize(
    "script",
    [
        answering({"error": CANARY, "code": 1101, "msg": f"no key {CANARY}", "cause": f"{CANARY}{CANARY}"}, status=401),
        answering(f"<html>{CANARY}", status=502, kind="text/html"),
        answering(f'{{"intent":{{"intentId":"{CANARY}"}}}}'),
        answering(f'{{"intent":"{CANARY}"}}'),
        answering("", status=302, headers={"Location": "http://127.0.0.1:9/"}),
        Visit.reset,
        Visit.stay_silent,
    ],
)
def test_the_access_key_is_in_no_error_and_no_log(script, caplog):
    caplog.set_level(logging.DEBUG)
    error = ends_in(script, total=1.0)
    result = [repr(error) + str(error) + str(vars(error))]
    result += [record.getMessage() + str(record.__dict__) for record in caplog.records]
    assert [error.__cause__, error.__context__] == [None, None]
    assert [text for text in result if CANARY in text] == []
    assert error.request_id is not None
    assert any(error.request_id in record.getMessage() for record in caplog.records)
