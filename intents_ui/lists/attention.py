"""`/attention`: transfers that need attention, grouped by cause."""

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from intents_ui import app
from intents_ui.lists import problems as attention
from intents_ui.lists.problems import AttentionFilters, ProblemGroup
from intents_ui.search.parameters import Parsed
from intents_ui.tokens import names
from intents_ui.web import reading
from intents_ui.web.frame import render

PAGE_SIZE = 50


@require_safe
def view(request: HttpRequest) -> HttpResponse:
    """Return the groups, one of them with its rows if `group` names it. For htmx, return the groups or those rows."""
    parsed = attention.read_filters(dict(request.GET.lists()), chains=app.current().catalog.chains())
    if parsed.problems:
        return render(request, "lists/attention.html", form(parsed), status=HTTPStatus.BAD_REQUEST)
    found = app.current().attention.read_problems()
    problems = found.problems.narrowed(parsed.filters)
    group = problems.group(request.GET.get("group", ""))
    context = form(parsed) | {
        "found": problems,
        "unread": found.unread,
        "cut": found.cut,
        "as_of": found.read_at,
        "group": group,
        "is_gone": group is None and "group" in request.GET,
        **(page_of(group, parsed.filters, request.GET.get("page", "")) if group else {}),
    }
    return render(request, "lists/attention.html", context, block="rows" if "group" in request.GET else "groups")


def form(parsed: Parsed[AttentionFilters]) -> dict[str, object]:
    chains = names.by_id(app.current().catalog.chains())
    return {
        "parsed": parsed,
        "chains": sorted(chains.items(), key=lambda chain: chain[1].lower()),
        "names": app.current().catalog,
        "called": attention.LISTS,
        **dict.fromkeys(("found", "group"), None),
        "unread": {},
        "late_count": reading.late_count(),
        "cut": (),
        "is_gone": False,
    }


def page_of(group: ProblemGroup, filters: AttentionFilters, written: str) -> dict[str, object]:
    """Return the rows of one page, by default the first, and the URLs of its neighbors."""
    last = -(-len(group.rows) // PAGE_SIZE)
    number = min(max(int(written), 1), last) if written.isascii() and written.isdigit() and len(written) < 6 else 1
    begin = (number - 1) * PAGE_SIZE
    return {
        "rows": group.rows[begin : begin + PAGE_SIZE],
        "begin": begin,
        "shown": url(group, filters, number),
        "previous": url(group, filters, number - 1) if number > 1 else None,
        "next": url(group, filters, number + 1) if number < last else None,
    }


def url(group: ProblemGroup, filters: AttentionFilters, page: int = 1) -> str:
    shown = f"&{filters.query}" if filters.query else ""
    return f"{reverse('attention')}?group={group.key}{f'&page={page}' if page > 1 else ''}{shown}"
