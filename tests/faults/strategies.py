"""Hypothesis strategies for requests that no browser sends: URLs of the site map with valid and invalid values."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
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

TABLE: Mapping[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_text())
# Values that are valid in some URL, and so pass the first check.
FITTING = (
    OWNER, OWNER.upper(), USDC, NOTHING, NOTHING[2:], "0x" + "0" * 40, "0x" + "0" * 64, str(2**64 - 1),
    "http://testserver/intent/" + NOTHING, *IntentStatus, *OPERATIONS, *TABLE["fitting"],
)  # fmt: skip
ODD = (
    "9" * 40,
    *("0x" + "1" * digits for digits in (39, 63, 65)),
    *("a" * n for n in (101, 201, 10_001)),
    *TABLE["odd"],
)
LONG: Mapping[str, str] = {"HX-Target": "x" * 4000, "Accept": "*/*," * 2000, "Cookie": "a=" + "b" * 4000,
                           "X-Forwarded-For": "," * 100}  # fmt: skip
HEADERS = {name: (*values, *filter(None, [LONG.get(name)])) for name, values in TABLE["headers"].items()}
CONTENT_TYPES = (*TABLE["content_types"], "multipart/form-data; boundary=" + "x" * 300)
METHODS = ("GET", "GET", "GET", "GET", "HEAD", "POST", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "FOO")


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
    return st.builds(
        "{}{}".format, st.one_of(of_site_map, of_site_map, of_site_map, elsewhere), st.sampled_from(TABLE["ends"])
    )


def filled(route: Route) -> st.SearchStrategy[str]:
    values = {
        name: st.sampled_from(("csv", "json", "ndjson")) if name == "kind" else words().map(partial(quote, safe=":"))
        for name in PARAMETER.findall(route.pattern)
    }
    return st.fixed_dictionaries(values).map(lambda given: route.path(**given))


def fields() -> st.SearchStrategy[list[tuple[str, str]]]:
    return st.lists(st.tuples(st.one_of(st.sampled_from(TABLE["names"]), words()), words()), max_size=6)


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
