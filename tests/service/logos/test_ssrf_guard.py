"""Public IP addresses, and host names that resolve to such addresses only."""

import pytest

from intents_ui.service.logos.ssrf_guard import LeadsInside, is_public, public_only

PUBLIC = "93.184.216.34"


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        pytest.param(PUBLIC, True, id="IPv4"),
        pytest.param("2606:2800:220:1:248:1893:25c8:1946", True, id="IPv6"),
        pytest.param("127.0.0.1", False, id="loopback"),
        pytest.param("127.9.9.9", False, id="loopback elsewhere"),
        pytest.param("::1", False, id="IPv6 loopback"),
        pytest.param("0.0.0.0", False, id="this host"),
        pytest.param("::", False, id="IPv6 this host"),
        pytest.param("10.0.0.8", False, id="private"),
        pytest.param("172.16.0.1", False, id="private, class B"),
        pytest.param("192.168.1.1", False, id="private, class C"),
        pytest.param("fd00:ec2::254", False, id="IPv6 private"),
        pytest.param("169.254.169.254", False, id="link-local, where clouds keep secrets"),
        pytest.param("fe80::1", False, id="IPv6 link-local"),
        pytest.param("fe80::1%eth0", False, id="IPv6 link-local with its zone"),
        pytest.param("fec0::1", False, id="IPv6 site-local"),
        pytest.param("100.64.0.1", False, id="carrier's own"),
        pytest.param("224.0.0.1", False, id="multicast"),
        pytest.param("ff0e::1", False, id="IPv6 multicast"),
        pytest.param("255.255.255.255", False, id="broadcast"),
        pytest.param("192.0.2.1", False, id="documentation"),
        pytest.param("2001:db8::1", False, id="IPv6 documentation"),
        pytest.param("198.18.0.1", False, id="benchmarks"),
        pytest.param("240.0.0.1", False, id="reserved"),
        pytest.param("::ffff:127.0.0.1", False, id="mapped loopback"),
        pytest.param("::ffff:93.184.216.34", False, id="mapped public"),
        pytest.param("::127.0.0.1", False, id="compatible loopback"),
        pytest.param("64:ff9b::7f00:1", False, id="NAT64 of loopback"),
        pytest.param("64:ff9b:1::a00:1", False, id="local NAT64"),
        pytest.param("2002:7f00:1::1", False, id="6to4 of loopback"),
        pytest.param("2001:0:4136:e378:8000:63bf:3fff:fdd2", False, id="Teredo"),
    ],
)
def test_an_address_is_public_or_not(address: str, *, expected: bool) -> None:
    assert is_public(address) is expected


def test_a_name_with_only_public_addresses_resolves_unchanged() -> None:
    addresses = [PUBLIC, "2606:2800:220:1:248:1893:25c8:1946"]
    assert public_only(lambda host, port: addresses)("logos.example", 443) == addresses


@pytest.mark.parametrize("addresses", [["10.0.0.8"], [PUBLIC, "10.0.0.8"], ["::1", PUBLIC]], ids=str)
def test_a_name_with_any_private_address_does_not_resolve(addresses: list[str]) -> None:
    with pytest.raises(LeadsInside):
        public_only(lambda host, port: addresses)("logos.example", 443)
