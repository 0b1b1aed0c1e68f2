"""What the limits and the middleware need to know about a view, as marks on the view itself.

They survive other decorators, in any order, because `functools.wraps` copies them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
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
    """Marks of one view, as its decorator.

    `costly`: when it takes several calls to the service, or reads a list page by page, for the rate limit. `body`: the
    limit of its bodies. `is_whole`: it is a fragment that contains all service data of its page. `is_framed`: it is a
    page for frames of other sites, without our page frame.
    """

    costly: When = "never"
    body: Body = "body"
    is_whole: bool = False
    is_framed: bool = False

    def __call__[V: Callable[..., Any]](self, view: V) -> V:
        view.marks = self  # type: ignore[attr-defined]  # as Django's `csrf_exempt` does
        return view

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


def of_view(view: Callable[..., Any]) -> Marks:
    marks: Marks = getattr(view, "marks", NONE)
    return marks


def outside(path: str) -> str | None:
    """Return the name of what answers a path instead of Django's views, or None."""
    return next((name for name, start in OUTSIDE.items() if path.startswith(start)), None)
