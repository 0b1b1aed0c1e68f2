"""Client addresses behind proxies, same-site checks, and the public URL of the dashboard."""

import ipaddress

import pytest
from django.http import HttpRequest
from django.test import RequestFactory, override_settings

from intents_ui.web.client_ip import address_of, is_ours, is_this_machine, root

PROXIES = [ipaddress.ip_network("10.0.0.0/8"), ipaddress.ip_network("fd00::/8")]


@pytest.mark.parametrize(
    ("client", "forwarded", "address"),
    [
        pytest.param("198.51.100.7", [], "198.51.100.7", id="comes by itself"),
        pytest.param("198.51.100.7", ["203.0.113.9"], "198.51.100.7", id="says it came from elsewhere"),
        pytest.param("10.0.0.1", ["203.0.113.9"], "203.0.113.9", id="through our proxy"),
        pytest.param("10.0.0.1", ["203.0.113.9, 10.0.0.2"], "203.0.113.9", id="through two of our proxies"),
        pytest.param("10.0.0.1", ["192.0.2.1, 203.0.113.9"], "203.0.113.9", id="what the visitor wrote before ours"),
        pytest.param("10.0.0.1", ["192.0.2.1", "203.0.113.9"], "203.0.113.9", id="two headers"),
        pytest.param("10.0.0.1", [], "10.0.0.1", id="the proxy itself"),
        pytest.param("2001:db8:1:2:3:4:5:6", [], "2001:db8:1:2::/64", id="IPv6"),
        pytest.param("::1", [], "::1", id="this machine by IPv6"),
        pytest.param("::ffff:198.51.100.7", [], "198.51.100.7", id="IPv4 in IPv6"),
        pytest.param("fd00::1", ["2001:db8:1:2::9"], "2001:db8:1:2::/64", id="IPv6 proxy"),
        pytest.param(None, [], None, id="a socket on the disk"),
        pytest.param(None, ["203.0.113.9"], "203.0.113.9", id="a proxy on a socket on the disk"),
    ],
)
def test_a_visitor_is_the_last_address_before_trusted_proxies(client, forwarded, address):
    headers = [(b"host", b"a"), *((b"x-forwarded-for", value.encode()) for value in forwarded)]
    assert address_of({"client": (client, 1) if client else None, "headers": headers}, PROXIES) == address


@pytest.mark.parametrize(
    ("forwarded", "address"),
    [
        pytest.param("203.0.113.9:5678", "203.0.113.9", id="a port"),
        pytest.param('"203.0.113.9"', "203.0.113.9", id="quotes"),
        pytest.param('"203.0.113.9:5678"', "203.0.113.9", id="quotes and a port"),
        pytest.param("[2001:db8:1:2::9]", "2001:db8:1:2::/64", id="brackets"),
        pytest.param("[2001:db8:1:2::9]:5678", "2001:db8:1:2::/64", id="brackets and a port"),
        pytest.param('"[2001:db8:1:2::9]:5678"', "2001:db8:1:2::/64", id="quotes, brackets and a port"),
        pytest.param("::ffff:203.0.113.9", "203.0.113.9", id="IPv4 in IPv6"),
        pytest.param("192.0.2.1:80, 203.0.113.9:81, 10.0.0.2:82", "203.0.113.9", id="ports of our own proxies too"),
        pytest.param("nonsense", "unreadable", id="no address"),
        pytest.param("nonsense:5678", "unreadable", id="no address with a port"),
        pytest.param("", "unreadable", id="nothing"),
        pytest.param("203.0.113.9:5678:1", "unreadable", id="two ports"),
    ],
)
def test_a_port_or_quotes_in_a_forwarded_address_do_not_change_the_visitor(forwarded, address):
    headers = [(b"x-forwarded-for", forwarded.encode())]
    assert address_of({"client": ("10.0.0.1", 1), "headers": headers}, PROXIES) == address


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
    assert is_ours(request(**headers)) is ours


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        pytest.param({"Origin": "https://localhost"}, "https://localhost", id="its origin"),
        pytest.param({"Referer": "https://localhost/history"}, "https://localhost", id="the page that it came from"),
        pytest.param(
            {"Referer": "https://money.example/history", "Sec_Fetch_Site": "same-origin"},
            "https://money.example",
            id="a proxy of another name",
        ),
        pytest.param({"Referer": "https://evil.example/"}, "http://localhost:8000", id="another's page"),
        pytest.param({"Origin": "null", "Sec_Fetch_Site": "same-origin"}, "http://localhost:8000", id="not told"),
        pytest.param({}, "http://localhost:8000", id="nothing"),
    ],
)
def test_links_start_with_the_origin_that_the_browser_uses(headers: dict[str, str], expected: str) -> None:
    assert root(request(**headers)) == expected


def test_a_wildcard_host_does_not_make_every_site_our_own() -> None:
    with override_settings(ALLOWED_HOSTS=["*"]):
        assert is_ours(request(Origin="https://localhost:8000"))
        assert not is_ours(request(Origin="https://evil.example"))


@pytest.mark.parametrize(
    ("address", "is_it"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("::/64", False),
        ("2001:db8::/64", False),
        ("10.0.0.1", False),
        ("localhost", False),
        ("nonsense", False),
    ],
)
def test_local_requests_are_recognized_by_their_address_only(address: str, is_it: bool) -> None:
    assert is_this_machine(address) is is_it
