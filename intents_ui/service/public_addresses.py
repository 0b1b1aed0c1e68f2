"""Names that lead out of our own network, and nowhere else (faults.md S-SSRF)."""

import ipaddress

from intents_ui.service.deadline import LookUp

GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")


class LeadsInside(OSError):
    """At least one address of a name is not in the public internet."""


def public_only(look_up: LookUp) -> LookUp:
    """`look_up` that raises LeadsInside for a name with any other address: which of them is connected to is chance."""

    def checked(host: str, port: int) -> list[str]:
        addresses = look_up(host, port)
        if not all(map(is_public, addresses)):
            raise LeadsInside("it leads to an address that is not public")
        return addresses

    return checked


def is_public(address: str) -> bool:
    """Whether that is one host of the public internet; no address that carries another inside is."""
    known = ipaddress.ip_address(address)
    if isinstance(known, ipaddress.IPv6Address):
        # Mapped IPv4 and NAT64 lie outside of global unicast; 6to4 lies within, and Python 3.12.0 takes it for global.
        return known.is_global and known in GLOBAL_UNICAST and known.sixtofour is None
    return known.is_global and not known.is_multicast
