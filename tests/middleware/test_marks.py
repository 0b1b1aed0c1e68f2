"""Limits follow the views: each URL has its marks, and nothing but `urls.py` knows a page's path."""

import ast
import re
from collections.abc import Iterator
from functools import wraps
from itertools import product
from pathlib import Path

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.views.decorators.csrf import csrf_protect
from django.views.decorators.http import require_safe

from intents_ui.middleware import marks
from intents_ui.middleware.marks import Marks, When
from tests.serving import ROOT
from tests.url_patterns import url_patterns

# Every URL with a mark: when it is costly, when it streams, the limit of its body, and its other marks.
MARKED = """
newest                                    | never      | never  | body    | whole
overview                                  | never      | never  | body    | whole
search                                    | with_query | never  | body    |
triage                                    | posted     | posted | triage  |
intent/<identifier:intent_id>/receipt     | never      | never  | body    | whole
intent/<identifier:intent_id>/commit      | never      | never  | console |
embed/intent/<identifier:intent_id>       | never      | never  | body    | framed
embed/ticket                              | always     | never  | triage  | framed
slack/command                             | posted     | never  | body    |
slack/events                              | posted     | never  | body    |
export/history.<file:kind>                | always     | always | body    |
export/attention.<file:kind>              | always     | always | body    |
export/address/<identifier:address>.<file:kind> | always | always | body   |
export/progress/<identifier:run>          | never      | always | body    |
tx/<identifier:transaction_hash>          | always     | never  | body    |
tx/<chain:chain_id>/<identifier:transaction_hash> | always | never | body  |
console/<identifier:operation>            | never      | asked  | console |
api/v1/lookup                             | always     | never  | body    |
api/v1/triage                             | always     | never  | triage  |
mcp                                       | posted     | never  | triage  |
"""
# All others.
UNMARKED = """
/ attention history history/newer recoverable export/recoverable.<file:kind>
intent/<identifier:intent_id>.json intent/<identifier:intent_id>/raw/intent.json
intent/<identifier:intent_id>/raw/receipt.json intent/<identifier:intent_id>/reply
intent/<identifier:intent_id>/route-stats intent/<identifier:intent_id>/proof intent/<identifier:intent_id>/balances
intent/<identifier:intent_id>/card.png intent/<identifier:intent_id>/badge.svg intent/<identifier:intent_id>/qr.svg
intent/<identifier:intent_id>/share intent/<identifier:intent_id>/feed.atom intent/<identifier:intent_id>/feed.json
intent/<identifier:intent_id> intents/<identifier:intent_id> i/<identifier:intent_id>
address/<identifier:address>/qr.svg address/<identifier:address>/share address/<identifier:address>/feed.atom
address/<identifier:address>/feed.json address/<identifier:address> oembed chains chain/<chain:chain_id>
provider/<identifier:name> tokens tokens/rows insight insight.json insight/coverage insight/incidents late late.csv
insight/incidents/feed.atom insight/incidents/feed.json insight/incident/<chain:number>
insight/incident/<chain:number>.json
insight/route/<identifier:used>/<identifier:origin>/<identifier:destination> insight/provider/<identifier:name>
insight/chain/<identifier:chain_id>
insight/token/<identifier:chain_id>/<identifier:address>
token/<chain:chain_id>/<identifier:address>/routes token/<chain:chain_id>/<identifier:address>/intents
token/<chain:chain_id>/<identifier:address> routes routes/matrix routes/tokens console
logo/token/<chain:chain_id>/<identifier:address> logo/chain/<chain:chain_id> operator status saved kept
intent/<identifier:intent_id>/everyone saved/status csp-report robots.txt site.webmanifest favicon.ico
api/v1/addresses/<identifier:address> api/v1/transfers api/v1/transfers/<identifier:intent_id>
api/v1/reply/<identifier:intent_id> api/v1/chains
api/v1/tokens api/v1/routes
api/v1/insight api/v1/insight/routes/<identifier:providers>/<identifier:origin>/<identifier:destination>
api/v1/incidents api/v1/incidents/<chain:number>
api api/openapi.json
.well-known/security.txt suggest help help/status/<identifier:status> demo
"""
FRONT = [
    ROOT / "intents_ui/asgi.py",
    *(ROOT / "intents_ui/middleware").glob("*.py"),
    *(ROOT / "intents_ui/server").glob("*.py"),
]


def row(route: str, found: Marks) -> tuple[str, ...]:
    others = [name for name, has in (("whole", found.is_whole), ("framed", found.is_framed)) if has]
    return route, found.is_costly.__name__, found.streams.__name__, found.body, " ".join(others)


def test_every_url_has_the_marks_of_this_table() -> None:
    found = {row(str(each.pattern) or "/", marks.of_view(each.callback)) for each in url_patterns()}
    listed = {tuple(cell.strip() for cell in line.split("|")) for line in MARKED.strip().splitlines()}
    assert found == listed | {row(route, marks.NONE) for route in UNMARKED.split()}


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        (marks.always, {"GET", "POST", "GET?ask=1", "POST?ask=1", "GET?q=", "POST?q="}),
        (marks.never, set()),
        (marks.posted, {"POST", "POST?ask=1", "POST?q="}),
        (marks.with_query, {"GET?ask=1", "POST?ask=1", "GET?q=", "POST?q="}),
        (marks.asked, {"POST", "POST?ask=1", "POST?q=", "GET?ask=1"}),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_a_mark_applies_by_method_and_query(when: When, expected: set[str]) -> None:
    queries = {"": "", "?ask=1": "ask=1", "?q=": "q="}
    assert {
        method + end for method, (end, query) in product(("GET", "POST"), queries.items()) if when(method, query)
    } == expected


def test_marks_survive_other_decorators_in_any_order() -> None:
    def plain(view: object) -> object:
        @wraps(view)  # type: ignore[arg-type]
        def wrapped(*args: object) -> object:
            return view(*args)  # type: ignore[operator]

        return wrapped

    @require_safe
    @marks.costly(marks.posted)
    @plain
    @csrf_protect
    @marks.body("triage")
    @marks.whole
    def view(request: HttpRequest) -> HttpResponse:
        return HttpResponse()

    assert marks.of_view(view) == Marks(is_costly=marks.posted, body="triage", is_whole=True)


def test_paths_lead_to_the_marks_of_their_view() -> None:
    assert marks.of_path("/triage").body == "triage"
    assert marks.of_path("/intent/0x12/commit").body == "console"
    assert marks.of_path("/export/history.csv").is_costly is marks.always
    for path in ("", "*", "/", "/triage/", "/export/nothing", "/console", "/\ud800", "/intent/a/b/commit"):
        assert marks.of_path(path) == marks.NONE
    assert [marks.outside(path) for path in ("/static/a.css", "/live/x", "/rpc/x", "/", "/statics")] == [
        "static", "live", "rpc", None, None,
    ]  # fmt: skip


def test_a_page_names_its_report_url(client: Client) -> None:
    assert client.get("/saved")["Reporting-Endpoints"] == 'csp="/csp-report"'


def literals(path: Path) -> Iterator[str]:
    """Yield the strings of a module, except docstrings."""
    tree = ast.parse(path.read_text())
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in prose:
            if isinstance(node.value, str):
                yield node.value
            elif isinstance(node.value, bytes):
                yield node.value.decode("latin-1")


def page_paths(path: Path) -> list[str]:
    """Return the strings of a module that have the path of a page."""
    starts = {str(each.pattern).split("/")[0].split(".<")[0] for each in url_patterns()} - {""}
    names = re.compile(rf"(?:^|[^\w/])/(?:{'|'.join(map(re.escape, sorted(starts)))})(?![\w-])")
    return [text for text in literals(path) if names.search(text)]


@pytest.mark.parametrize("path", FRONT, ids=lambda path: path.name)
def test_no_path_of_a_page_is_written_before_the_views(path: Path) -> None:
    assert page_paths(path) == []


def test_a_path_of_a_page_would_be_found(tmp_path: Path) -> None:
    module = tmp_path / "some.py"
    module.write_text(
        '"""/triage"""\nis_long = path == "/triage" or path.startswith(b"/export/") or path == "/live/"\n'
    )
    assert page_paths(module) == ["/triage", "/export/"]
