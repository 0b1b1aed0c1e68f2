"""The dashboard's URL patterns, as whole routes."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from django.http import HttpResponseBase
from django.urls import URLPattern, URLResolver

from intents_ui.urls import urlpatterns

PARAMETER: Final = re.compile(r"<(?:\w+:)?(\w+)>")
VALUES: Final = {
    "intent_id": "0x" + "12" * 32, "transaction_hash": "0x" + "12" * 32, "address": "0x" + "ab" * 20,
    "chain_id": "8453", "operation": "GetChains", "status": "FAILED", "kind": "csv", "run": "a" * 22, "name": "RELAY",
    "number": "1", "used": "RELAY", "providers": "RELAY", "origin": "8453", "destination": "42161",
}  # fmt: skip


@dataclass(frozen=True)
class Route:
    pattern: str
    name: str | None
    callback: Callable[..., HttpResponseBase]
    lookup_str: str

    def __str__(self) -> str:
        """Return the pattern, which names a test case."""
        return self.pattern

    def path(self, **values: str) -> str:
        """Return a URL of the pattern, with a value of VALUES for each that isn't given."""
        return "/" + PARAMETER.sub(lambda place: (VALUES | values)[place[1]], self.pattern)


def url_patterns() -> list[Route]:
    return list(whole(urlpatterns))


def whole(patterns: Sequence[URLPattern | URLResolver], start: str = "") -> Iterator[Route]:
    for each in patterns:
        route = f"{start}{each.pattern}"
        if isinstance(each, URLResolver):
            yield from whole(each.url_patterns, route)
        else:
            yield Route(route, each.name, each.callback, each.lookup_str)
