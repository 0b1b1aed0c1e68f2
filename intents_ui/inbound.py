"""What a visitor may ask of this dashboard: how large, how often, how much at a time. Nothing here asks the service.

What is too large is seen at the front door (`asgi.py`), which hands the reason on in the request's scope, so that it is
told by a page of ours. How often somebody asks is counted by his address once a page of ours would answer: static
files, `/healthz` and this machine itself are not counted. More requests at a time than may be, or than one address may
have, are answered at the door, with a page that was made before, and take no thread.
"""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from functools import cache
from http import HTTPStatus
from typing import Any

from cachetools import TTLCache
from django.http import HttpRequest, HttpResponse

from intents_ui import visitors
from intents_ui.display import failures as words
from intents_ui.display.failures import NOT_AGAIN
from intents_ui.pages import failures
from intents_ui.pages.failures import Failure
from intents_ui.service.shares import Lack, Shares
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
    if not visitors.is_counted(visitor):
        return None
    if wait := spend(pages(), visitor):
        failure = too_many_pages(wait)
        remember_refusal(visitor, failure, seconds=wait, is_costly=False)
        return failure
    costs = is_costly(request.method, request.path, request.META.get("QUERY_STRING"))
    if costs and (wait := spend(searches(), visitor)):
        failure = too_many_searches(wait)
        remember_refusal(visitor, failure, seconds=wait, is_costly=True)
        return failure
    return None


def pages() -> Limit:
    return Limit("pages", BURST_SECONDS * ENV.intents_pages_per_address, BURST_SECONDS)


def searches() -> Limit:
    return Limit("searches", ENV.intents_searches_per_address, MINUTE)


def is_costly(method: str | None, path: str, query: str | bytes | None) -> bool:
    """Whether it asks the service several questions, or page after page."""
    if path == "/search":
        return bool(query)
    if path == "/triage":
        return method == "POST"
    return path.startswith("/tx/") or (path.startswith("/export/") and not path.startswith("/export/progress/"))


def wait_to_stream(visitor: str | None) -> int:
    """Seconds after which this visitor may open a stream: 0, now. Nothing is asked of Redis: all streams would wait."""
    return spend_here(pages(), visitor) if visitors.is_counted(visitor) else 0


# Refusals by visitor and by whether they cover costly pages alone, each with the time at which it ends. Bounded: for a
# visitor who was evicted, the refusal is rendered again.
_told_to_wait: TTLCache[tuple[str | None, bool], tuple[float, Failure]] = TTLCache(maxsize=10_000, ttl=MINUTE)
_telling = threading.Lock()


def remember_refusal(visitor: str | None, failure: Failure, *, seconds: int, is_costly: bool) -> None:
    with _telling:
        _told_to_wait[visitor, is_costly] = (time.monotonic() + seconds, failure)


def told_to_wait(visitor: str | None, *, is_costly: bool) -> Failure | None:
    """What this visitor was told, while it holds: to tell it again at the door costs no page."""
    if visitor is None:
        return None
    now = time.monotonic()
    with _telling:
        told = [_told_to_wait.get((visitor, kind), (0.0, None)) for kind in {False, is_costly}]
    return next((failure for until, failure in told if now < until), None)


def wait_to_send(visitor: str | None) -> int:
    """Seconds after which this visitor may send a body: 0, now. Nothing of it has been read by then."""
    most = pages()
    return spend_here(Limit("bodies", most.most, most.seconds), visitor) if visitors.is_counted(visitor) else 0


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


def too_many_pages(wait: int) -> Failure:
    most = ENV.intents_pages_per_address
    return too_many(f"{most} {'page' if most == 1 else 'pages'} a second", wait)


def too_many_searches(wait: int) -> Failure:
    most = ENV.intents_searches_per_address
    return too_many(
        f"{most} {'search, ticket, or export' if most == 1 else 'searches, tickets, and exports'} a minute", wait
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


BEYOND_SHARE = Failure(
    HTTPStatus.TOO_MANY_REQUESTS,
    words.BEYOND_SHARE.title,
    words.BEYOND_SHARE.what,
    words.BEYOND_SHARE.todo,
    retry_after=BUSY_SECONDS,
)
LACKS = {Lack.FULL: BUSY, Lack.SHARE: BEYOND_SHARE}


class Gate:
    """Requests that are answered at a time: `most` of them, a quarter of these from one address."""

    def __init__(self, most: int) -> None:
        self._shares = Shares(most)

    @property
    def inside(self) -> int:
        return self._shares.held

    def enter(self, visitor: str | None) -> "Place | Failure":
        lack = self._shares.take(visitor)
        return LACKS[lack] if lack else Place(self._shares, visitor)


class Place:
    """Of one request; left once, however often that is said."""

    def __init__(self, shares: Shares, visitor: str | None) -> None:
        self._shares: Shares | None = shares
        self._visitor = visitor

    def leave(self) -> None:
        shares, self._shares = self._shares, None
        if shares:
            shares.give_back(self._visitor)


# Bytes of all bodies while they are read; room for four of the longest at least, one of them by one address.
bodies = Shares(max(32 * 1024 * 1024, 4 * max(ENV.intents_request_sizes.values())))


class Room:
    """What the body of one request takes of it."""

    def __init__(self, visitor: str | None) -> None:
        self._visitor = visitor
        self._taken = 0

    def take(self, size: int) -> Failure | None:
        """Return why so many bytes more are not taken."""
        if lack := bodies.take(self._visitor, size):
            return LACKS[lack]
        self._taken += size
        return None

    def leave(self) -> None:
        bodies.give_back(self._visitor, self._taken)
        self._taken = 0
