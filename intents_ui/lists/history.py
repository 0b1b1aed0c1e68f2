"""`/history`: the paginated list of transfers with filters."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from http import HTTPStatus
from itertools import takewhile

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from intents_ui import app
from intents_ui.http import cursors
from intents_ui.search import filters
from intents_ui.service import operations
from intents_ui.service.errors import ServiceError
from intents_ui.service.lookup import ListPage, Position
from intents_ui.service.models import IntentHistory
from intents_ui.transfers import summary
from intents_ui.web import reading
from intents_ui.web.frame import render

# New transfers are counted up to this number, then shown as "30+".
COUNTED = 30
# Filter forms to keep. Most people use few filters.
FORMS = 32
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


@require_safe
def view(request: HttpRequest) -> HttpResponse:
    labels = read(request.GET)
    parsed, wanted, now = labels.parsed, labels.parsed.filters, datetime.now(UTC)
    narrowed = ", ".join(chip.text for chip in labels.chips.values())
    context: dict[str, object] = {
        "title": f"Transfers: {narrowed}" if narrowed else "Transfers",
        "now": now,
        "parsed": parsed,
        "filters": wanted,
        "labels": labels,
        "list_page": None,
    }
    if parsed.problems:
        return render(request, "lists/history.html", context, block="list", status=HTTPStatus.BAD_REQUEST)
    at = cursors.read(request.GET.get(cursors.NAME, ""), query=wanted.query)
    if not cursors.is_at(request, address(wanted, at)):
        return redirect(address(wanted, at))
    found = reading.list_page(wanted, at=at)
    context |= {
        "list_page": found,
        "rows": [summary.of(each) for each in reading.of_entries(found.entries)],
        "page_number": at.number if at != reading.BEGINNING else None,
        "watched": watched(found, wanted, now=now) if at == reading.BEGINNING else None,
        "first": address(wanted) if at != reading.BEGINNING else None,
        "previous": address(wanted, at.previous) if at.previous else None,
        "following": address(wanted, found.following) if found.following else None,
    }
    return render(request, "lists/history.html", context, block="list")


def read(given: QueryDict) -> filters.ListLabels:
    """Return the filters of a query with their labels, the same object for a minute, so that its form is drawn once."""
    query = tuple((name, tuple(values)) for name, values in given.lists() if name != cursors.NAME)
    catalog = app.current().catalog
    catalog.chains()  # so that it is loaded or renewed, before its version
    return _read(query, catalog.version, datetime.now(UTC).replace(second=0, microsecond=0))


@lru_cache(FORMS)
def _read(query: tuple[tuple[str, tuple[str, ...]], ...], _: object, minute: datetime) -> filters.ListLabels:
    """`_`: the version of the names. `minute`: the beginning of the current one, from which time ranges count."""
    chains = app.current().catalog.chains()
    return filters.ListLabels(filters.read(dict(query), chains=chains), chains=chains, now=minute)


def address(wanted: filters.Filters, at: Position = reading.BEGINNING) -> str:
    return cursors.address(reverse("history"), query=wanted.query, at=at)


def watched(found: ListPage, wanted: filters.Filters, *, now: datetime) -> QueryDict | None:
    """Return the query for new transfers: the list and its first row. None if there can't be any."""
    is_over = wanted.until is not None and wanted.until < now.timestamp()
    if is_over or not wanted.is_newest_first:
        return None
    query = QueryDict(wanted.query, mutable=True)
    if found.entries:
        top = found.entries[0]
        query["top"] = top.intent_id
        query["at"] = str(((top.created_at or now) - EPOCH) // MICROSECOND)
    return query


@require_safe
def newer(request: HttpRequest) -> HttpResponse:
    """Count the transfers added since page one was rendered. They're announced, not inserted."""
    parsed = filters.read(dict(request.GET.lists()))
    top, at = request.GET.get("top", ""), request.GET.get("at", "0")
    if parsed.problems or not (at.isascii() and at.isdigit() and len(at) <= 20):
        raise BadRequest
    wanted = parsed.filters.with_(size=COUNTED)
    asked = wanted.request | {"include_balances": False}  # which are slow
    try:
        found = app.current().service.ask(operations.get_intent_history(page=wanted.first, **asked)).intents
    except ServiceError:
        return HttpResponse(status=HTTPStatus.NO_CONTENT)  # leave the page unchanged

    def is_newer(entry: IntentHistory) -> bool:
        """Return whether it is newer than the former first row, which may have left the list."""
        created = entry.created_at
        return entry.intent_id != top and (created is None or (created - EPOCH) // MICROSECOND > int(at))

    count = len(list(takewhile(is_newer, found)))
    context = {"block": "newer", "count": count, "is_counted": count < COUNTED, "newer_url": address(parsed.filters)}
    return render(request, "lists/history.html", context)
