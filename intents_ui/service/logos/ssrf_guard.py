"""SSRF protection: resolve only names whose addresses are all on the public internet."""

import ipaddress

from intents_ui.service.http.deadline import LookUp

GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")


class LeadsInside(OSError):
    """A name resolves to an address that isn't public."""


def public_only(look_up: LookUp) -> LookUp:
    """Return a `look_up` that raises LeadsInside if any address isn't public.

    A connection may use any of the addresses.
    """

    def checked(host: str, port: int) -> list[str]:
        addresses = look_up(host, port)
        if not all(map(is_public, addresses)):
            raise LeadsInside("it leads to an address that is not public")
        return addresses

    return checked


def is_public(address: str) -> bool:
    """Return whether an address is a single host on the public internet. Addresses that embed another one aren't."""
    known = ipaddress.ip_address(address)
    if isinstance(known, ipaddress.IPv6Address):
        # Mapped IPv4 and NAT64 are outside of global unicast. 6to4 is inside, and Python 3.12.0 treats it as global.
        return known.is_global and known in GLOBAL_UNICAST and known.sixtofour is None
    return known.is_global and not known.is_multicast
