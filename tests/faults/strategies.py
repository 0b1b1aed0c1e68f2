"""Hypothesis strategies for requests that no browser sends: URLs of the site map with valid and invalid values.

@given(asked=strategies.requests())
def test_nothing_that_is_asked_breaks_a_page(client, asked):
    answer = asked.send(client)
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import quote, urlencode

from django.test import Client
from hypothesis import strategies as st

from intents_ui.emulator import names
from intents_ui.emulator.names import Role
from intents_ui.service.console import OPERATIONS
from intents_ui.service.models import IntentStatus
from tests.faults.site import NOTHING, USDC
from tests.url_patterns import PARAMETER, Route, url_patterns

OWNER = names.address_of(Role.OWNER, 0)

# Values that are valid in some URL, and so pass the first check.
FITTING = (
    OWNER, OWNER.upper(), USDC, NOTHING, NOTHING[2:], "0x" + "0" * 40, "0x" + "0" * 64, "intent_7",
    "So11111111111111111111111111111111111111112", "1", "8453", "424242", str(2**64 - 1), "20", "0", "csv", "json",
    "DESC", "ASC", "createdAt", "id", "in-flight", "on", "all", "featured", "external", "UTC", "Europe/Berlin",
    "2026-11-21T14:03", "1763726580", "Wormhole", "RELAY", "USDC", "xml", "http://testserver/intent/" + NOTHING,
    *IntentStatus, *OPERATIONS,
)  # fmt: skip
ODD = (
    "", " ", "-1", "1.5", "1e3", "1_000", "\uff10", "\u0663", "0x1", "9" * 40, "NaN", "true", "null", "[]", "{}",
    "{", '{"a":', "0x" + "1" * 39, "0x" + "1" * 63, "0x" + "1" * 65, "0xZZ", "..", ".", "../../etc/passwd",
    "..\\..", "a/b", "//evil.example", "/\\evil.example", "https://evil.example", "javascript:alert(1)",
    "data:text/html,x", ";jsessionid=1", "\x00", "a\x00b", "\r\nSet-Cookie: a=b", "\u202e", "\u200b", "\ufeff",
    "\U000e0041", "é", "e\u0301", "Ω", "👩‍👩‍👧", "\uff05", "+", "%", "%zz", "%2500", "a" * 101, "a" * 201,
    "a" * 10_001, "' OR 1=1 --", "{{7*7}}", "{% include 'x' %}", "${jndi:x}", "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(1)>", "=HYPERLINK(1)", "@import", "2026-02-30", "0000-01-01", "99999-01-01",
    "+999999", "2026-03-29T02:30", "2026-11-21T14:03:00.123456789Z", "1e400",
)  # fmt: skip
NAMES = (
    "q", "cursor", "status", "owner", "project", "origin", "destination", "from", "to", "from_at", "to_at", "zone",
    "balances", "recoverable", "min", "group", "sort", "order", "size", "chain", "show", "without", "limit",
    "after", "token", "for", "token_typed", "for_typed", "intent", "transaction", "deposit", "text", "provider", "top",
    "at", "kind", "looks", "run", "tx", "seen", "url", "format", "maxwidth", "maxheight", "ask", "json", "confirmed",
    "take", "intentId", "chainIds", "form", "operator-token", "remember", "next",
)  # fmt: skip
HEADERS: Mapping[str, tuple[str, ...]] = {
    "HX-Request": ("true", "false"),
    "HX-Request-Type": ("partial", "full", "other"),
    "HX-Target": ("div#list", "<script>", "x" * 4000),
    "HX-Current-URL": ("http://evil.example/", "http://[::1"),
    "Accept": ("*/*;q=;,", "text/event-stream", "*/*," * 2000),
    "Accept-Encoding": ("br;q=x", "identity;q=0"),
    "Cookie": ("a", "operator=x; csrftoken=<b>", "csrftoken=" + "é" * 10, "a=" + "b" * 4000),
    "Range": ("bytes=5-1", "bytes=0-" + "9" * 40),
    "If-None-Match": ("*", "W/"),
    "If-Modified-Since": ("yesterday", "Fri, 31 Feb 9999 99:99:99 GMT"),
    "Referer": ("http://evil.example/", "http://["),
    "Origin": ("null", "http://evil.example"),
    "Sec-Fetch-Site": ("cross-site", "x"),
    "X-Forwarded-For": ("203.0.113.9, x", "," * 100),
    "X-Forwarded-Proto": ("https", "gopher"),
    "User-Agent": ("\u00ff" * 5, ""),
    "Content-Encoding": ("gzip", "x"),
}
CONTENT_TYPES = (
    "application/x-www-form-urlencoded",
    "application/x-www-form-urlencoded; charset=utf-8",  # others are rejected before Django
    "multipart/form-data",
    "multipart/form-data; boundary=x",
    "multipart/form-data; boundary=" + "x" * 300,
    "application/json",
    "text/plain",
    "",
    "\u00ff/;",
)
METHODS = ("GET", "GET", "GET", "GET", "HEAD", "POST", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "FOO")
ENDS = ("", "", "", "", "", "", "/", "//", "/x.css", ";jsessionid=1", "%00", "%2f", "%E2%80%AE", "%ff", "/.", "?", "#")


@dataclass(frozen=True)
class Asked:
    """A request. `path` and `query` are already escaped."""

    method: str
    path: str
    query: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    content_type: str = ""

    def send(self, client: Client) -> Any:
        """Return the response to Django's test client."""
        sent = {"headers": dict(self.headers), "QUERY_STRING": self.query}
        return client.generic(self.method, self.path, self.body, self.content_type, **sent)


def words() -> st.SearchStrategy[str]:
    """Values of a path, query or form, mostly valid-looking ones."""
    characters = st.characters(exclude_categories=("Cs",))
    return st.one_of(
        st.sampled_from(FITTING),
        st.sampled_from(ODD),
        st.text(characters, max_size=120),
        st.builds("".join, st.lists(st.sampled_from((*FITTING, *ODD)), min_size=2, max_size=3)).map(lambda w: w[:300]),
    )


def paths() -> st.SearchStrategy[str]:
    """All URLs of the site map with any values, and some unknown ones."""
    of_site_map = st.sampled_from(url_patterns()).flatmap(filled)
    elsewhere = words().map(lambda word: "/" + quote(word, safe="/"))
    return st.builds("{}{}".format, st.one_of(of_site_map, of_site_map, of_site_map, elsewhere), st.sampled_from(ENDS))


def filled(route: Route) -> st.SearchStrategy[str]:
    values = {
        name: st.sampled_from(("csv", "json", "ndjson")) if name == "kind" else words().map(partial(quote, safe=":"))
        for name in PARAMETER.findall(route.pattern)
    }
    return st.fixed_dictionaries(values).map(lambda given: route.path(**given))


def fields() -> st.SearchStrategy[list[tuple[str, str]]]:
    return st.lists(st.tuples(st.one_of(st.sampled_from(NAMES), words()), words()), max_size=6)


def queries() -> st.SearchStrategy[str]:
    """Queries, mostly well-formed."""
    return st.one_of(
        fields().map(urlencode), fields().map(urlencode), st.sampled_from(("&&&", "=", "a=%", "%00=%ff", "a;b"))
    )


def headers() -> st.SearchStrategy[dict[str, str]]:
    return st.lists(st.sampled_from(sorted(HEADERS)), max_size=4, unique=True).flatmap(
        lambda chosen: st.fixed_dictionaries({name: st.sampled_from(HEADERS[name]) for name in chosen})
    )


def bodies() -> st.SearchStrategy[bytes]:
    return st.one_of(
        fields().map(lambda pairs: urlencode(pairs).encode()), words().map(str.encode), st.binary(max_size=200)
    )


def requests() -> st.SearchStrategy[Asked]:
    return st.builds(
        Asked,
        method=st.sampled_from(METHODS),
        path=paths(),
        query=queries(),
        headers=headers(),
        body=bodies(),
        content_type=st.sampled_from(CONTENT_TYPES),
    )
