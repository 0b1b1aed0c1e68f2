"""Pages and their parts: htmx requests only the part that changes."""

from collections.abc import Mapping

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def is_partial(request: HttpRequest) -> bool:
    """Return whether htmx requests a part of the page. Every page varies by this header (`stale_notice`)."""
    return request.headers.get("HX-Request-Type") == "partial"


def part_or_page(
    request: HttpRequest, page: str, part: str, context: Mapping[str, object], *, status: int = 200
) -> HttpResponse:
    """Render the template `part` for htmx, and the template `page` otherwise, both with the same context."""
    return render(request, part if is_partial(request) else page, {**context}, status=status)
