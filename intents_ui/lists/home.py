"""`/`: the overview. The search box, what needs attention, and the newest transfers."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import takewhile

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from intents_ui.http import marks
from intents_ui.lists.attention import FUNDED, PROBLEMS, Listing, Read, problems, read_lists
from intents_ui.service.errors import ServiceError
from intents_ui.transfers import summary
from intents_ui.web import reading
from intents_ui.web.frame import DEFAULT_COLUMNS, chosen_columns, render

SHOWN = 10
HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class Failed:
    """Failed transfers created `since`, in Unix seconds: a minimum unless `is_counted`. `reason`: that of `alike`."""

    since: int
    count: int
    is_counted: bool
    reason: str
    alike: int


@require_safe
def view(request: HttpRequest) -> HttpResponse:
    funded, *lists = read_lists([FUNDED, *PROBLEMS.values()])
    context = overview(lists) | {"incidents": reading.open_now()} | of_newest(request, funded)
    return render(request, "home.html", context)


@marks.Marks(is_whole=True)
@require_safe
def tiles(request: HttpRequest) -> HttpResponse:
    """Refresh the counts of an open page."""
    context = overview(read_lists([*PROBLEMS.values()]))
    return render(request, "home.html", context | {"block": "tiles"})


@marks.Marks(is_whole=True)
@require_safe
def newest(request: HttpRequest) -> HttpResponse:
    """Refresh the rows of an open page. New transfers are announced, not inserted."""
    context = of_newest(request, *read_lists([FUNDED]))
    return render(request, "home.html", context | {"block": "newest"})


def overview(lists: Sequence[Read]) -> dict[str, object]:
    """Context of the counts. `lately`: None if the failed transfers can't be read."""
    found = problems(lists)
    failed = found.lists["failed"]
    return {
        "overview": found,
        "late_count": reading.late_count(),
        "lately": lately(failed) if isinstance(failed, Listing) else None,
    }


def lately(failed: Listing) -> Failed:
    since = datetime.now(UTC) - HOUR
    found = [each for each in failed.rows if each.quoted_at and each.quoted_at >= since]
    reasons = Counter(told.whole for each in found if (told := each.reason))
    (reason, alike), *_ = reasons.most_common(1) or [("", 0)]
    return Failed(int(since.timestamp()), len(found), failed.is_whole or len(found) < len(failed.rows), reason, alike)


def of_newest(request: HttpRequest, funded: Read) -> dict[str, object]:
    """Context of the newest transfers, from those that an open page shows, and the number of newer ones (a minimum
    unless `is_counted`). If they can't be read, a notice says so, and the search box still works.
    """
    rows, top = funded.rows if isinstance(funded, Listing) else (), request.GET.get("top", "")
    newer = len(list(takewhile(lambda each: each.intent.intent_id != top, rows))) if top else 0
    is_counted = newer < len(rows) or not top
    shown = rows[newer if is_counted else 0 :][:SHOWN]
    return {
        "now": datetime.now(UTC),
        "chosen": tuple(each for each in chosen_columns(request) if each not in DEFAULT_COLUMNS),
        "newest": [summary.of(each) for each in shown],
        "newer": newer,
        "is_counted": is_counted,
        "failed": funded if isinstance(funded, ServiceError) else None,
        "is_awaited": funded is None,
    }
