"""Requests over a real socket: what is refused before any view sees it, and links and keys behind a proxy."""

import asyncio
import re
import socket
import ssl
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, ExitStack
from urllib.parse import urlsplit

import httpx
import pytest

from tests.faults.test_bad_input import raw
from tests.nginx import balanced
from tests.production import Production
from tests.waiting import PATIENCE


def test_a_long_message_in_any_script_can_be_pasted(production: Production) -> None:
    message = "送金が届きません。" * 1090 + " 0x" + "12" * 20
    answer = production.get(f"/search?q={message}")
    assert answer.status_code == 404
    assert "address <bdi" in answer.text


@pytest.mark.parametrize("path", ["/", "/search", "/healthz", "/nowhere"])
def test_head_is_get_without_the_body(production: Production, path: str) -> None:
    head, get = (production.client.request(method, production.root + path) for method in ("HEAD", "GET"))
    assert head.status_code == get.status_code
    assert head.content == b""


@pytest.mark.parametrize(("digits", "answer"), [(4300, b"HTTP/1.1 413"), (8000, b"")], ids=["4300", "8000"])
def test_an_absurd_content_length_is_rejected_without_a_traceback(
    production: Production, digits: int, answer: bytes
) -> None:
    request = f"POST /search HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {'9' * digits}\r\n\r\n"
    before = production.log.read_text().count("Traceback")
    assert raw(production.root, request.encode())[:12] == answer
    assert production.log.read_text().count("Traceback") == before


def test_a_header_that_imitates_another_is_dropped(production: Production) -> None:
    assert "<html" in production.get("/nowhere", HX_Request_Type="partial").text


def test_links_have_the_host_of_the_request(production: Production) -> None:
    for host in ("intents.example", "intents.example:8443"):
        page = production.get(production.intent(), Host=host)
        [feed] = re.findall(r'<link rel="alternate" type="application/atom\+xml" href="([^"]+)"', page.text)
        assert urlsplit(feed).netloc == host


def test_a_remote_service_has_no_banner_no_demo_and_no_embedded_api(production: Production) -> None:
    assert "Demo data" not in production.get("/").text
    assert production.get("/demo").status_code == 404
    assert production.client.post(f"{production.root}/rpc/Service/GetChains", json={}).status_code in (403, 404)


type Nginx = tuple[str, Callable[[str], socket.socket], ssl.SSLContext]

CROWD = 300  # of one address, for each half
HALF_A_HEAD = b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Half:"
HALF_A_BODY = b"POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nq="


@pytest.fixture(scope="module")
def nginx(production: Production, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nginx]:
    """nginx's URL, a function that connects to it from an address of this machine, and its trusted authority."""
    port = urlsplit(production.root).port or 0
    with balanced([port], tmp_path_factory.mktemp("nginx")) as (url, trust):

        def connect(address: str) -> socket.socket:
            where = ("localhost", urlsplit(url).port or 0)
            plain = socket.create_connection(where, timeout=PATIENCE, source_address=(address, 0))
            return trust.wrap_socket(plain, server_hostname="localhost")

        yield url, connect, trust


@pytest.mark.programs
def test_half_sent_requests_of_one_address_shut_nobody_out_and_are_closed(
    nginx: Nginx,
) -> None:
    url, connect, trust = nginx
    with ExitStack() as stack:
        crowd = [stack.enter_context(connect("127.0.0.2")) for _ in range(2 * CROWD)]
        for number, each in enumerate(crowd):
            each.sendall(HALF_A_BODY if number % 2 else HALF_A_HEAD)
        other = httpx.HTTPTransport(verify=trust, local_address="127.0.0.3")
        client = stack.enter_context(httpx.Client(transport=other, timeout=PATIENCE))
        for _ in range(5):
            assert client.get(f"{url}/help").status_code == 200
        heads, bodies = (Counter(each.recv(12)[9:12] for each in crowd[first::2]) for first in (0, 1))
    assert heads.keys() <= {b"", b"408"}  # closed
    assert bodies.keys() <= {b"", b"408", b"429"}
    assert bodies[b"429"] == CROWD - 200


@pytest.mark.programs
def test_an_office_behind_one_address_has_its_live_streams_and_pages(nginx: Nginx, production: Production) -> None:
    url, _, trust = nginx
    path = production.intent().replace("/intent/", "/live/")
    files = sorted(set(re.findall(r'"(/static/[^"]+)"', production.get("/").text)))

    async def visits() -> list[int]:
        # Each of three browsers loads six files at a time.
        limits = httpx.Limits(max_connections=20 + 3 * 6)
        transport = httpx.AsyncHTTPTransport(verify=trust, local_address="127.0.0.4", limits=limits)
        async with (
            httpx.AsyncClient(transport=transport, base_url=url, timeout=PATIENCE) as client,
            AsyncExitStack() as stack,
        ):
            streams = [await stack.enter_async_context(client.stream("GET", path)) for _ in range(20)]
            assert {each.headers["Content-Type"].partition(";")[0] for each in streams} == {"text/event-stream"}
            loaded = await asyncio.gather(*(client.get(file) for file in files * 2))
            firsts = [await anext(each.aiter_bytes()) for each in streams]
            assert all(firsts)
            return [each.status_code for each in (*streams, *loaded)]

    assert set(asyncio.run(visits())) == {200}
