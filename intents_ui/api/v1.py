"""`/api/v1`: its operations, and `/api/openapi.json`: what it can do, as OpenAPI 3.1.

Middleware answers for failures, as for pages, with problem details (`http/failures.py`).
"""

import json
from collections.abc import Callable
from functools import cache, wraps
from http import HTTPStatus
from typing import Any, Final

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import URLPattern
from django.views.decorators.http import require_safe
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError

from intents_ui import tables
from intents_ui.api import catalog, insight, models, transfers
from intents_ui.api.insight import ApiIncidentReport, ApiIncidents, ApiOverview, ApiRouteReport
from intents_ui.http import failures, marks
from intents_ui.http.api_access import OPERATIONS as ROOT
from intents_ui.installation import version
from intents_ui.settings import ENV
from intents_ui.web.frame import render

api = NinjaAPI(
    title="Intents",
    version=version(),
    description="Transfers across chains: what happened, where the funds are, what to do next.",
    docs_url=None,
    openapi_url=None,
)


# The operations: method, path with the converters of `urls.py`, name, view, model of the answer.
OPERATIONS: Final = (
    ("GET", "/lookup", "lookUp", transfers.look_up, models.ApiLookup),
    ("GET", "/transfers", "listTransfers", transfers.list_transfers, models.ApiTransfers),
    ("GET", "/transfers/{identifier:intent_id}", "getTransfer", transfers.get_transfer, models.ApiTransfer),
    ("GET", "/reply/{identifier:intent_id}", "getReply", transfers.get_reply, models.ApiReply),
    ("GET", "/addresses/{identifier:address}", "getAddress", transfers.get_address, models.ApiAddress),
    ("POST", "/triage", "triage", transfers.triage, models.ApiTriage),
    ("GET", "/chains", "listChains", catalog.list_chains, models.ApiChains),
    ("GET", "/tokens", "listTokens", catalog.list_tokens, models.ApiTokens),
    ("GET", "/routes", "listRoutes", catalog.list_routes, models.ApiRoutes),
    ("GET", "/insight", "getInsight", insight.get_insight, ApiOverview),
    (
        "GET",
        "/insight/routes/{identifier:providers}/{identifier:origin}/{identifier:destination}",
        "getRouteFigures",
        insight.get_route_figures,
        ApiRouteReport,
    ),
    ("GET", "/incidents", "listIncidents", insight.list_incidents, ApiIncidents),
    ("GET", "/incidents/{chain:number}", "getIncident", insight.get_incident, ApiIncidentReport),
)


PROBLEMS: Final = (400, 403, 404, 405, 429, 500, 503)
OF_BODIES: Final = (413, 415)
for method, path, name, view, model in OPERATIONS:
    problems = (*PROBLEMS, *OF_BODIES) if method == "POST" else PROBLEMS
    answers = {200: model, **dict.fromkeys(problems, models.Problem)}
    if method == "GET":  # the server leaves out the body of the other
        api.api_operation(["HEAD"], path, include_in_schema=False)(view)
    api.api_operation([method], path, operation_id=name, url_name=f"api-{name}", response=answers, by_alias=True)(view)


def raised(request: HttpRequest, error: Exception | type[Exception]) -> HttpResponse:
    """Leave an error to the middleware."""
    raise error


for kind in (Http404, Exception):
    api.add_exception_handler(kind, raised)


@api.exception_handler(ValidationError)
def invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    """Name the parameters that are missing or have a wrong type."""
    return failures.invalid_fields(request, {str(each["loc"][-1]): str(each["msg"]) for each in error.errors})


@api.exception_handler(HttpError)
def unreadable(request: HttpRequest, error: HttpError) -> HttpResponse:
    """Reject a body that is no JSON."""
    return failures.invalid_fields(request, {"body": error.message})


def urls() -> list[URLPattern]:
    """Return the operations' URLs. Their views have the marks of the operations."""
    operations = {f"api-{name}": (method, view) for method, _, name, view, _ in OPERATIONS}
    found = [each for each in api.urls[0] if isinstance(each, URLPattern) and each.name in operations]
    for each in found:
        method, view = operations[str(each.name)]
        if method == "POST":
            each.callback = only_json(each.callback)
        marks.of_view(view)(each.callback)
    return found


def only_json(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Reject bodies of other types, which a page of another site can send without asking."""

    @wraps(view)
    def answer(request: HttpRequest, **named: str) -> HttpResponse:
        if request.method == "POST" and request.content_type != "application/json":
            return failures.page(request, failures.of_dashboard("no JSON"))
        return view(request, **named)

    return answer


TABLE: Final = tables.read(__package__, "openapi.toml")
HEADERS: Final = TABLE["headers"]
HEADERS_OF: Final = {200: ["ETag"], 429: ["Retry-After"], 503: ["Retry-After"]}


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """Document the API for people."""
    if ENV.intents_api == "off":
        raise Http404("This dashboard has no API.")
    return render(request, "api.html", {"paths": document()["paths"], "headers": HEADERS})


@require_safe
def openapi(request: HttpRequest) -> HttpResponse:
    return HttpResponse(written(), content_type="application/json")


@cache
def written() -> bytes:
    return json.dumps(document(), ensure_ascii=False, separators=(",", ":")).encode()


@cache
def document() -> dict[str, Any]:
    """Return the document, with what Django Ninja doesn't know: tokens, headers and problem details."""
    made: dict[str, Any] = api.get_openapi_schema(path_prefix=ROOT)
    made["components"]["securitySchemes"] = {"token": TABLE["token"]}
    made["components"]["headers"] = {
        name: {"description": description, "schema": {"type": "string"}, "example": example}
        for name, (description, example) in HEADERS.items()
    }
    for described in (each for methods in made["paths"].values() for each in methods.values()):
        described["security"] = [{}, {"token": []}]
        described["summary"] = described["description"].partition(".")[0]
        described["parameters"] = [_parameter(each) for each in described["parameters"]]
        described["responses"] = {
            str(status): _response(status, made) for status, made in sorted(described["responses"].items())
        }
    return made


def _parameter(made: dict[str, Any]) -> dict[str, Any]:
    """Return a parameter that can be left out, but not null. Its examples are those of its schema."""
    schema = dict(made["schema"])
    types = [each for each in schema.pop("anyOf", []) if each.get("type") != "null"]
    schema |= types[0] if len(types) == 1 else {"anyOf": types} if types else {}
    return {**{name: value for name, value in made.items() if name != "examples"}, "schema": schema}


def _response(status: int, made: dict[str, Any]) -> dict[str, Any]:
    kind = "application/json" if status == HTTPStatus.OK else "application/problem+json"
    names = ("RateLimit", "RateLimit-Policy", "X-Request-ID", *HEADERS_OF.get(status, ()))
    return {
        "description": HTTPStatus(status).phrase,
        "content": {kind: made["content"]["application/json"]},
        "headers": {name: {"$ref": f"#/components/headers/{name}"} for name in names},
    }
