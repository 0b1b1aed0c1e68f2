"""Client addresses behind proxies, and same-site checks."""

import ipaddress
from pathlib import Path

import pytest
from django.http import HttpRequest
from django.test import RequestFactory, override_settings

from intents_ui.http.client_ip import client_of, is_same_origin
from intents_ui.settings import ENV

ROWS = [
    [cell.strip() for cell in line.split("|")]
    for line in Path(__file__).with_name("client_ips.txt").read_text().splitlines()[1:]
]
PROXIES = [ipaddress.ip_network("10.0.0.0/8"), ipaddress.ip_network("fd00::/8")]


@pytest.fixture(autouse=True)
def proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ENV, "trusted_proxies", PROXIES)


@pytest.mark.parametrize(("peer", "forwarded", "client"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_a_client_is_the_last_address_before_trusted_proxies(peer: str, forwarded: str, client: str) -> None:
    headers = [(b"host", b"a"), *((b"x-forwarded-for", value.encode()) for value in forwarded.split("!")[1:])]
    scope = {"client": None if peer == "-" else (peer, 1), "headers": headers}
    assert client_of(scope) == (None if client == "-" else client)


@pytest.mark.parametrize("name", ["Forwarded", "Via", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP"])
def test_a_proxy_on_this_machine_that_is_not_trusted_is_one_client(name: str) -> None:
    headers = [(name.lower().encode(), b"203.0.113.9")]
    assert client_of({"client": ("127.0.0.1", 1), "headers": headers}) == "127.0.0.1"


def request(**headers: str) -> HttpRequest:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return RequestFactory().post("/triage", headers={"Host": "localhost:8000"} | named)


@pytest.mark.parametrize(
    ("headers", "ours"),
    [
        pytest.param({"Sec_Fetch_Site": "same-origin"}, True, id="our own page"),
        pytest.param({"Sec_Fetch_Site": "same-origin", "Origin": "null"}, True, id="our own page, which is not told"),
        pytest.param({"Sec_Fetch_Site": "none"}, True, id="by hand"),
        pytest.param({"Sec_Fetch_Site": "cross-site"}, False, id="another site"),
        pytest.param(
            {"Sec_Fetch_Site": "cross-site", "Origin": "http://localhost:8000"}, False, id="another site lies"
        ),
        pytest.param({"Sec_Fetch_Site": "same-site"}, False, id="a neighbour"),
        pytest.param({"Origin": "http://localhost:8000"}, True, id="our own origin"),
        pytest.param({"Origin": "https://127.0.0.1:8443"}, True, id="our own behind a proxy"),
        pytest.param({"Origin": "https://evil.example"}, False, id="another origin"),
        pytest.param({"Origin": "https://localhost.evil.example"}, False, id="a longer name"),
        pytest.param({"Origin": "https://evil.example/@localhost"}, False, id="a path"),
        pytest.param({"Origin": "https://localhost@evil.example"}, False, id="a user"),
        pytest.param({"Origin": "ftp://localhost"}, False, id="another scheme"),
        pytest.param({"Origin": "null"}, False, id="an origin that is not told"),
        pytest.param({"Origin": "http://[::1"}, False, id="no origin"),
        pytest.param({"Referer": "https://localhost/history?size=10"}, True, id="from our page"),
        pytest.param({"Referer": "https://evil.example/localhost"}, False, id="from another's page"),
        pytest.param({}, True, id="not a browser"),
    ],
)
def test_a_request_is_same_site_unless_a_browser_says_otherwise(headers: dict[str, str], ours: bool) -> None:
    assert is_same_origin(request(**headers)) is ours


def test_a_wildcard_host_does_not_make_every_site_our_own() -> None:
    with override_settings(ALLOWED_HOSTS=["*"]):
        assert is_same_origin(request(Origin="https://localhost:8000"))
        assert not is_same_origin(request(Origin="https://evil.example"))
