"""Whose limit a request counts against."""

import ipaddress

import pytest

from intents_ui.visitors import address_of

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
        pytest.param("10.0.0.1", ["nonsense"], "nonsense", id="no address"),
        pytest.param("2001:db8:1:2:3:4:5:6", [], "2001:db8:1:2::/64", id="IPv6"),
        pytest.param("::ffff:198.51.100.7", [], "198.51.100.7", id="IPv4 in IPv6"),
        pytest.param("fd00::1", ["2001:db8:1:2::9"], "2001:db8:1:2::/64", id="IPv6 proxy"),
        pytest.param(None, [], None, id="a socket on the disk"),
        pytest.param(None, ["203.0.113.9"], "203.0.113.9", id="a proxy on a socket on the disk"),
    ],
)
def test_a_visitor_is_the_last_address_that_none_of_our_proxies_has(client, forwarded, address):
    headers = [(b"host", b"a"), *((b"x-forwarded-for", value.encode()) for value in forwarded)]
    assert address_of({"client": (client, 1) if client else None, "headers": headers}, PROXIES) == address
