"""Client addresses behind proxies, and same-site checks."""

import ipaddress

import pytest
from django.http import HttpRequest
from django.test import RequestFactory, override_settings

from intents_ui.http.client_ip import client_of, is_same_origin
from intents_ui.settings import ENV
from tests.tables import rows

PROXIES = [ipaddress.ip_network("10.0.0.0/8"), ipaddress.ip_network("fd00::/8")]


@pytest.fixture(autouse=True)
def proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ENV, "trusted_proxies", PROXIES)


@pytest.mark.parametrize(("name", "peer", "forwarded", "client"), rows(__file__, "client_ips"))
def test_a_client_is_the_last_address_before_trusted_proxies(name: str, peer: str, forwarded: str, client: str) -> None:
    headers = [(b"host", b"a"), *((b"x-forwarded-for", value.encode()) for value in forwarded.split("!")[1:])]
    scope = {"client": None if peer == "-" else (peer, 1), "headers": headers}
    assert client_of(scope) == (None if client == "-" else client), name


@pytest.mark.parametrize("name", ["Forwarded", "Via", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP"])
def test_a_proxy_on_this_machine_that_is_not_trusted_is_one_client(name: str) -> None:
    headers = [(name.lower().encode(), b"203.0.113.9")]
    assert client_of({"client": ("127.0.0.1", 1), "headers": headers}) == "127.0.0.1"


def request(**headers: str) -> HttpRequest:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return RequestFactory().post("/triage", headers={"Host": "localhost:8000"} | named)


@pytest.mark.parametrize(("name", "headers", "ours"), rows(__file__, "same_site"))
def test_a_request_is_same_site_unless_a_browser_says_otherwise(name: str, headers: str, ours: str) -> None:
    sent = dict(each.split(": ") for each in headers.split(", ") if each)
    assert is_same_origin(request(**sent)) is (ours == "yes"), name


def test_a_wildcard_host_does_not_make_every_site_our_own() -> None:
    with override_settings(ALLOWED_HOSTS=["*"]):
        assert is_same_origin(request(Origin="https://localhost:8000"))
        assert not is_same_origin(request(Origin="https://evil.example"))
