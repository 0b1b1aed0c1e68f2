"""Tries to pass the limits of a client that has used them up: by headers, tokens, addresses, paths and methods."""

import asyncio
import hashlib
import ipaddress
import json
from collections.abc import Iterator
from typing import Any, Final

import httpx
import pytest
import time_machine
from django.core.signals import request_started

from intents_ui import app, asgi
from intents_ui.emulator.app import Emulator
from intents_ui.http import api_access, limits
from intents_ui.http.limits import REQUESTS
from intents_ui.service.health import Health
from intents_ui.settings import ENV
from tests.pages.conftest import fresh

SPENT, OTHER, SITE = "203.0.113.7", "198.51.100.7", "2001:db8:1::/48"
PROXY = "10.0.0.1"
INTENT: Final = "0x" + "12" * 32
TOKEN, USED_UP = "a token of the test", "a token without units"
PARTIAL: Final = {"HX-Request": "true", "HX-Request-Type": "partial"}


def entry(name: str, token: str) -> str:
    return f"{name}:{hashlib.sha256(token.encode()).hexdigest()}:60"


@pytest.fixture
def emulator() -> Iterator[Emulator]:
    with time_machine.travel("2026-11-21T12:00:00Z", tick=False):
        yield from fresh()


@pytest.fixture(autouse=True)
def used_up(emulator: Emulator, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client, an IPv6 site, a proxy on this machine and a token have nothing left."""
    monkeypatch.setattr(ENV, "trusted_proxies", [ipaddress.ip_network(f"{PROXY}/32")])
    monkeypatch.setitem(vars(ENV), "api_tokens", api_access.parse(f"{entry('own', TOKEN)},{entry('spent', USED_UP)}"))
    for client in (SPENT, SITE, "127.0.0.1", "unreadable", "token spent"):
        app.current().rate_limiter.consume(client, limits.units(client))


def ask(peer: str, path: str = "/help", method: str = "GET", **headers: str) -> httpx.Response:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}

    async def answer() -> httpx.Response:
        transport = httpx.ASGITransport(asgi.application, client=(peer, 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.request(method, httpx.URL(f"http://localhost{path}"), headers=sent)

    return asyncio.run(answer())


FORWARDED: Final = ("192.0.2.1", "127.0.0.1", "::1", "192.0.2.1, 192.0.2.2", "", "unknown", PROXY, f"{PROXY}, {PROXY}")
NAMES: Final = (
    "Forwarded", "Via", "X-Real-IP", "X-Client-IP", "X-Cluster-Client-IP", "Client-IP", "True-Client-IP",
    "CF-Connecting-IP", "Fastly-Client-IP", "X-Original-Forwarded-For", "X-Forwarded", "X-Remote-Addr",
)  # fmt: skip
HEADERS: Final[list[dict[str, str]]] = [
    *({"X-Forwarded-For": value} for value in FORWARDED),
    *({name: "192.0.2.1"} for name in NAMES),
    {"X_Forwarded_For": "192.0.2.1"},
    {"HX-Target": "div#list"} | PARTIAL,
    PARTIAL,
    {"HX-Request-Type": "partial", "HX-Target": "div#list", "X-Forwarded-For": "192.0.2.1"},
    {"User-Agent": "kube-probe/1.31"},
    {"Authorization": f"Bearer {TOKEN}"},
    {"Cookie": "operator=x"},
    {"Purpose": "prefetch"},
    {"If-None-Match": "*"},
    {"Range": "bytes=0-1"},
    {"Expect": "100-continue"},
    {"Accept": "application/json"},
    {"X-HTTP-Method-Override": "OPTIONS"},
    {"Sec-Fetch-Site": "same-origin"},
]
PEERS: Final[dict[str, tuple[str, dict[str, str]]]] = {
    "IPv4 in IPv6": (f"::ffff:{SPENT}", {}),
    "6to4": ("2002:cb00:7107::1", {}),
    "another network by 6to4": ("2002:cb00:7107:ffff::2", {}),
    "IPv6": ("2001:db8:1::1", {}),
    "another host": ("2001:db8:1::2", {}),
    "another network": ("2001:db8:1:1::1", {}),
    "the last network": ("2001:db8:1:ffff:ffff:ffff:ffff:ffff", {}),
    "a zone": ("2001:db8:1::1%eth0", {}),
    "a proxy on this machine": ("127.0.0.1", {"X-Forwarded-For": "192.0.2.1"}),
    "it says that it is alone": ("127.0.0.1", {"X-Forwarded-For": "127.0.0.1"}),
    "by another header": ("127.0.0.1", {"X-Real-IP": "192.0.2.1"}),
    "what was written before the proxy": (PROXY, {"X-Forwarded-For": f"192.0.2.1, {SPENT}"}),
    "loopback before the proxy": (PROXY, {"X-Forwarded-For": f"127.0.0.1, {SPENT}"}),
    "a port": (PROXY, {"X-Forwarded-For": f"{SPENT}:4711"}),
    "another port": (PROXY, {"X-Forwarded-For": f"{SPENT}:4712"}),
    "quotes": (PROXY, {"X-Forwarded-For": f'"{SPENT}"'}),
    "brackets": (PROXY, {"X-Forwarded-For": "[2001:db8:1:2::9]:1"}),
    "spaces": (PROXY, {"X-Forwarded-For": f"  {SPENT}  "}),
    "no address": (PROXY, {"X-Forwarded-For": "x"}),
    "no address either": (PROXY, {"X-Forwarded-For": "y"}),
}
PATHS: Final = (
    "/", "/history", "/newest", f"/intent/{INTENT}", f"/intent/{INTENT}.json", f"/intent/{INTENT}/card.png",
    f"/tx/{INTENT}", "/search?q=0x12", "/suggest?q=us", "/export/history.csv", "/export/history.json", "/robots.txt",
    "/favicon.ico", "/healthz/", "/healthz/x", "/metrics/", "//history", "/history/", "/HISTORY", "/nowhere",
    "/nowhere.json", "/static/nothing.css", "/static/../history", "/api", "/api/", "/api/v1/transfers", "/api/none",
    "/api/v1/lookup?q=0x12", "/api/openapi.json", "/mcp", f"/live/{INTENT}", f"/live/{INTENT}?seen=1",
    "/rpc/Service/GetChains",    "/console/GetChains?ask=fields", "/triage", "/operator",
)  # fmt: skip
METHODS: Final = ("HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "FOO")
PROGRAMS: Final = ("/api/v1/transfers?size=1", "/api/v1/lookup?q=xx", "/mcp")


def is_limited(answer: httpx.Response) -> bool:
    return answer.status_code == 429 and int(answer.headers["Retry-After"]) > 0


@pytest.mark.parametrize("headers", HEADERS, ids=str)
def test_no_header_passes_the_limit(headers: dict[str, str]) -> None:
    assert is_limited(ask(SPENT, "/help", **headers))
    assert not is_limited(ask(OTHER, "/help", **headers))


@pytest.mark.parametrize("how", PEERS)
def test_no_address_passes_the_limit(how: str) -> None:
    peer, headers = PEERS[how]
    assert is_limited(ask(peer, "/help", **headers))


@pytest.mark.parametrize("path", PATHS)
def test_no_path_passes_the_limit(path: str) -> None:
    if path.startswith(("/live/", "/rpc/")):  # which are counted in the process, as all are in this test
        app.current().rate_limiter.consume_here(SPENT, 1)
    assert is_limited(ask(SPENT, path))


@pytest.mark.parametrize("method", METHODS)
def test_no_method_passes_the_limit(method: str) -> None:
    assert is_limited(ask(SPENT, "/help", method))


@pytest.mark.parametrize("path", PROGRAMS)
@pytest.mark.parametrize("token", [USED_UP, "an unknown token", "", "own", TOKEN[:-1], f"{TOKEN} {USED_UP}"])
def test_no_token_but_one_with_units_passes_the_limit(path: str, token: str) -> None:
    assert is_limited(ask(SPENT, path, Authorization=f"Bearer {token}"))
    assert not is_limited(ask(SPENT, path, Authorization=f"Bearer {TOKEN}"))


@pytest.mark.parametrize("path", ["/help", "/newest", "/static/img/mark.svg", "/api/v1/transfers", "/mcp", "/x.json"])
@pytest.mark.parametrize("headers", [{}, PARTIAL, PARTIAL | {"HX-Target": "div#list"}], ids=["page", "part", "list"])
def test_a_rejection_at_the_door_takes_neither_django_nor_a_thread(path: str, headers: dict[str, str]) -> None:
    begun: list[Any] = []

    def note(**_: Any) -> None:
        begun.append(path)

    held = [SPENT] * (REQUESTS // 8)
    assert {app.current().requests_in_hand.take(each) for each in held} == {None}
    request_started.connect(note)
    try:
        assert is_limited(ask(SPENT, path, **headers))
    finally:
        request_started.disconnect(note)
        for each in held:
            app.current().requests_in_hand.give_back(each)
    assert begun == []


def test_a_rejection_during_maintenance_is_the_same_as_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Health, "is_paused", property(lambda _: True))
    held = [f"192.0.2.{number}" for number in range(8) for _ in range(REQUESTS // 8)]
    assert {app.current().requests_in_hand.take(each) for each in held} == {None}
    try:
        paused = ask(OTHER, "/help")
        monkeypatch.undo()
        after = ask(OTHER, "/help")
    finally:
        for each in held:
            app.current().requests_in_hand.give_back(each)
    assert (paused.status_code, paused.text) == (503, after.text)
    assert "paused" not in paused.text


def test_a_rejected_program_is_told_in_its_format_when_to_retry() -> None:
    problem = json.loads(ask(SPENT, "/api/v1/transfers").text)
    assert (problem["status"], problem["retryAfter"]) == (429, 1)
    told = json.loads(ask(SPENT, "/mcp", "POST").text)
    assert told["error"]["data"]["retryAfter"] == 1


def test_this_machine_without_a_proxy_has_no_limit() -> None:
    assert [ask("127.0.0.1", "/robots.txt").status_code for _ in range(3)] == [200] * 3
