"""`/api/v1`: its operations.

Middleware answers for failures, as for pages, with problem details (`middleware/failures.py`).
"""

from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Final

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import URLPattern
from django.views.decorators.http import require_POST, require_safe
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError

from intents_ui.api import catalog, insight, transfers
from intents_ui.api.figure_models import ApiIncidentReport, ApiIncidents, ApiOverview, ApiRouteReport
from intents_ui.api.models import (
    ApiAddress,
    ApiChains,
    ApiLookup,
    ApiReply,
    ApiRoutes,
    ApiTokens,
    ApiTransfer,
    ApiTransfers,
    ApiTriage,
    Problem,
)
from intents_ui.middleware import failures, marks
from intents_ui.middleware.failures import Failure
from intents_ui.service.errors import ServiceError

NO_JSON: Final = Failure(
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    "Unsupported media type",
    "The body must be JSON, with the header Content-Type: application/json.",
    "Set the header, and send the request again.",
)


api = NinjaAPI(
    title="Intents",
    version="1.0.0",
    description="Transfers across chains: what happened, where the funds are, what to do next.",
    docs_url=None,
    openapi_url=None,
)


# The operations: method, path with the converters of `urls.py`, name, view, model of the answer.
OPERATIONS: Final = (
    ("GET", "/lookup", "lookUp", transfers.look_up, ApiLookup),
    ("GET", "/transfers", "listTransfers", transfers.list_transfers, ApiTransfers),
    ("GET", "/transfers/{identifier:intent_id}", "getTransfer", transfers.get_transfer, ApiTransfer),
    ("GET", "/reply/{identifier:intent_id}", "getReply", transfers.get_reply, ApiReply),
    ("GET", "/addresses/{identifier:address}", "getAddress", transfers.get_address, ApiAddress),
    ("POST", "/triage", "triage", transfers.triage, ApiTriage),
    ("GET", "/chains", "listChains", catalog.list_chains, ApiChains),
    ("GET", "/tokens", "listTokens", catalog.list_tokens, ApiTokens),
    ("GET", "/routes", "listRoutes", catalog.list_routes, ApiRoutes),
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


for method, path, name, view, model in OPERATIONS:
    answers = {200: model, **dict.fromkeys((400, 403, 404, 429, 503), Problem)}
    api.api_operation([method], path, operation_id=name, url_name=f"api-{name}", response=answers, by_alias=True)(view)


def raised(request: HttpRequest, error: Exception | type[Exception]) -> HttpResponse:
    """Leave an error to the middleware."""
    raise error


for kind in (Http404, ServiceError, Exception):
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
            each.callback = require_POST(only_json(each.callback))
        else:
            each.callback = require_safe(with_head(each.callback))
        each.callback.marks = marks.of_view(view)  # type: ignore[attr-defined]  # as `marks` does
    return found


def only_json(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Reject bodies of other types, which a page of another site can send without asking."""

    @wraps(view)
    def answer(request: HttpRequest, **named: str) -> HttpResponse:
        if request.content_type != "application/json":
            return failures.page(request, NO_JSON)
        return view(request, **named)

    return answer


def with_head(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Answer HEAD as GET. The server leaves out the body."""

    @wraps(view)
    def answer(request: HttpRequest, **named: str) -> HttpResponse:
        method, request.method = request.method, "GET"
        try:
            return view(request, **named)
        finally:
            request.method = method

    return answer
