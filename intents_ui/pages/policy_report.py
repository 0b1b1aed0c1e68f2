"""`/csp-report`: what a browser refused on one of our pages. It is a mistake of ours, or an attack: a line in the log.

Browsers send it in either of two forms (Reporting API, and before it `report-uri`). Anybody can write one.
"""

import json
import logging
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from intents_ui import visitors
from intents_ui.display.text import visible
from intents_ui.spending import Limit, spend

log = logging.getLogger(__name__)

REPORTS = Limit("policy-reports", 10, 60)
LONGEST = 8 * 1024
LONGEST_WORD = 200
TEXT = "text/plain; charset=utf-8"


@require_POST
def report(request: HttpRequest) -> HttpResponse:
    if len(request.body) > LONGEST:
        return HttpResponse(status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE, content_type=TEXT)
    if wait := spend(REPORTS, visitors.of(request)):
        headers = {"Retry-After": str(wait)}
        return HttpResponse(status=HTTPStatus.TOO_MANY_REQUESTS, headers=headers, content_type=TEXT)
    for directive, blocked, page in told(request.body):
        log.warning("Content Security Policy violation: %s, %s, on %s", directive, blocked, page)
    return HttpResponse(status=HTTPStatus.NO_CONTENT)


def told(body: bytes) -> Iterator[tuple[str, str, str]]:
    """The directive, what it forbade, and the page's path: what a reader looked for stands in no log."""
    try:
        read = json.loads(body)
    except (ValueError, RecursionError):
        return
    for each in (read if isinstance(read, list) else [read])[: REPORTS.most]:
        if said := members(each):
            directive = first(said, "effectiveDirective", "effective-directive", "violated-directive")
            page = path(first(said, "documentURL", "document-uri"))
            yield word(directive), word(first(said, "blockedURL", "blocked-uri")), word(page)


def members(report: Any) -> dict[str, Any]:
    said = (report.get("body") or report.get("csp-report")) if isinstance(report, dict) else None
    return said if isinstance(said, dict) else {}


def first(said: dict[str, Any], *names: str) -> Any:
    return next((said[name] for name in names if name in said), None)


def path(url: Any) -> str:
    try:
        return urlsplit(str(url)).path
    except ValueError:
        return "?"


def word(said: Any) -> str:
    return visible(str(said))[:LONGEST_WORD]
