"""What reaches the dashboard over a real socket, before any page sees it."""

import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote, urlsplit

import httpx
import pytest

from tests.service.scripted_server import ScriptedServer, response, serving
from tests.serving import PATIENCE, dashboard, process_breathes


def raw(server: str, request: bytes) -> bytes:
    """The answer to a request written by hand; the connection is closed after it."""
    where = urlsplit(server)
    with socket.create_connection((where.hostname, where.port), timeout=15) as connection:
        connection.sendall(request)
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
    return answer


def test_a_whole_message_in_any_script_can_be_pasted(server: str) -> None:
    message = quote("送金が届きません。" * 1090 + " 0x" + "12" * 20)
    answer = raw(server, f"GET /search?q={message} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
    assert answer.startswith(b"HTTP/1.1 404")
    assert b"It looks like an address" in answer


@pytest.mark.parametrize("path", ["/", "/search", "/healthz", "/nowhere"])
def test_head_is_get_without_the_body(server: str, path: str) -> None:
    head, get = (httpx.request(method, server + path, trust_env=False) for method in ("HEAD", "GET"))
    assert head.status_code == get.status_code
    assert head.content == b""


@pytest.mark.parametrize("path", ["/", "/rpc/Service/GetChains", "/intent/0x12"])
@pytest.mark.parametrize(
    "host",
    [
        pytest.param("Host: evil.example\r\n", id="another name"),
        pytest.param("Host: 127.0.0.1\r\nHost: evil.example\r\n", id="two names"),
        pytest.param("Host: 127.0.0.1.evil.example\r\n", id="a longer name"),
        pytest.param("Host:\r\n", id="an empty name"),
    ],
)
def test_under_another_host_name_nothing_answers(server: str, path: str, host: str) -> None:
    answer = raw(server, f"GET {path} HTTP/1.1\r\n{host}Connection: close\r\n\r\n".encode())
    assert answer.startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize(
    "request_line", ["GET /healthz HTTP/1.1\r\nHost: 127.0.0.1", "GET / HTTP/1.1\r\nHost: evil.example"]
)
def test_what_is_answered_at_the_door_has_the_headers_of_a_page(server: str, request_line: str) -> None:
    head = raw(server, f"{request_line}\r\nConnection: close\r\n\r\n".encode()).partition(b"\r\n\r\n")[0].lower()
    for header in (b"x-frame-options: deny", b"frame-ancestors 'none'", b"x-content-type-options: nosniff"):
        assert head.count(header) == 1


def test_bytes_beyond_ascii_in_the_query_are_a_page(server: str) -> None:
    answer = raw(server, "GET /search?q=Ω HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
    assert answer.split(b" ")[1] in (b"400", b"404")


def test_a_body_that_is_too_long_is_refused(server: str) -> None:
    answer = httpx.post(f"{server}/search", content=b"x" * 300_000, trust_env=False)
    assert answer.status_code == 413


def test_a_header_that_would_pass_for_anothers_is_dropped(server: str) -> None:
    fragment = {"HX_Request_Type": "partial"}
    assert "<html" in httpx.get(f"{server}/nowhere", headers=fragment, trust_env=False).text


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "FOO"])
def test_pages_can_only_be_read_and_say_so(server: str, method: str) -> None:
    answer = httpx.request(method, f"{server}/search", trust_env=False)
    assert answer.status_code in (400, 405, 501)
    if answer.status_code == 405:
        assert "GET" in answer.headers["Allow"]
        assert "This page can only be read" in answer.text


@pytest.fixture(scope="module")
def silent() -> Iterator[ScriptedServer]:
    """A service that takes every question and says nothing."""
    with serving(lambda visit: visit.stay_silent()) as service:
        yield service


@pytest.fixture(scope="module")
def waiting(silent: ScriptedServer) -> Iterator[str]:
    """A dashboard of which one page at a time may wait for it, for 4 s."""
    limits = {"INTENTS_WAITING": "1", "INTENTS_PAGE_SECONDS": "4", "INTENTS_SERVICE_CONNECTION_WAIT": "0.05"}
    with dashboard(INTENTS_SERVICE_URL=silent.url, SECRET_KEY="a key of the test", **limits) as root:
        yield root


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        process_breathes()


def operations(service: ScriptedServer) -> list[str]:
    return [visit.operation for visit in service.visits]


def test_names_are_learned_before_the_first_reader_comes() -> None:
    documents = {"GetChains": {"chains": [{"id": 1}, {"id": 10}]}, "GetTokenList": {"tokens": []}}
    with (
        serving(lambda visit: visit.send(response(documents[visit.operation]))) as service,
        dashboard(INTENTS_SERVICE_URL=service.url, SECRET_KEY="a key of the test"),
    ):
        until(lambda: len(service.visits) == 3)
        assert operations(service) == ["GetChains", "GetTokenList", "GetTokenList"]


def test_a_page_ends_with_its_time_and_one_too_many_is_told_at_once(waiting: str, silent: ScriptedServer) -> None:
    with httpx.Client(base_url=waiting, trust_env=False) as client, ThreadPoolExecutor(1) as threads:
        began = time.monotonic()
        first = threads.submit(client.get, f"/intent/0x{'12' * 32}")
        until(lambda: "GetIntent" in operations(silent))
        refused = client.get(f"/intent/0x{'34' * 32}")
        assert not first.done()
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "2")
        assert client.get("/search").status_code == 200  # needs no answer
        assert first.result(20).status_code == 503
        assert 3 < time.monotonic() - began < 16
