"""Requests over a real socket, before any view sees them."""

import re
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote, urlsplit

import httpx
import pytest

from tests.service.scripted_server import ScriptedServer, response, serving
from tests.serving import dashboard
from tests.test_operations import started
from tests.waiting import PATIENCE, until


def raw(server: str, request: bytes) -> bytes:
    """Return the response to raw request bytes, then close the connection."""
    where = urlsplit(server)
    with socket.create_connection((where.hostname, where.port), timeout=60) as connection:
        connection.sendall(request)
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
    return answer


def test_a_long_message_in_any_script_can_be_pasted(server: str) -> None:
    message = quote("送金が届きません。" * 1090 + " 0x" + "12" * 20)
    answer = raw(server, f"GET /search?q={message} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
    assert answer.startswith(b"HTTP/1.1 404")
    assert b"address <bdi" in answer


@pytest.mark.parametrize("path", ["/", "/search", "/healthz", "/nowhere"])
def test_head_is_get_without_the_body(server: str, path: str) -> None:
    head, get = (httpx.request(method, server + path, trust_env=False, timeout=PATIENCE) for method in ("HEAD", "GET"))
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
def test_an_unknown_host_name_is_rejected(server: str, path: str, host: str) -> None:
    answer = raw(server, f"GET {path} HTTP/1.1\r\n{host}Connection: close\r\n\r\n".encode())
    assert answer.startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize(
    "request_line", ["GET /healthz HTTP/1.1\r\nHost: 127.0.0.1", "GET / HTTP/1.1\r\nHost: evil.example"]
)
def test_early_responses_have_the_headers_of_a_page(server: str, request_line: str) -> None:
    head = raw(server, f"{request_line}\r\nConnection: close\r\n\r\n".encode()).partition(b"\r\n\r\n")[0].lower()
    for header in (b"x-frame-options: deny", b"frame-ancestors 'none'", b"x-content-type-options: nosniff"):
        assert head.count(header) == 1


def test_non_ascii_bytes_in_the_query_get_a_page(server: str) -> None:
    answer = raw(server, "GET /search?q=Ω HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
    assert answer.split(b" ")[1] in (b"400", b"404")


def test_an_oversized_body_is_rejected(server: str) -> None:
    answer = httpx.post(f"{server}/search", content=b"x" * 300_000, trust_env=False, timeout=PATIENCE)
    assert answer.status_code == 413


def test_a_header_that_imitates_another_is_dropped(server: str) -> None:
    fragment = {"HX_Request_Type": "partial"}
    assert "<html" in httpx.get(f"{server}/nowhere", headers=fragment, trust_env=False, timeout=PATIENCE).text


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "FOO"])
def test_read_only_pages_reject_other_methods_and_list_the_allowed_ones(server: str, method: str) -> None:
    answer = httpx.request(method, f"{server}/search", trust_env=False, timeout=PATIENCE)
    assert answer.status_code in (400, 405, 501)
    if answer.status_code == 405:
        assert "GET" in answer.headers["Allow"]
        assert "Method not allowed" in answer.text


@pytest.fixture(scope="module")
def silent() -> Iterator[ScriptedServer]:
    """Yield a service that accepts requests and never responds."""
    with serving(lambda visit: visit.stay_silent()) as service:
        yield service


@pytest.fixture(scope="module")
def waiting(silent: ScriptedServer) -> Iterator[str]:
    """Yield a dashboard where one page may wait for that service, for 4 s."""
    limits = {"INTENTS_MAX_WAITING_PAGES": "1", "INTENTS_PAGE_TIMEOUT": "4", "INTENTS_SERVICE_POOL_TIMEOUT": "0.05"}
    with dashboard(INTENTS_SERVICE_URL=silent.url, SECRET_KEY="a key of the test", **limits) as root:
        yield root


def operations(service: ScriptedServer) -> list[str]:
    return [visit.operation for visit in service.visits]


def test_names_are_loaded_before_the_first_reader_comes() -> None:
    documents = {"GetChains": {"chains": [{"id": 1}, {"id": 10}]}, "GetTokenList": {"tokens": []}}
    with (
        serving(lambda visit: visit.send(response(documents[visit.operation]))) as service,
        dashboard(INTENTS_SERVICE_URL=service.url, SECRET_KEY="a key of the test"),
    ):
        until(lambda: len(service.visits) == 3)
        assert operations(service) == ["GetChains", "GetTokenList", "GetTokenList"]


def test_a_page_ends_at_its_deadline_and_one_over_the_limit_is_rejected_at_once(
    waiting: str, silent: ScriptedServer
) -> None:
    with httpx.Client(base_url=waiting, trust_env=False, timeout=PATIENCE) as client, ThreadPoolExecutor(1) as threads:
        first = threads.submit(client.get, f"/intent/0x{'12' * 32}")
        until(lambda: "GetIntent" in operations(silent))
        refused = client.get(f"/intent/0x{'34' * 32}")
        assert not first.done()
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "2")
        assert client.get("/search").status_code == 200  # needs no response
        assert first.result(60).status_code == 503


@pytest.mark.parametrize("digits", [4300, 4301, 8000])
def test_an_absurd_content_length_gets_a_400_without_a_traceback(tmp_path: Path, digits: int) -> None:
    log = tmp_path / "log"
    with started(log) as (root, _):
        request = f"POST /search HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {'9' * digits}\r\n\r\n"
        answer = raw(root, request.encode())
    assert answer.startswith((b"HTTP/1.1 400", b"HTTP/1.1 413"))
    assert b"x-content-type-options" in answer.lower()
    assert "Traceback" not in log.read_text()


KNOWN_PORTS = {"ALLOWED_HOSTS": "intents.example,localhost", "CSRF_TRUSTED_ORIGINS": "https://intents.example:8443"}


@pytest.fixture(scope="module")
def named() -> Iterator[str]:
    with dashboard(**KNOWN_PORTS) as root:
        yield root


@pytest.mark.parametrize("of_host", ["intents.example:6666", "INTENTS.example.:6666", "intents.example:0"])
def test_a_port_not_in_the_settings_never_appears_in_shared_links(named: str, of_host: str) -> None:
    intent = an_intent_of(named)
    for path in (intent, f"{intent}/reply", f"{intent}/feed.atom", f"{intent}/feed.json"):
        answer = httpx.get(named + path, headers={"Host": of_host}, trust_env=False, timeout=PATIENCE)
        assert answer.status_code == 200
        assert of_host.rpartition(":")[2] not in re.findall(r"example\.?:(\d+)", answer.text, re.IGNORECASE), path
    asked = {"url": f"http://{of_host}{intent}"}
    assert (
        httpx.get(
            f"{named}/oembed", params=asked, headers={"Host": of_host}, trust_env=False, timeout=PATIENCE
        ).status_code
        == 404
    )


def an_intent_of(root: str) -> str:
    page = httpx.get(f"{root}/history", headers={"Host": "localhost"}, trust_env=False, timeout=PATIENCE).text
    return next(iter(re.findall(r'href="(/intent/0x[0-9a-f]{64})"', page)))


def test_configured_and_local_ports_stay_in_links(named: str) -> None:
    port = urlsplit(named).port
    for host in ("intents.example", "intents.example:8443", f"intents.example:{port}", "localhost:6666"):
        page = httpx.get(named + an_intent_of(named), headers={"Host": host}, trust_env=False, timeout=PATIENCE)
        [feed] = re.findall(r'<link rel="alternate" type="application/atom\+xml" href="([^"]+)"', page.text)
        assert urlsplit(feed).netloc == host
