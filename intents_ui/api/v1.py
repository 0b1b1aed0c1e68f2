"""`/api/v1`: its operations, and their description as OpenAPI at `/api/openapi.json`.

Middleware answers for failures, as for pages, with problem details (`middleware/failures.py`).
"""

from collections.abc import Callable
from functools import wraps
from typing import Final

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.urls import URLPattern
from django.views.decorators.http import require_safe
from ninja import Field, NinjaAPI, Query, Schema
from ninja.errors import ValidationError
from pydantic import BaseModel

from intents_ui import wiring
from intents_ui.api import answers
from intents_ui.api.models import ApiIdentifier, ApiLookup, ApiMatch, ApiTransfer, ApiTransfers, Problem
from intents_ui.display.lists import filters
from intents_ui.display.search import empty_results, identifiers, input_errors
from intents_ui.middleware import failures, marks
from intents_ui.service.errors import ServiceError
from intents_ui.service.wire.results import Position
from intents_ui.web import cursors, links
from intents_ui.web.transfers import lookups, situations

PREFIX: Final = "/api/v1"
MOST_MATCHES: Final = 50

api = NinjaAPI(
    title="Intents",
    version="1.0.0",
    description="Transfers across chains: what happened, where the funds are, what to do next.",
    docs_url=None,
    openapi_url=None,
)


def answering(model: type[BaseModel]) -> dict[int, type[BaseModel]]:
    """Return what an operation answers, by status code."""
    return {200: model, 400: Problem, 404: Problem, 429: Problem, 503: Problem}


class TransferFilters(Schema):
    """Filters of the history, as in the URLs of its pages."""

    owner: str | None = Field(None, description="Address of the owner")
    status: list[str] | None = Field(None, description="`COMMITTED`, `EXECUTING`, `SUCCEEDED`, …, or `in-flight`")
    origin: str | None = Field(None, description="ID or name of the origin chain")
    destination: str | None = Field(None, description="ID or name of the destination chain")
    since: str | None = Field(None, alias="from", description="Created at this Unix time or later")
    until: str | None = Field(None, alias="to", description="Created at this Unix time or earlier")
    recoverable: str | None = Field(None, description="`1`: with recoverable balances only")
    order: str | None = Field(None, description="`DESC` (newest first) or `ASC`")
    size: str | None = Field(None, description="Transfers of a page, 1 to 100")
    cursor: str | None = Field(None, description="From `next` or `previous` of another page")


@api.get("/transfers", url_name="api-transfers", operation_id="listTransfers", response=answering(ApiTransfers))
def list_transfers(request: HttpRequest, given: Query[TransferFilters]) -> HttpResponse:
    """List transfers, newest first."""
    parsed = filters.read(dict(request.GET.lists()), chains=wiring.catalog().chains())
    if parsed.problems:
        return failures.invalid_fields(request, parsed.problems)
    query, root = parsed.filters.query, root_of(request)
    found = wiring.leaf(parsed.filters.request, parsed.filters.first, at=cursors.read(given.cursor or "", of=query))

    def page(position: Position | None) -> str | None:
        return f"{root}{cursors.address(request.path, of=query, at=position)}" if position else None

    return answered(
        ApiTransfers(
            transfers=tuple(answers.listed(each, root=root) for each in situations.of_entries(found.entries)),
            next=page(found.following),
            previous=page(found.previous),
            unreadable=found.unreadable,
        )
    )


@api.get("/transfers/{intent_id}", url_name="api-transfer", operation_id="getTransfer", response=answering(ApiTransfer))
def get_transfer(request: HttpRequest, intent_id: str) -> HttpResponse:
    """Get a transfer by its intent ID."""
    situation = situations.read(links.canonical(intent_id))
    return answered(answers.transfer(situation, root=root_of(request)))


@marks.costly()
@api.get("/lookup", url_name="api-lookup", operation_id="lookUp", response=answering(ApiLookup))
def look_up(request: HttpRequest, q: str) -> HttpResponse:
    """Find the transfers of any text with identifiers: an intent ID, a transaction hash, an address, a link."""
    read, root = identifiers.read(q), root_of(request)
    if not read.lookups:
        return failures.invalid_fields(request, {"q": read.problem or input_errors.NOTHING})
    found = lookups.of_text(read)
    if found.error:
        raise found.error
    hits = found.hits[:MOST_MATCHES]
    matched = situations.of_hits([each.intent for each in hits])
    return answered(
        ApiLookup(
            identifiers=tuple(
                ApiIdentifier(value=each.value, kind=each.kind.value, warning=each.warning or None)
                for each in read.lookups
            ),
            matches=tuple(
                ApiMatch(
                    reasons=tuple(empty_results.reason(question, found=found) for question in hit.reasons),
                    transfer=answers.listed(situation, root=root),
                )
                for hit, situation in zip(hits, matched, strict=True)
            ),
            is_complete=not found.failed and not found.unreadable,
            may_be_more=found.may_be_capped or found.count > len(hits),
        )
    )


def root_of(request: HttpRequest) -> str:
    """Return the dashboard's URL, without the slash."""
    return request.build_absolute_uri("/")[:-1]


def answered(model: BaseModel) -> HttpResponse:
    body = model.model_dump_json(by_alias=True)
    return HttpResponse(body, content_type="application/json", headers={"Cache-Control": "private, no-cache"})


def raised(request: HttpRequest, error: Exception | type[Exception]) -> HttpResponse:
    """Leave an error to the middleware."""
    raise error


for kind in (Http404, ServiceError, Exception):
    api.add_exception_handler(kind, raised)


@api.exception_handler(ValidationError)
def invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    """Name the parameters that are missing or have a wrong type."""
    return failures.invalid_fields(request, {str(each["loc"][-1]): str(each["msg"]) for each in error.errors})


def urls() -> list[URLPattern]:
    """Return the operations' URLs. Their views have the marks of the operations, and answer HEAD, too."""
    views = {}
    for view in api.default_router.path_operations.values():
        for operation in view.operations:
            views[operation.url_name] = operation.view_func
    found = [each for each in api.urls[0] if isinstance(each, URLPattern) and each.name in views]
    for each in found:
        each.callback = with_head(each.callback)
        each.callback.marks = marks.of_view(views[str(each.name)])  # type: ignore[attr-defined]  # as `marks` does
    return found


def with_head(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    @wraps(view)
    def answer(request: HttpRequest, **named: str) -> HttpResponse:
        if request.method == "HEAD":  # the server leaves out the body
            request.method = "GET"
        return view(request, **named)

    return answer


@require_safe
def openapi(request: HttpRequest) -> HttpResponse:
    return JsonResponse(api.get_openapi_schema(path_prefix=f"{PREFIX}/"))
