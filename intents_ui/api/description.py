"""`/api/openapi.json`: what the API can do, as OpenAPI 3.1."""

import hashlib
import json
from collections.abc import Iterator
from functools import cache
from http import HTTPStatus
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.utils.http import quote_etag
from django.views.decorators.http import require_safe

from intents_ui import api
from intents_ui.api import v1

PROBLEM: Final = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
# Answers that every operation can have, whatever it declares.
REFUSALS: Final = (
    HTTPStatus.FORBIDDEN,
    HTTPStatus.METHOD_NOT_ALLOWED,
    HTTPStatus.INTERNAL_SERVER_ERROR,
)
OF_BODIES: Final = (HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
TOKEN: Final = {
    "type": "http",
    "scheme": "bearer",
    "description": "A token from the dashboard's administrator, with a limit of requests per minute, which replaces the"
    " limits per IP address.",
}
HEADERS: Final = {
    "RateLimit": ("What is left of each limit, and the seconds until it is full", '"pages";r=159;t=1'),
    "RateLimit-Policy": ("Each limit: its requests, and in how many seconds they refill", '"pages";q=160;w=8'),
    "X-Request-ID": ("Request ID, by which an administrator finds the log entry", "3f9a0c1d2e4b"),
    "ETag": ("For `If-None-Match`: an answer that has not changed is not sent again", '"b1946ac92492d234"'),
    "Retry-After": ("Seconds to wait", "2"),
}


@require_safe
def openapi(request: HttpRequest) -> HttpResponse:
    body, tag = written()
    return HttpResponse(body, content_type="application/json", headers={"ETag": tag})


@cache
def written() -> tuple[bytes, str]:
    """Return the document and its ETag."""
    body = json.dumps(document(), ensure_ascii=False, separators=(",", ":")).encode()
    return body, quote_etag(hashlib.sha256(body).hexdigest()[:32])


@cache
def document() -> dict[str, Any]:
    """Return the document, with what Django Ninja doesn't know: tokens, headers and problem details."""
    made: dict[str, Any] = v1.api.get_openapi_schema(path_prefix=api.OPERATIONS)
    made["components"]["securitySchemes"] = {"token": TOKEN}
    made["components"]["headers"] = {
        name: {"description": description, "schema": {"type": "string"}, "example": example}
        for name, (description, example) in HEADERS.items()
    }
    for described in (each for methods in made["paths"].values() for each in methods.values()):
        described["security"] = [{}, {"token": []}]
        described["summary"] = described["description"].partition(".")[0]
        described["parameters"] = [_parameter(each) for each in described["parameters"]]
        described["responses"] = dict(_responses(described["responses"], has_body="requestBody" in described))
    return made


def _parameter(made: dict[str, Any]) -> dict[str, Any]:
    """Return a parameter that can be left out, but not null. Its examples are those of its schema."""
    schema = dict(made["schema"])
    types = [each for each in schema.pop("anyOf", []) if each.get("type") != "null"]
    schema |= types[0] if len(types) == 1 else {"anyOf": types} if types else {}
    return {**{name: value for name, value in made.items() if name != "examples"}, "schema": schema}


def _responses(made: dict[int, dict[str, Any]], *, has_body: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    for status in sorted({*made, *REFUSALS, *(OF_BODIES if has_body else ())}):
        is_problem = status >= HTTPStatus.BAD_REQUEST
        names = ["RateLimit", "RateLimit-Policy", "X-Request-ID"]
        names += [] if is_problem else ["ETag"]
        names += ["Retry-After"] if status in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE) else []
        headers = {name: {"$ref": f"#/components/headers/{name}"} for name in names}
        found = {"description": HTTPStatus(status).phrase, **({"content": PROBLEM} if is_problem else made[status])}
        yield str(int(status)), {**found, "headers": headers}
