"""What a visitor may ask of this dashboard: how large, how often, how much at a time. Nothing here asks the service.

What is too large is seen at the front door (`asgi.py`), which hands the reason on in the request's scope, so that it is
told by a page of ours. How often somebody asks is counted by his address once a page of ours would answer: static
files, `/healthz` and this machine itself are not counted. More requests at a time than may be are answered at the door,
with a page that was made before, and take no thread.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from typing import Any

from django.http import HttpRequest, HttpResponse

from intents_ui import visitors
from intents_ui.display.failures import NOT_AGAIN
from intents_ui.pages import failures
from intents_ui.pages.failures import Failure
from intents_ui.settings import ENV
from intents_ui.spending import Limit, spend, spend_here

log = logging.getLogger(__name__)

REFUSED = "intents_ui.refused"  # in a request's scope
# A browser that opens a page asks for its parts too, and an office opens several at a time.
BURST_SECONDS = 8
MINUTE = 60
BUSY_SECONDS = 2
START_AGAIN = "Go back, or start again from the search box."


def limits(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    def answer(request: HttpRequest) -> HttpResponse:
        refused = refusal(request)
        return failures.page(request, refused) if refused else get_response(request)

    return answer


def refusal(request: HttpRequest) -> Failure | None:
    """Why this is not answered; None: it is. Counts it."""
    scope: Mapping[str, Any] = getattr(request, "scope", None) or request.META.get("asgi.scope") or {}
    if REFUSED in scope:
        found: Failure = scope[REFUSED]
        return found
    visitor = visitors.of(request)
    if visitors.is_behind_unnamed_proxy(request):
        warn_once(str(request.META.get("REMOTE_ADDR")))
    if not is_counted(visitor):
        return None
    if wait := spend(pages(), visitor):
        most = ENV.intents_pages_per_address
        return too_many(f"{most} {'page' if most == 1 else 'pages'} a second", wait)
    if is_costly(request) and (wait := spend(searches(), visitor)):
        return too_many(f"{ENV.intents_searches_per_address} searches, tickets and exports a minute", wait)
    return None


def is_counted(visitor: str | None) -> bool:
    """Whoever comes by no address could only be counted together with everybody."""
    return visitor is not None and not visitors.is_this_machine(visitor)


def pages() -> Limit:
    return Limit("pages", BURST_SECONDS * ENV.intents_pages_per_address, BURST_SECONDS)


def searches() -> Limit:
    return Limit("searches", ENV.intents_searches_per_address, MINUTE)


def is_costly(request: HttpRequest) -> bool:
    """Whether it asks the service several questions, or page after page."""
    path = request.path
    if path == "/search":
        return bool(request.META.get("QUERY_STRING"))
    if path == "/triage":
        return request.method == "POST"
    return path.startswith("/tx/") or (path.startswith("/export/") and not path.startswith("/export/progress/"))


def wait_to_stream(visitor: str | None) -> int:
    """Seconds after which this visitor may open a stream: 0, now. Nothing is asked of Redis: all streams would wait."""
    return spend_here(pages(), visitor) if is_counted(visitor) else 0


@cache
def warn_once(peer: str) -> None:
    log.warning(
        "%s passes visitors on (X-Forwarded-For), and TRUSTED_PROXIES does not name it: they are not told apart", peer
    )


OTHER_CHARSET = Failure(
    HTTPStatus.BAD_REQUEST,
    "This request could not be read",
    "It is written in another character set than UTF-8.",
    START_AGAIN,
)


def too_many(most: str, wait: int) -> Failure:
    return Failure(
        HTTPStatus.TOO_MANY_REQUESTS,
        "Too much was asked from your address",
        f"For one address this dashboard answers {most} on average, and more came from yours. Nothing was asked of the"
        " service. It says nothing about any transfer.",
        f"Try again in {wait} {'second' if wait == 1 else 'seconds'}. {NOT_AGAIN} If many people share your address,"
        " whoever runs this dashboard can raise the limit.",
        retry_after=wait,
    )


def too_large(most: int) -> Failure:
    return Failure(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        "That is more than can be taken at once",
        f"What was sent is larger than {most // 1024:,} KB. It was not read, and nothing was asked of the service.",
        "Go back, and send it in parts.",
    )


HEADERS_TOO_LARGE = Failure(
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
    "Your browser sent too much with this request",
    "What it adds to each request (its headers, cookies above all) is larger than this dashboard takes.",
    "Clear the cookies of this site, and try again.",
)
TOO_SLOW = Failure(
    HTTPStatus.REQUEST_TIMEOUT,
    "The request did not arrive in time",
    "Its end is missing, so nothing of it was read, and nothing was asked of the service.",
    "Try again. If it stays, your connection may be slow: send less at once.",
)
CUT_OFF = Failure(
    HTTPStatus.BAD_REQUEST,
    "This request ended before it was complete",
    "Its end is missing, so nothing of it was read, and nothing was asked of the service.",
    "Try again.",
)
BUSY = Failure(
    HTTPStatus.SERVICE_UNAVAILABLE,
    "This dashboard is busy",
    "So many readers ask at this moment that this question was not taken. It says nothing about any transfer.",
    f"Try again in a few seconds. {NOT_AGAIN}",
    retry_after=BUSY_SECONDS,
)


@dataclass
class Gate:
    """Requests that are answered at a time. `most` of them may come in; what is quick, up to twice as many."""

    most: int
    inside: int = 0

    def is_full(self, *, is_quick: bool = False) -> bool:
        return self.inside >= (2 * self.most if is_quick else self.most)


class Place:
    """Of one request; left once, however often that is said."""

    def __init__(self, gate: Gate) -> None:
        self._gate: Gate | None = gate
        gate.inside += 1

    def leave(self) -> None:
        if self._gate:
            self._gate.inside -= 1
            self._gate = None
