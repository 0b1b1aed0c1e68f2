"""Limits on incoming requests: size, rate and concurrency. Nothing here sends a request to the service.

The API and MCP exist unless INTENTS_API is `off`.

`asgi.py` detects requests that are too large and passes the reason to Django in the request's scope, so that a page can
explain it. Rates are counted per client address, for pages only: not for static files, `/healthz` or this machine.
Requests with a token of the API count for the token instead. The API's answers say what is left. Requests beyond the
concurrency limits get a prerendered page without taking a thread.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse

from intents_ui import api, mcp, wiring
from intents_ui.api import tokens
from intents_ui.api.tokens import Token
from intents_ui.display.failures import MESSAGES, NOT_AGAIN, THOSE_GO_ON
from intents_ui.middleware import failures, marks
from intents_ui.middleware.failures import Failure
from intents_ui.service.context.shares import Lack, Shares
from intents_ui.settings import ENV
from intents_ui.web import client_ip
from intents_ui.web.rate_limiter import Limit, Quota, spend_here, take

log = logging.getLogger(__name__)

REFUSED = "intents_ui.refused"  # key in a request's scope
# Opening a page also requests its parts, and users in one office open several at a time.
BURST_SECONDS = 8
MINUTE = 60
BUSY_SECONDS = 2
UNTRUSTED_PROXY = "%s sends X-Forwarded-For but is not in TRUSTED_PROXIES; its clients share one rate limit"
START_AGAIN = "Go back, or start again from the search box."


def access(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    def answer(request: HttpRequest) -> HttpResponse:
        if ENV.intents_api == "off" and (is_for_programs(request) or request.path.startswith(api.PATHS)):
            return failures.not_found(request, Http404())
        return get_response(request)

    return answer


def is_for_programs(request: HttpRequest) -> bool:
    """Whether it is an operation of the API, or MCP."""
    return request.path.startswith(api.OPERATIONS) or request.path == mcp.PATH


def token_of(request: HttpRequest) -> Token | None:
    """Return the token that a request was sent with. An unknown one is that of a proxy for single sign-on."""
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    is_sent = scheme.lower() == "bearer" and is_for_programs(request)
    return tokens.find(ENV.api_tokens, given.strip()) if is_sent else None


def limits(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    def answer(request: HttpRequest) -> HttpResponse:
        found: list[Quota] = []
        request.quotas = found  # type: ignore[attr-defined]  # as Django's middleware adds `user`
        refused = refusal(request, found)
        return failures.page(request, refused) if refused else get_response(request)

    return answer


def quotas(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Say in the API's answers what is left, in the fields of draft-ietf-httpapi-ratelimit-headers-11."""

    def answer(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        found: Sequence[Quota] = getattr(request, "quotas", ())
        if found and request.path.startswith(api.PATHS):
            limits = [each.limit for each in found]
            response["RateLimit-Policy"] = ", ".join(f'"{each.name}";q={each.most};w={each.seconds}' for each in limits)
            response["RateLimit"] = ", ".join(f'"{each.limit.name}";r={each.left};t={each.reset}' for each in found)
        return response

    return answer


def refusal(request: HttpRequest, quotas: list[Quota]) -> Failure | None:
    """Return the reason to reject the request, or None. Counts the request, and adds what it left to `quotas`."""
    scope: Mapping[str, Any] = getattr(request, "scope", None) or request.META.get("asgi.scope") or {}
    if REFUSED in scope:
        found: Failure = scope[REFUSED]
        return found
    if token := token_of(request):
        quotas.append(take(Limit("token", token.limit, MINUTE), token.name))
        return too_many_of_token(token, quotas[-1].wait) if quotas[-1].wait else None
    visitor = client_ip.of(request)
    if client_ip.is_behind_unnamed_proxy(request):
        log.warning(UNTRUSTED_PROXY, request.META.get("REMOTE_ADDR"), extra={"once": True})
    if visitor is None:
        return None
    quotas.append(take(pages(), visitor))
    if wait := quotas[-1].wait:
        return too_many_pages(wait)
    if not marks.of_path(request.path_info).is_costly(str(request.method), request.META.get("QUERY_STRING", "")):
        return None
    quotas.append(take(searches(), visitor))
    return too_many_searches(quotas[-1].wait) if quotas[-1].wait else None


def pages() -> Limit:
    return Limit("pages", BURST_SECONDS * ENV.intents_rate_pages, BURST_SECONDS)


def searches() -> Limit:
    return Limit("searches", ENV.intents_rate_searches, MINUTE)


def wait_to_stream(visitor: str | None) -> int:
    """Return the seconds until the visitor may open a stream, 0 for now. Skips Redis, which would delay all streams."""
    return 0 if visitor is None else spend_here(pages(), visitor)


def wait_to_send(visitor: str | None) -> int:
    """Return the seconds until the visitor may send a body, 0 for now. Called before any of it is read."""
    most = pages()
    return 0 if visitor is None else spend_here(Limit("bodies", most.most, most.seconds), visitor)


OTHER_CHARSET = Failure(
    HTTPStatus.BAD_REQUEST,
    "Invalid request",
    "The request is not UTF-8.",
    START_AGAIN,
)


def too_many_pages(wait: int) -> Failure:
    most = ENV.intents_rate_pages
    return too_many(f"{most} {'page' if most == 1 else 'pages'} a second", wait)


def too_many_searches(wait: int) -> Failure:
    most = ENV.intents_rate_searches
    return too_many(
        f"{most} {'search, ticket, or export' if most == 1 else 'searches, tickets, and exports'} a minute", wait
    )


def too_many_of_token(token: Token, wait: int) -> Failure:
    return Failure(
        HTTPStatus.TOO_MANY_REQUESTS,
        "Too many requests",
        f"The limit of this token is {token.limit} a minute on average.",
        f"Try again in {wait} {'second' if wait == 1 else 'seconds'}, or ask your administrator to raise the limit.",
        retry_after=wait,
    )


def too_many(most: str, wait: int) -> Failure:
    return Failure(
        HTTPStatus.TOO_MANY_REQUESTS,
        "Too many requests",
        f"The limit for one IP address is {most} on average. {THOSE_GO_ON}",
        f"Try again in {wait} {'second' if wait == 1 else 'seconds'}. {NOT_AGAIN} If you share an IP"
        " address, ask your administrator to raise the limit.",
        retry_after=wait,
    )


def too_large(most: int) -> Failure:
    return Failure(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        "Request too large",
        f"The request is larger than {most // 1024:,} KB, so it was rejected.",
        "Go back and send it in parts.",
    )


HEADERS_TOO_LARGE = Failure(
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
    "Request headers too large",
    "The headers that your browser sends, usually cookies, exceed the limit.",
    "Clear this site's cookies and try again.",
)
TOO_SLOW = Failure(
    HTTPStatus.REQUEST_TIMEOUT,
    "Request timed out",
    "The request did not arrive in time, so it was rejected.",
    "Try again. If it keeps happening, your connection may be slow. Send less at once.",
)
CUT_OFF = Failure(
    HTTPStatus.BAD_REQUEST,
    "Incomplete request",
    "The connection closed before the whole request arrived, so it was rejected.",
    "Try again.",
)
_BUSY, _SHARE = MESSAGES["Overloaded"], MESSAGES["BeyondShare"]
BUSY = Failure(
    HTTPStatus.SERVICE_UNAVAILABLE,
    _BUSY.title,
    f"{_BUSY.what} {THOSE_GO_ON}",
    _BUSY.todo,
    retry_after=BUSY_SECONDS,
)
BEYOND_SHARE = Failure(HTTPStatus.TOO_MANY_REQUESTS, _SHARE.title, _SHARE.what, _SHARE.todo, retry_after=BUSY_SECONDS)
LACKS = {Lack.FULL: BUSY, Lack.SHARE: BEYOND_SHARE}


class ConcurrencyLimiter:
    """Concurrency limiter for requests: `most` at a time, a quarter of them per client address."""

    def __init__(self, most: int) -> None:
        self._shares = Shares(most)

    @property
    def inside(self) -> int:
        return self._shares.held

    def enter(self, visitor: str | None) -> "RequestSlot | Failure":
        lack = self._shares.take(visitor)
        return LACKS[lack] if lack else RequestSlot(self._shares, visitor)


class RequestSlot:
    """Slot of one request. Leaving it twice is harmless."""

    def __init__(self, shares: Shares, visitor: str | None) -> None:
        self._shares: Shares | None = shares
        self._visitor = visitor

    def leave(self) -> None:
        shares, self._shares = self._shares, None
        if shares:
            shares.give_back(self._visitor)


@wiring.once
def body_budget() -> Shares:
    """Return the bytes of all request bodies being read: four of the largest, one of them per client address."""
    return Shares(32 * 1024 * 1024)


class Room:
    """One request's share of the bytes."""

    def __init__(self, visitor: str | None) -> None:
        self._visitor = visitor
        self._taken = 0

    def take(self, size: int) -> Failure | None:
        """Take `size` more bytes. Returns the reason if they aren't available."""
        if lack := body_budget().take(self._visitor, size):
            return LACKS[lack]
        self._taken += size
        return None

    def leave(self) -> None:
        body_budget().give_back(self._visitor, self._taken)
        self._taken = 0
