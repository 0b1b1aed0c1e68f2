"""Responses of the API's operations."""

from django.http import HttpRequest, HttpResponse
from pydantic import BaseModel

from intents_ui.display.search.parameters import Parsed, UrlFilters
from intents_ui.middleware import failures


def answered(model: BaseModel) -> HttpResponse:
    body = model.model_dump_json(by_alias=True)
    return HttpResponse(body, content_type="application/json", headers={"Cache-Control": "private, no-cache"})


def invalid(request: HttpRequest, parsed: Parsed[UrlFilters]) -> HttpResponse:
    """Reject filters by the names of their parameters."""
    names = parsed.filters.PARAMETERS
    return failures.invalid_fields(request, {names.get(name, name): why for name, why in parsed.problems.items()})
