"""Public IP addresses, and host names that resolve to such addresses only."""

import pytest

from intents_ui.service.logos.ssrf_guard import is_public

PUBLIC = "93.184.216.34"


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        pytest.param(PUBLIC, True, id="IPv4"),
        pytest.param("2606:2800:220:1:248:1893:25c8:1946", True, id="IPv6"),
        pytest.param("127.0.0.1", False, id="loopback"),
        pytest.param("::1", False, id="IPv6 loopback"),
        pytest.param("0.0.0.0", False, id="this host"),
        pytest.param("10.0.0.8", False, id="private"),
        pytest.param("fd00:ec2::254", False, id="IPv6 private"),
        pytest.param("169.254.169.254", False, id="link-local, where clouds keep secrets"),
        pytest.param("fe80::1", False, id="IPv6 link-local"),
        pytest.param("100.64.0.1", False, id="carrier's own"),
        pytest.param("224.0.0.1", False, id="multicast"),
        pytest.param("::ffff:127.0.0.1", False, id="mapped loopback"),
        pytest.param("64:ff9b::7f00:1", False, id="NAT64 of loopback"),
        pytest.param("2002:7f00:1::1", False, id="6to4 of loopback"),
    ],
)
def test_an_address_is_public_or_not(address: str, *, expected: bool) -> None:
    assert is_public(address) is expected
