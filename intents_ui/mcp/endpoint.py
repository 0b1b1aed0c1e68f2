"""The endpoint: streamable HTTP without sessions. A POST has one message, and a request gets one JSON response.

Middleware answers for rejected requests (`middleware/failures.py`).
"""

from http import HTTPStatus
from typing import Any, Final

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_POST
from pydantic import ValidationError

from intents_ui.mcp import messages, methods
from intents_ui.mcp.messages import Code, Message, RpcError
from intents_ui.mcp.methods import VERSION
from intents_ui.middleware import failures, marks
from intents_ui.middleware.failures import Failure
from intents_ui.web import client_ip

FOREIGN: Final = Failure(
    HTTPStatus.FORBIDDEN,
    "Request rejected",
    "A browser sent it from another site.",
    "Connect with a client that isn't a page of another site.",
)
JSON: Final = "application/json"
NOT_STORED: Final = {"Cache-Control": "no-store"}


@marks.costly(marks.posted)
@require_POST
def view(request: HttpRequest) -> HttpResponse:
    """Respond to one message."""
    if not client_ip.is_ours(request):
        return failures.page(request, FOREIGN)
    try:
        message = Message.model_validate_json(request.body)
    except ValidationError as error:
        is_json = error.errors()[0]["type"] != "json_invalid"
        code, sentence = (Code.INVALID_REQUEST, "Invalid message") if is_json else (Code.PARSE_ERROR, "Invalid JSON")
        return respond(messages.error(None, code, sentence), HTTPStatus.BAD_REQUEST)
    version = request.headers.get("MCP-Protocol-Version", VERSION)
    if version != VERSION:  # a newer client then begins with a handshake
        data = {"supported": [VERSION], "requested": version}
        refused = messages.error(message.id, Code.UNSUPPORTED_VERSION, "Unsupported protocol version", data)
        return respond(refused, HTTPStatus.BAD_REQUEST)
    if message.is_notification:
        return HttpResponse(status=HTTPStatus.ACCEPTED, content_type=JSON, headers=NOT_STORED)
    try:
        return respond(messages.result(message.id, methods.result_of(request, message)))
    except RpcError as error:  # with 200, because clients read no body of other responses
        return respond(messages.error(message.id, error.code, str(error)))


def respond(body: dict[str, Any], status: HTTPStatus = HTTPStatus.OK) -> HttpResponse:
    """Return a message as a response, which isn't cached."""
    return JsonResponse(body, status=status, headers=NOT_STORED)
