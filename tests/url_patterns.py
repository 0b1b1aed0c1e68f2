"""The dashboard's URL patterns, as whole routes."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from django.http import HttpResponseBase
from django.urls import URLPattern, URLResolver

from intents_ui.urls import urlpatterns


@dataclass(frozen=True)
class Route:
    pattern: str
    name: str | None
    callback: Callable[..., HttpResponseBase]
    lookup_str: str

    def __str__(self) -> str:
        """Return the pattern, which names a test case."""
        return self.pattern


def url_patterns() -> list[Route]:
    return list(whole(urlpatterns))


def whole(patterns: Sequence[URLPattern | URLResolver], start: str = "") -> Iterator[Route]:
    for each in patterns:
        route = f"{start}{each.pattern}"
        if isinstance(each, URLResolver):
            yield from whole(each.url_patterns, route)
        else:
            yield Route(route, each.name, each.callback, each.lookup_str)
