"""The endpoint: streamable HTTP without sessions. A POST has one message, and a request gets one JSON response.

Middleware answers for rejected requests (`middleware/failures.py`).
"""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_POST
from pydantic import ValidationError

from intents_ui.mcp import messages, methods
from intents_ui.mcp.messages import Code, Message, RpcError
from intents_ui.mcp.methods import STATELESS, WITH_HANDSHAKE
from intents_ui.middleware import failures, marks
from intents_ui.middleware.failures import Failure
from intents_ui.web import client_ip

VERSIONS: Final = (STATELESS, *WITH_HANDSHAKE)
FOREIGN: Final = Failure(
    HTTPStatus.FORBIDDEN,
    "Request rejected",
    "A browser sent it from another site.",
    "Connect with a client that isn't a page of another site.",
)
# Of errors in the stateless revision. In the others they have 200, because clients read no body of other responses.
STATUSES: Final = {
    Code.METHOD_NOT_FOUND: HTTPStatus.NOT_FOUND,
    Code.INVALID_PARAMS: HTTPStatus.BAD_REQUEST,
    Code.HEADER_MISMATCH: HTTPStatus.BAD_REQUEST,
}
JSON: Final = "application/json"
NOT_STORED: Final = {"Cache-Control": "no-store"}
META: Final = "io.modelcontextprotocol/"
ENCODED: Final = "=?base64?"  # start of a name in a header that isn't plain text. No tool has one


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
    version = request.headers.get("MCP-Protocol-Version", WITH_HANDSHAKE[0])
    if version not in VERSIONS:
        data = {"supported": VERSIONS, "requested": version}
        refused = messages.error(message.id, Code.UNSUPPORTED_VERSION, "Unsupported protocol version", data)
        return respond(refused, HTTPStatus.BAD_REQUEST)
    if message.is_notification:
        return HttpResponse(status=HTTPStatus.ACCEPTED, content_type=JSON, headers=NOT_STORED)
    is_stateless = version == STATELESS
    try:
        if is_stateless:
            check(request.headers, message)
        return respond(messages.result(message.id, methods.result_of(request, message, version=version)))
    except RpcError as error:
        status = STATUSES[error.code] if is_stateless else HTTPStatus.OK
        return respond(messages.error(message.id, error.code, str(error)), status)


def check(headers: Mapping[str, str], message: Message) -> None:
    """Check what a request without a handshake says about itself. Raises RpcError if its headers say otherwise."""
    meta = message.params.get("_meta")
    if not isinstance(meta, dict) or not meta.keys() >= {f"{META}protocolVersion", f"{META}clientCapabilities"}:
        raise RpcError(Code.INVALID_PARAMS, "_meta must have the protocol version and the client's capabilities")
    said = {"MCP-Protocol-Version": meta[f"{META}protocolVersion"], "Mcp-Method": message.method}
    if message.method == "tools/call" and not headers.get("Mcp-Name", "").startswith(ENCODED):
        said["Mcp-Name"] = message.params.get("name")
    for name, value in said.items():
        if headers.get(name) != value:
            raise RpcError(Code.HEADER_MISMATCH, f"The header {name} is not what the request says")


def respond(body: dict[str, Any], status: HTTPStatus = HTTPStatus.OK) -> HttpResponse:
    """Return a message as a response, which isn't cached."""
    return JsonResponse(body, status=status, headers=NOT_STORED)
