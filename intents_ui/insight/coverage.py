"""`/insight/coverage`: what the local copy of the history has, and what it lacks. Sends no requests."""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from http import HTTPStatus

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from intents_ui.http import client_ip, failures
from intents_ui.settings import ENV
from intents_ui.web.frame import render
from intents_ui.web.mirror import mirror_coverage

MAX_DAYS = 92
# Words and meanings of what is known of a time, from the bottom of an hour's bar to its top.
CONDITIONS = {
    "sealed": ("Sealed", "complete, nothing can be added"),
    "open": ("Recent", "read again while transfers change"),
    "due": ("Not read yet", "waiting for its first read"),
    "hole": ("Hole", "the last read was incomplete"),
}
HOUR = timedelta(hours=1)
HEIGHT, PITCH = 48, 10  # of a bar, and from one bar to the next
MIN_HOLE = 8  # of HEIGHT, so that a hole of a minute can be seen


@require_safe
def no_mirror(request: HttpRequest, **_: str) -> HttpResponse:
    """Answer for any page of the mirror in a dashboard that has none."""
    return failures.page(request, failures.of_dashboard("no mirror"))


@require_safe
@cache_control(private=True, no_store=True)  # administrators see more
def view(request: HttpRequest) -> HttpResponse:
    if settings.MIRROR_DATABASE is None:
        return no_mirror(request)
    known = mirror_coverage()
    hours = known.hours if known else ()
    context = {
        "in_detail": client_ip.runs_it(request),
        "known": known,
        "conditions": CONDITIONS,
        "days": known.days[: -MAX_DAYS - 1 : -1] if known else (),
        "bars": [bar for place, hour in enumerate(hours) for bar in bars(hour, x=place * PITCH)],
        "sealed": sum(hour.get("sealed") == HOUR for hour in hours),
        "width": len(hours) * PITCH,
        "height": HEIGHT,
        "budget": ENV.intents_mirror_calls * HOUR // timedelta(seconds=1),
    }
    status = HTTPStatus.OK if known else HTTPStatus.SERVICE_UNAVAILABLE
    return render(request, "insight/coverage.html", context, status=status)


def bars(hour: Mapping[str, timedelta], *, x: int) -> Iterator[tuple[str, int, int, int]]:
    """Yield the parts of an hour's bar: condition, x, y and height. A hole is at its top, on what is beside it."""
    top = HEIGHT
    for condition in CONDITIONS:
        height = hour.get(condition, timedelta()) * HEIGHT // HOUR
        if condition == "hole" and condition in hour:
            height = max(height, MIN_HOLE)
            top = max(top, height)
        if height:
            top -= height
            yield condition, x, top, height
