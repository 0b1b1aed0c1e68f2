"""`/insight/coverage`: what the local copy of the history has, and what it lacks. Sends no requests."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from typing import TYPE_CHECKING

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from intents_ui.http import client_ip, failures
from intents_ui.settings import ENV
from intents_ui.web.frame import render
from intents_ui.web.mirror import mirror_coverage

if TYPE_CHECKING:
    from intents_ui.mirror.coverage import DayCoverage

HOUR, DAY = 3600, timedelta(days=1)
MOST_DAYS = 92
# Words and meanings of what is known of a time, from the bottom of a day's bar to its top.
CONDITIONS = {
    "sealed": ("Sealed", "read to its end, when nothing could be added"),
    "open": ("Being read", "read again until nothing changes"),
    "due": ("Not read yet", "waits for its first read"),
    "hole": ("Hole", "the last read was incomplete"),
}
HEIGHT, PITCH = 48, 10  # of a bar, and from one bar to the next
LEAST_HOLE = 8  # of HEIGHT, so that a hole of a minute can be seen


@dataclass(frozen=True)
class DayBar:
    """A day's part of the strip in one condition."""

    condition: str
    x: int
    y: int
    height: int


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
    days = known.days[-MOST_DAYS:] if known else ()
    context = {
        "in_detail": client_ip.runs_it(request),
        "known": known,
        "conditions": CONDITIONS,
        "days": days[::-1],
        "bars": [bar for place, day in enumerate(days) for bar in bars(day, x=place * PITCH)],
        "width": len(days) * PITCH,
        "height": HEIGHT,
        "holes": known.holes if known else (),
        "budget": ENV.intents_mirror_calls * HOUR,
    }
    status = HTTPStatus.OK if known else HTTPStatus.SERVICE_UNAVAILABLE
    return render(request, "insight/coverage.html", context, status=status)


def bars(day: "DayCoverage", *, x: int) -> Iterator[DayBar]:
    """Yield the parts of a day's bar. A hole is at its top, on what is beside it if it's short."""
    top, lengths = HEIGHT, {str(key): length for key, length in day.lengths.items()}
    for condition in CONDITIONS:
        height = lengths.get(condition, timedelta()) * HEIGHT // DAY
        if condition == "hole" and condition in lengths:
            height = max(height, LEAST_HOLE)
            top = max(top, height)
        if height:
            top -= height
            yield DayBar(condition, x, top, height)
