"""Who asks: the address that a limit counts by."""

import ipaddress
from collections.abc import Mapping, Sequence
from typing import Any

type Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def address_of(scope: Mapping[str, Any], proxies: Sequence[Network]) -> str | None:
    """The visitor's address, an IPv6 one as its /64; None where there is none to go by (a socket on the disk).

    A proxy of ours says in X-Forwarded-For who came to it. What stands further left was written by whoever came.
    """
    client = scope.get("client")
    told = [value.decode("latin-1") for name, value in scope["headers"] if name == b"x-forwarded-for"]
    hops = [hop.strip() for line in told for hop in line.split(",")]
    hops += [client[0]] if client else []
    while len(hops) > 1 and _is_within(hops[-1], proxies):
        hops.pop()
    return _as_counted(hops[-1]) if hops else None


def _is_within(address: str, networks: Sequence[Network]) -> bool:
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(found in network for network in networks)


def _as_counted(address: str) -> str:
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if found.version == 4:
        return str(found)
    return str(found.ipv4_mapped or ipaddress.ip_network((found, 64), strict=False))
