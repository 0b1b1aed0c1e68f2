"""Limits follow the views: which URLs are costly or take a larger body, and when."""

from functools import wraps
from itertools import product

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory
from django.views.decorators.csrf import csrf_protect
from django.views.decorators.http import require_safe

from intents_ui.http import marks
from intents_ui.http.marks import Marks, When
from tests.url_patterns import url_patterns

# Every URL with a mark: when it is costly, the limit of its body, and its other marks.
MARKED = """
newest                                    | never      | body    | whole
overview                                  | never      | body    | whole
search                                    | with query | body    |
triage                                    | never      | triage  |
intent/<identifier:intent_id>/receipt     | never      | body    | whole
intent/<identifier:intent_id>/commit      | never      | console |
embed/intent/<identifier:intent_id>       | never      | body    | framed
embed/ticket                              | always     | triage  | framed
slack/command                             | posted     | body    |
slack/events                              | posted     | body    |
export/history.<file:kind>                | always     | body    |
export/attention.<file:kind>              | always     | body    |
export/address/<identifier:address>.<file:kind> | always | body   |
tx/<identifier:transaction_hash>          | always     | body    |
tx/<chain:chain_id>/<identifier:transaction_hash> | always | body  |
console/<identifier:operation>            | never      | console |
demo/new                                  | never      | console |
api/v1/lookup                             | always     | body    |
api/v1/triage                             | always     | triage  |
mcp                                       | posted     | body    |
"""


def row(route: str, found: Marks) -> tuple[str, ...]:
    others = [name for name, has in (("whole", found.is_whole), ("framed", found.is_framed)) if has]
    return route, found.costly, found.body, " ".join(others)


def test_the_urls_of_this_table_and_no_others_have_marks() -> None:
    found = {row(str(each.pattern), marks.of_view(each.callback)) for each in url_patterns()}
    marked = {each for each in found if each != row(each[0], marks.NONE)}
    assert marked == {tuple(cell.strip() for cell in line.split("|")) for line in MARKED.strip().splitlines()}


METHODS, QUERIES = ("GET", "POST"), ("", "?ask=1", "?q=")


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        ("always", {"GET", "POST", "GET?ask=1", "POST?ask=1", "GET?q=", "POST?q="}),
        ("never", set()),
        ("posted", {"POST", "POST?ask=1", "POST?q="}),
        ("with query", {"GET?ask=1", "POST?ask=1", "GET?q=", "POST?q="}),
    ],
)
def test_a_mark_applies_by_method_and_query(when: When, expected: set[str]) -> None:
    view, factory = Marks(costly=when), RequestFactory()
    sent = {f"{method}{query}": factory.generic(method, f"/{query}") for method, query in product(METHODS, QUERIES)}
    assert {name for name, request in sent.items() if view.is_costly(request)} == expected


def test_marks_survive_other_decorators_in_any_order() -> None:
    def plain(view: object) -> object:
        @wraps(view)  # type: ignore[arg-type]
        def wrapped(*args: object) -> object:
            return view(*args)  # type: ignore[operator]

        return wrapped

    @require_safe
    @marks.costly("posted")
    @plain
    @csrf_protect
    @marks.body("triage")
    @marks.whole
    def view(request: HttpRequest) -> HttpResponse:
        return HttpResponse()

    assert marks.of_view(view) == Marks(costly="posted", body="triage", is_whole=True)
