"""Limits on incoming requests: size, rate and concurrency. Nothing here sends a request to the service.

The API and MCP exist unless INTENTS_API is `off`.

`asgi.py` rejects requests that are too large or beyond the concurrency limits, without a thread. Rates are counted per
client, in units of calls to the service: not for static files, `/healthz` or this machine. The API's answers say what
is left.
"""

import logging
from collections.abc import Callable
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse

from intents_ui import api, app
from intents_ui.display.formatting import text
from intents_ui.http import client_ip, failures, marks, rate_limiter
from intents_ui.http.failures import Failure, of_dashboard
from intents_ui.http.rate_limiter import Quota
from intents_ui.service.context.shares import Lack
from intents_ui.settings import ENV

log = logging.getLogger(__name__)

BUSY_SECONDS = 2
UNTRUSTED_PROXY = "%s sends X-Forwarded-For but is not in TRUSTED_PROXIES; its clients share one rate limit"


def access(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    def answer(request: HttpRequest) -> HttpResponse:
        is_of_api = client_ip.is_for_programs(request.path) or request.path.startswith(api.PATHS)
        if ENV.intents_api == "off" and is_of_api:
            return failures.not_found(request, Http404())
        return get_response(request)

    return answer


class RateLimits:
    """Middleware that charges each request to its client, first as a page, then as what its view is.

    It says in the API's answers what is left, in the fields of draft-ietf-httpapi-ratelimit-headers-11.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if client_ip.is_behind_unnamed_proxy(request):
            log.warning(UNTRUSTED_PROXY, request.META.get("REMOTE_ADDR"), extra={"once": True})
        kilobytes = int(request.META.get("CONTENT_LENGTH") or 0) // 1024
        response = charged(request, max(rate_limiter.PAGE, kilobytes)) or self.get_response(request)
        quota: Quota | None = vars(request).get("quota")
        if quota and request.path.startswith(api.PATHS):
            response["RateLimit-Policy"] = f'"calls";q={quota.capacity};w={rate_limiter.SECONDS}'
            response["RateLimit"] = f'"calls";r={quota.left};t={quota.reset}'
        return response

    def process_view(self, request: HttpRequest, view: Callable[..., Any], *_: object) -> HttpResponse | None:
        found = marks.of_view(view)
        most = marks.BODY_SIZES[found.body]
        if int(request.META.get("CONTENT_LENGTH") or 0) > most:
            return failures.rejection(request, too_large(most))
        if not found.is_costly(str(request.method), request.META.get("QUERY_STRING", "")):
            return None
        return charged(request, rate_limiter.SEARCH)


def charged(request: HttpRequest, cost: int) -> HttpResponse | None:
    """Charge a request. Returns its rejection if its client has too little left."""
    wait = app.current().rate_limiter.charge(request, cost)
    return failures.rejection(request, too_many(client_ip.of(request), wait)) if wait else None


def too_many(client: str | None, wait: int) -> Failure:
    is_token = client is not None and client.startswith(client_ip.API_CLIENT)
    pages = rate_limiter.units(client) // 2 if client and is_token else ENV.intents_rate_pages
    words = {
        "units": text.counted(pages, "page"),
        "search": rate_limiter.SEARCH,
        "wait": text.counted(wait, "second"),
    }
    return of_dashboard("rate limit of a token" if is_token else "rate limit", words, retry_after=wait)


def too_large(most: int) -> Failure:
    return of_dashboard("too large", {"size": f"{most // 1024:,}"})


BUSY = of_dashboard("busy", retry_after=BUSY_SECONDS)
BEYOND_SHARE = of_dashboard("too many in progress", retry_after=BUSY_SECONDS)
LACKS = {Lack.FULL: BUSY, Lack.SHARE: BEYOND_SHARE}
