"""Who asks: the address that a limit counts by, whether one of our pages sent it, and how its reader calls us."""

import ipaddress
import re
from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.http.request import split_domain_port, validate_host

ORIGIN = re.compile(r"(?P<root>https?://(?P<host>[^/?#@\s]+))(?=[/?#]|\Z)")
PASSED_ON = frozenset(
    {b"forwarded", b"via", b"x-forwarded-for", b"x-forwarded-host", b"x-forwarded-proto", b"x-real-ip"}
)
# What a proxy passed on as an address and cannot be read as one counts as a single visitor.
UNREADABLE = "unreadable"
FROM_OUR_PAGES = ("same-origin", "none")  # none: by hand

type Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def address_of(scope: Mapping[str, Any], proxies: Sequence[Network]) -> str | None:
    """The visitor's address, an IPv6 one as its /64; None where there is none to go by (a socket on the disk)."""
    found = caller(scope, proxies)
    return _as_counted(found) if found is not None else None


def counted(scope: Mapping[str, Any], proxies: Sequence[Network]) -> str | None:
    """`address_of` where limits and shares are counted: not on this machine, which may be a proxy for everybody."""
    found = address_of(scope, proxies)
    return found if is_counted(found) else None


def is_counted(visitor: str | None) -> bool:
    """Whoever comes by no address could only be counted together with everybody."""
    return visitor is not None and not is_this_machine(visitor)


def caller(scope: Mapping[str, Any], proxies: Sequence[Network]) -> str | None:
    """A proxy of ours says in X-Forwarded-For who came to it. What stands further left was written by whoever came."""
    client = scope.get("client")
    told = [value.decode("latin-1") for name, value in scope["headers"] if name == b"x-forwarded-for"]
    hops = [_without_port(hop) for line in told for hop in line.split(",")]
    hops += [client[0]] if client and client[0] else []
    while len(hops) > 1 and is_within(hops[-1], proxies):
        hops.pop()
    return hops[-1] if hops else None


def of(request: HttpRequest) -> str | None:
    """`address_of` for a page."""
    client, told = request.META.get("REMOTE_ADDR"), request.META.get("HTTP_X_FORWARDED_FOR")
    headers = [(b"x-forwarded-for", told.encode("latin-1", "replace"))] if told is not None else []
    return address_of({"client": (client, 0) if client else None, "headers": headers}, settings.ENV.trusted_proxies)


def is_by_our_proxy(scope: Mapping[str, Any], proxies: Sequence[Network]) -> bool:
    """Whether the connection is one of theirs."""
    client = scope.get("client")
    return client is not None and is_within(client[0], proxies)


def is_one_of(networks: Sequence[Network], scope: Mapping[str, Any], *, proxies: Sequence[Network]) -> bool:
    """Whether it is certain that the caller is: a proxy that is none of ours may pass on anybody."""
    is_passed_on = any(name in PASSED_ON for name, _ in scope["headers"])
    found = caller(scope, proxies)
    return bool(found) and is_within(str(found), networks) and (not is_passed_on or is_by_our_proxy(scope, proxies))


def may_read_figures(scope: Mapping[str, Any]) -> bool:
    """Whether the caller may know how this process and what stands behind it are doing (INTENTS_METRICS)."""
    return is_one_of(settings.ENV.intents_metrics, scope, proxies=settings.ENV.trusted_proxies)


def runs_it(request: HttpRequest) -> bool:
    """`may_read_figures` for a page."""
    client = request.META.get("REMOTE_ADDR")
    headers = [(name.lower().encode(), value.encode("latin-1", "replace")) for name, value in request.headers.items()]
    return may_read_figures({"client": (client, 0) if client else None, "headers": headers})


def is_this_machine(address: str) -> bool:
    """A health check, a test, or a proxy that TRUSTED_PROXIES does not name."""
    try:
        return ipaddress.ip_network(address).is_loopback
    except ValueError:
        return False


def is_behind_unnamed_proxy(request: HttpRequest) -> bool:
    """Whether somebody passes visitors on whom we do not believe."""
    client = request.META.get("REMOTE_ADDR") or ""
    return (
        "HTTP_X_FORWARDED_FOR" in request.META and bool(client) and not is_within(client, settings.ENV.trusted_proxies)
    )


def is_within(address: str, networks: Sequence[Network]) -> bool:
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    plain = getattr(found, "ipv4_mapped", None) or found  # as a socket for both kinds writes it
    return any(plain in network for network in networks)


def _without_port(hop: str) -> str:
    """Return the address of an entry that some proxies write with a port, in brackets or in quotes."""
    hop = hop.strip().strip('"').strip()
    if hop.startswith("["):
        return hop[1:].partition("]")[0]
    host, _, port = hop.partition(":")
    return host if "." in host and ":" not in port else hop


def _as_counted(address: str) -> str:
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return UNREADABLE
    if found.version == 4 or found.is_loopback:
        return str(found)
    return str(found.ipv4_mapped or ipaddress.ip_network((found, 64), strict=False))


def is_ours(request: HttpRequest) -> bool:
    """Whether no other site made the reader's browser ask: all that POST does here asks this first.

    A browser says so itself, except to a plain address that is not its own machine's; then the page that it came from
    counts, and who names none is no browser.
    """
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None:
        return site in FROM_OUR_PAGES
    found = ORIGIN.match(_came_from(request))
    return _is_our_host(request, found["host"]) if found else not _came_from(request)


def root(request: HttpRequest) -> str:
    """Scheme and host as the reader's browser knows them, which a proxy may have changed on the way."""
    found = ORIGIN.match(_came_from(request))
    return found["root"] if found and is_ours(request) else f"{request.scheme}://{request.get_host()}"


def comes_by_https(request: HttpRequest) -> bool:
    """Also where a proxy that ends it does not say so, as far as the reader's browser tells."""
    return root(request).startswith("https:") or request.is_secure()


def _came_from(request: HttpRequest) -> str:
    return request.headers.get("Origin") or request.headers.get("Referer") or ""


def _is_our_host(request: HttpRequest, host: str) -> bool:
    """A dashboard that answers under every name is known by the one that it was asked under."""
    domain, _ = split_domain_port(host)
    named = [name for name in settings.ALLOWED_HOSTS if name != "*"]
    return host == request.get_host() or (bool(domain) and validate_host(domain, named))
