"""`/csp-report`: logs Content Security Policy violations, which are a bug or an attack.

Browsers send two formats (Reporting API, and the older `report-uri`). Anyone can send a report.
"""

import json
import logging
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from intents_ui.display.formatting.text import visible
from intents_ui.web import client_ip
from intents_ui.web.rate_limiter import Limit, spend

log = logging.getLogger(__name__)

REPORTS = Limit("policy-reports", 10, 60)
LONGEST = 8 * 1024
LONGEST_VALUE = 200
TEXT = "text/plain; charset=utf-8"


@require_POST
def report(request: HttpRequest) -> HttpResponse:
    if len(request.body) > LONGEST:
        return HttpResponse(status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE, content_type=TEXT)
    if wait := spend(REPORTS, client_ip.of(request)):
        headers = {"Retry-After": str(wait)}
        return HttpResponse(status=HTTPStatus.TOO_MANY_REQUESTS, headers=headers, content_type=TEXT)
    for directive, blocked, page in violations(request.body):
        log.warning("Content Security Policy violation: %s, %s, on %s", directive, blocked, page)
    return HttpResponse(status=HTTPStatus.NO_CONTENT)


def violations(body: bytes) -> Iterator[tuple[str, str, str]]:
    """Yield the directive, the blocked URL and the page's path. The query is dropped, because it may hold a search."""
    try:
        read = json.loads(body)
    except (ValueError, RecursionError):
        return
    for each in (read if isinstance(read, list) else [read])[: REPORTS.most]:
        if found := fields(each):
            directive = first(found, "effectiveDirective", "effective-directive", "violated-directive")
            page = path(first(found, "documentURL", "document-uri"))
            yield printable(directive), printable(first(found, "blockedURL", "blocked-uri")), printable(page)


def fields(report: Any) -> dict[str, Any]:
    body = (report.get("body") or report.get("csp-report")) if isinstance(report, dict) else None
    return body if isinstance(body, dict) else {}


def first(found: dict[str, Any], *names: str) -> Any:
    return next((found[name] for name in names if name in found), None)


def path(url: Any) -> str:
    try:
        return urlsplit(str(url)).path
    except ValueError:
        return "?"


def printable(value: Any) -> str:
    return visible(str(value))[:LONGEST_VALUE]
