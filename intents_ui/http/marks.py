"""What the limits and the middleware need to know about a view, as marks on the view itself.

A mark is set by a decorator. It survives other decorators, in any order, because `functools.wraps` copies it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from django.conf import settings
from django.http import HttpRequest

from intents_ui.live.stream import PREFIX

type When = Literal["always", "never", "posted", "with query"]
type Body = Literal["body", "console", "triage"]

# Bytes. A ticket can have 64,000 characters, each as three escaped bytes. The largest is the limit of all requests.
BODY_SIZES: Mapping[Body, int] = {"body": 65_536, "console": 262_144, "triage": 655_360}
LARGEST_BODY: Final = max(BODY_SIZES.values())

# Paths that don't lead to Django's views, by their names in the access log.
OUTSIDE: Final = {"static": settings.STATIC_URL, "live": PREFIX, "rpc": "/rpc/"}


@dataclass(frozen=True)
class Marks:
    """Marks of one view, each with the decorator of its name."""

    costly: When = "never"
    body: Body = "body"
    is_whole: bool = False
    is_framed: bool = False

    def is_costly(self, request: HttpRequest) -> bool:
        return (
            self.costly == "always"
            or (self.costly == "posted" and request.method == "POST")
            or (self.costly == "with query" and bool(request.META.get("QUERY_STRING")))
        )


NONE: Final = Marks()


def is_partial(request: HttpRequest) -> bool:
    """Return whether htmx requests a part of the page. Every page varies by this header (`stale_notice`)."""
    return request.headers.get("HX-Request-Type") == "partial"


def costly[V: Callable[..., Any]](when: When = "always") -> Callable[[V], V]:
    """Mark a view that takes several calls to the service, or reads a list page by page, for the rate limit."""
    return lambda view: _marked(view, costly=when)


def body[V: Callable[..., Any]](size: Body) -> Callable[[V], V]:
    """Mark a view whose request bodies have this limit of `BODY_SIZES`."""
    return lambda view: _marked(view, body=size)


def whole[V: Callable[..., Any]](view: V) -> V:
    """Mark a fragment that contains all service data of its page."""
    return _marked(view, is_whole=True)


def framed[V: Callable[..., Any]](view: V) -> V:
    """Mark a page for frames of other sites. It has no page frame of ours."""
    return _marked(view, is_framed=True)


def of_view(view: Callable[..., Any]) -> Marks:
    marks: Marks = getattr(view, "marks", NONE)
    return marks


def outside(path: str) -> str | None:
    """Return the name of what answers a path instead of Django's views, or None."""
    return next((name for name, start in OUTSIDE.items() if path.startswith(start)), None)


def _marked[V: Callable[..., Any]](view: V, **marks: Any) -> V:
    view.marks = replace(of_view(view), **marks)  # type: ignore[attr-defined]  # as Django's `csrf_exempt` does
    return view
