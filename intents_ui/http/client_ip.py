"""Clients: their IP addresses, who is signed in at the proxy, same-origin checks and the public host name."""

import ipaddress
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest
from django.http.request import split_domain_port, validate_host

from intents_ui.http import api_access
from intents_ui.http.api_access import Token

ORIGIN = re.compile(r"https?://([^/?#@\s]+)(?=[/?#]|\Z)")
PASSED_ON = frozenset(
    {b"forwarded", b"via", b"x-forwarded-for", b"x-forwarded-host", b"x-forwarded-proto", b"x-real-ip"}
)
# The headers by which clients are told apart, with their keys in a Django request.
KEYS = [(name, f"HTTP_{name.decode().upper().replace('-', '_')}") for name in (*PASSED_ON, b"authorization")]
UNREADABLE = "unreadable"  # all clients whose forwarded address is invalid
API_CLIENT = "token "  # with which the names of clients with a token begin
THIS_MACHINE = "this machine"  # where it has a limit
FROM_OUR_PAGES = ("same-origin", "none")  # "none" is navigation by the user
LONGEST_HEADER: Final = 1000  # characters
LOOPBACK = [ipaddress.ip_network(each) for each in settings.LOOPBACK]
SITE_BITS = 48  # of an IPv6 address: what a provider assigns to one site, 65,536 networks

type Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def client_of(scope: Mapping[str, Any]) -> str | None:
    """Return the client whose limits apply: a token of the API, an IPv4 address or an IPv6 /48.

    None has no limits: this machine, as long as it forwards no one else's requests, and a Unix socket.
    """
    if token := token_of(scope):
        return name_of(token)
    peer = scope["client"][0] if scope.get("client") else None
    if (not peer or is_within(peer, LOOPBACK)) and not is_passed_on(scope):
        return None
    return _normalized(caller(scope) or "")


def token_of(scope: Mapping[str, Any]) -> Token | None:
    """Return the token with which the API or MCP is called. An unknown one is that of a proxy for single sign-on."""
    path, sent = scope.get("path", ""), [value for name, value in scope["headers"] if name == b"authorization"]
    if not sent or not (path.startswith(api_access.OPERATIONS) or path == api_access.MCP):
        return None
    scheme, _, given = bytes(sent[0]).decode("latin-1").partition(" ")
    return api_access.find(settings.ENV.api_tokens, given.strip()) if scheme.lower() == "bearer" else None


def name_of(token: Token) -> str:
    return f"{API_CLIENT}{token.name}"


def caller(scope: Mapping[str, Any]) -> str | None:
    """Return the client's raw address: the last one in X-Forwarded-For that isn't a trusted proxy.

    Clients can forge those before it.
    """
    client = scope.get("client")
    headers = [value.decode("latin-1") for name, value in scope["headers"] if name == b"x-forwarded-for"]
    hops = [_without_port(hop) for line in headers for hop in line.split(",")]
    hops += [client[0]] if client and client[0] else []
    while len(hops) > 1 and is_within(hops[-1], settings.ENV.trusted_proxies):
        hops.pop()
    return hops[-1] if hops else None


def is_passed_on(scope: Mapping[str, Any]) -> bool:
    """Return whether a proxy forwarded the request, trusted or not."""
    return any(name in PASSED_ON for name, _ in scope["headers"])


def of(request: HttpRequest) -> str | None:
    """Return `client_of` for a Django request."""
    return client_of(_scope_of(request))


def _scope_of(request: HttpRequest) -> Mapping[str, Any]:
    client = request.META.get("REMOTE_ADDR")
    headers = [(name, request.META[key].encode("latin-1", "replace")) for name, key in KEYS if key in request.META]
    return {"client": (client, 0) if client else None, "headers": headers, "path": request.path}


def is_by_our_proxy(scope: Mapping[str, Any]) -> bool:
    client = scope.get("client")
    return client is not None and is_within(client[0], settings.ENV.trusted_proxies)


def may_read_figures(scope: Mapping[str, Any]) -> bool:
    """Return whether the client may read metrics and detailed health (INTENTS_METRICS).

    An untrusted proxy could be forwarding any client.
    """
    is_certain = not is_passed_on(scope) or is_by_our_proxy(scope)
    return is_certain and is_within(caller(scope) or "", settings.ENV.intents_metrics)


def runs_it(request: HttpRequest) -> bool:
    """Return `may_read_figures` for a Django request."""
    return may_read_figures(_scope_of(request))


def is_behind_unnamed_proxy(request: HttpRequest) -> bool:
    """Return whether a proxy missing from TRUSTED_PROXIES forwarded the request."""
    is_forwarded = "HTTP_X_FORWARDED_FOR" in request.META and bool(request.META.get("REMOTE_ADDR"))
    return is_forwarded and not is_by_our_proxy(_scope_of(request))


def is_within(address: str, networks: Sequence[Network]) -> bool:
    found = _parsed(address)
    return found is not None and any(found in network for network in networks)


def _without_port(hop: str) -> str:
    """Return the address of a hop, without the port, brackets and quotes that some proxies add."""
    hop = hop.strip().strip('"').strip()
    if hop.startswith("["):
        return hop[1:].partition("]")[0]
    host, _, port = hop.partition(":")
    return host if "." in host and ":" not in port else hop


def _parsed(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return the address. Dual-stack sockets report IPv4 addresses as mapped IPv6 addresses."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found


def _normalized(address: str) -> str:
    found = _parsed(address)
    if isinstance(found, ipaddress.IPv6Address):
        # One host with a 6to4 prefix has a /48 for each of its IPv4 addresses.
        return str(found.sixtofour or ipaddress.ip_network((found, SITE_BITS), strict=False))
    return UNREADABLE if found is None else str(found)


class Role(IntEnum):
    """What someone may do. Each may do all that those before it may."""

    ANYONE = 0
    VIEWER = 1  # is signed in, and sees what anyone sees
    SUPPORT = 2  # sees what the mirror knows with INTENTS_INSIGHT=staff, and reads in the console
    OPERATOR = 3  # writes in the console, and accepts quotes


@dataclass(frozen=True, slots=True)
class User:
    name: str
    role: Role


ANONYMOUS: Final = User("", Role.ANYONE)


def user_of(scope: Mapping[str, Any]) -> User:
    """Return the user of an ASGI request, or ANONYMOUS.

    Only the proxies in TRUSTED_PROXIES are trusted. A repeated header, or one that isn't plain text, is ignored.
    """
    header = settings.ENV.intents_user_header
    name = _header(scope, header) if header and is_by_our_proxy(scope) else ""
    if not name:
        return ANONYMOUS
    if not settings.ENV.intents_groups_header:
        return User(name, Role.SUPPORT)
    groups = {each.strip().lower() for each in _header(scope, settings.ENV.intents_groups_header).split(",")}
    if not groups.isdisjoint(settings.ENV.intents_operator_groups):
        return User(name, Role.OPERATOR)
    return User(name, Role.VIEWER if groups.isdisjoint(settings.ENV.intents_support_groups) else Role.SUPPORT)


def current_user(request: HttpRequest) -> User:
    """Return the user of a Django request. One that no ASGI server made is ANONYMOUS."""
    return user_of(getattr(request, "scope", {"client": None}))


def _header(scope: Mapping[str, Any], name: str) -> str:
    """Return the text of a header that is sent once, or an empty string."""
    wanted = name.lower().encode()
    sent = [value for key, value in scope["headers"] if key.lower() == wanted]
    if len(sent) != 1:
        return ""
    try:
        text = bytes(sent[0]).decode().strip(" ")
    except UnicodeDecodeError:
        return ""
    return text if text.isprintable() and len(text) <= LONGEST_HEADER else ""


def is_same_origin(request: HttpRequest) -> bool:
    """Return whether the request is same-origin, or sent by a client that isn't a browser.

    Browsers send Sec-Fetch-Site, except over plain HTTP to another machine. There the Origin or Referer counts, and a
    client that sends neither isn't a browser. If all hosts are allowed, only the request's own counts.
    """
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None:
        return site in FROM_OUR_PAGES
    source = source_url(request)
    found = ORIGIN.match(source)
    if not found:
        return not source
    domain, _ = split_domain_port(found[1])
    named = [name for name in settings.ALLOWED_HOSTS if name != "*"]
    return found[1] == request.get_host() or (bool(domain) and validate_host(domain, named))


def source_url(request: HttpRequest) -> str:
    """Return the page that sent the request, or its origin."""
    return request.headers.get("Origin") or request.headers.get("Referer") or ""


def root(request: HttpRequest) -> str:
    """Return the scheme and host of absolute links."""
    return f"{request.scheme}://{request.get_host()}"
