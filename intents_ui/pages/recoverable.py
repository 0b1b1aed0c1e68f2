"""`/recoverable`: transfers with a recoverable balance."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from urllib.parse import parse_qsl, urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from intents_ui import wiring
from intents_ui.display.lists import filter_labels, filters
from intents_ui.display.lists.filters import Filters, ListQuery
from intents_ui.display.lists.recoverable import Sort, how_much, nothing, worklist
from intents_ui.display.tokens import names
from intents_ui.service.operations import operations
from intents_ui.service.queries.worklist import read
from intents_ui.service.wire.models import Page
from intents_ui.service.wire.responses import HistoryAnswer
from intents_ui.service.wire.results import Position, Read
from intents_ui.web import cursors
from intents_ui.web.frame import part_or_page
from intents_ui.web.transfers import situations

BEGINNING = Position()
PAGE_SIZE = 50
NARROWED_BY = ("owner", "origin", "destination", "project", "status", "from", "to", "from_at", "to_at", "zone")
IN_THE_FORM = ("owner", "origin", "destination")
NO_SORT = "Unknown sort. Valid values: age, usd."


@require_safe
@cursors.verified
def view(request: HttpRequest) -> HttpResponse:
    parsed, sort = read_from(request)
    if parsed.problems:
        return page(request, form(parsed, sort), status=HTTPStatus.BAD_REQUEST)
    at = cursors.read(request.GET.get(cursors.NAME, ""), of=of_list(parsed.filters, sort))
    url = address(parsed.filters, sort, at=at)
    if not cursors.is_at(request, url):
        return redirect(url)
    found, as_of = reading(parsed.filters, at=at)
    return page(request, form(parsed, sort) | listed(found, parsed.filters, sort, at=at) | {"as_of": as_of})


def page(request: HttpRequest, context: dict[str, object], *, status: HTTPStatus = HTTPStatus.OK) -> HttpResponse:
    return part_or_page(request, "lists/recoverable.html", "lists/recoverable_fragment.html", context, status=status)


def read_from(request: HttpRequest) -> tuple[ListQuery, Sort]:
    """Parse the filters and the order. The page size is fixed."""
    narrowing = {name: request.GET.getlist(name) for name in NARROWED_BY if name in request.GET}
    parsed = filters.read(narrowing, chains=wiring.catalog().chains())
    written = request.GET.get("sort") or Sort.AGE
    if written in Sort:
        return parsed, Sort(written)
    return replace(parsed, problems={**parsed.problems, "sort": NO_SORT}), Sort.AGE


def query_of(narrowed: str, sort: Sort) -> str:
    """Return the query of the filters and of a non-default order."""
    order = "" if sort is Sort.AGE else urlencode({"sort": sort})
    return "&".join(part for part in (narrowed, order) if part)


def of_list(wanted: Filters, sort: Sort) -> str:
    """Return the identity of the list for its cursors, distinct from the history with the same filters."""
    return query_of(wanted.with_(recoverable=True).query, sort)


def address(wanted: Filters, sort: Sort, *, at: Position = BEGINNING) -> str:
    written = query_of(wanted.query, sort)
    return cursors.address(reverse("recoverable"), of=of_list(wanted, sort), written=written, at=at)


def form(parsed: ListQuery, sort: Sort) -> dict[str, object]:
    """Context of the filters and the order, valid or not."""
    chains = names.by_id(wiring.catalog().chains())
    others = parsed.filters.with_(**dict.fromkeys(IN_THE_FORM))
    chips = filter_labels.chips(parsed.filters, chains=chains, now=datetime.now(UTC))
    return {
        "parsed": parsed,
        "filters": parsed.filters,
        "sort": sort,
        "chains": sorted(chains.items(), key=lambda chain: chain[1].lower()),
        "chips": {chip.name: replace(chip, without=query_of(chip.without, sort)) for chip in chips},
        "other_parameters": parse_qsl(others.query),
        "cleared": address(Filters(), sort),
        "read": None,
    }


def reading(wanted: Filters, *, at: Position) -> tuple[Read, datetime]:
    """Read one view of the list, and the time of its oldest data."""
    whole = wanted.with_(recoverable=True, size=PAGE_SIZE)
    answered: list[datetime] = []

    def ask(page: Page) -> HistoryAnswer:
        call = operations.get_intent_history(page=page, **whole.request)
        answer = wiring.service().ask(call)
        answered.append(datetime.now(UTC) - timedelta(seconds=wiring.service().age(call) or 0))
        return answer

    return read(ask, whole.first, at=at), min(answered)


def listed(found: Read, wanted: Filters, sort: Sort, *, at: Position) -> dict[str, object]:
    """Context of the rows and the page links."""
    is_beginning = at == BEGINNING
    newer = at.back(at.earlier[-1]) if at.earlier else None
    return {
        "names": wiring.catalog(),
        "read": found,
        "work": worklist(situations.of_entries(found.entries), sort=sort),
        "how_much": how_much(found, is_beginning=is_beginning),
        "nothing": nothing(found, is_beginning=is_beginning, is_narrowed=wanted != Filters()),
        "sorts": {each: address(wanted, each, at=at) for each in Sort},
        "older": address(wanted, sort, at=found.following) if found.following else None,
        "newer": address(wanted, sort, at=newer) if newer else None,
    }
