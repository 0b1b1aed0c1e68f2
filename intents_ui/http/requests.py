"""A request before a thread is taken: checks of its host, headers and query."""

from functools import cache
from urllib.parse import urlsplit

from django.conf import settings
from django.http.request import split_domain_port, validate_host
from django.utils.http import parse_header_parameters

from intents_ui.http.failures import of_dashboard
from intents_ui.http.messages import Message
from intents_ui.http.pages import Refused

HEADERS_SIZE = 16_384  # bytes
CHARSETS = ("utf-8", "utf8", "us-ascii", "ascii")


def is_for_us(scope: Message) -> bool:
    """Return whether the request has exactly one Host and it is allowed.

    DNS rebinding must not reach `/rpc/` either.
    """
    domain = host_of(scope)
    return bool(domain) and validate_host(domain, settings.ALLOWED_HOSTS)


def host_of(scope: Message) -> str:
    hosts = [bytes(value).decode("latin-1") for name, value in scope["headers"] if name == b"host"]
    domain, _ = split_domain_port(hosts[0]) if len(hosts) == 1 else ("", "")
    return domain


def check_headers(scope: Message) -> None:
    if sum(len(name) + len(value) + 4 for name, value in scope["headers"]) > HEADERS_SIZE:
        raise Refused(of_dashboard("headers too large"))
    for name, value in scope["headers"]:
        # Django would decode the URL with it, too, and fails to create a request at all for `zlib`.
        if name == b"content-type" and charset_of(value).lower() not in CHARSETS:
            raise Refused(of_dashboard("no UTF-8"))


def charset_of(content_type: bytes) -> str:
    try:
        return parse_header_parameters(content_type.decode("latin-1"))[1].get("charset", "utf-8")
    except ValueError:
        return "unreadable"


def normalize_scope(scope: Message) -> Message:
    """Return the scope with an ASCII query, without headers that could be mistaken for others, and with a known port.

    `X_Forwarded_For` and `X-Forwarded-For` share one key in WSGI. An unknown port in Host is removed from GET and HEAD
    requests, because it would appear in shared links.
    """
    is_read = scope["method"] in ("GET", "HEAD")
    query = bytes(scope["query_string"])
    return {
        **scope,
        "query_string": query if query.isascii() else b"".join(escaped(byte) for byte in query),
        "headers": [
            (name, with_known_port(value) if is_read and name == b"host" else value)
            for name, value in scope["headers"]
            if b"_" not in name
        ],
    }


def with_known_port(host: bytes) -> bytes:
    """Return the host without a port that isn't configured. Loopback hosts keep theirs, which may be forwarded."""
    domain, port = split_domain_port(host.decode("latin-1"))
    known = not port or domain in settings.LOOPBACK_HOSTS or port in known_ports()
    return host if known else domain.encode("latin-1")


@cache
def known_ports() -> frozenset[str]:
    origins = (urlsplit(origin).port for origin in settings.CSRF_TRUSTED_ORIGINS)
    return frozenset(str(port) for port in (80, 443, settings.ENV.port, *origins) if port)


def escaped(byte: int) -> bytes:
    return bytes([byte]) if byte < 0x80 else b"%%%02X" % byte
