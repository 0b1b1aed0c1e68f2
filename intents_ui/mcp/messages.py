"""Messages of JSON-RPC 2.0: a request or a notification, and its response."""

from enum import IntEnum
from http import HTTPStatus
from typing import Any, Final, Literal

from pydantic import BaseModel, StrictInt, StrictStr

type Id = int | str | None


class Code(IntEnum):
    """Error codes: those of JSON-RPC, one of the protocol, and one of ours."""

    PARSE_ERROR = -32700
    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    INTERNAL_ERROR = -32603
    UNSUPPORTED_VERSION = -32022
    RETRY_LATER = -32005


LATER: Final = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)


class Message(BaseModel):
    """A request, or without an `id` a notification, which has no response."""

    jsonrpc: Literal["2.0"]
    method: str
    id: StrictInt | StrictStr = ""
    params: dict[str, Any] = {}

    @property
    def is_notification(self) -> bool:
        return "id" not in self.model_fields_set


class RpcError(Exception):
    """A request that has an error instead of a result."""

    def __init__(self, code: Code, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


class Unanswered(Exception):
    """A tool has no answer, and why, for who called it."""


def result(request_id: Id, found: dict[str, Any]) -> dict[str, Any]:
    """Return the response of a request that succeeded."""
    return {"jsonrpc": "2.0", "id": request_id, "result": found}


def error(request_id: Id, code: Code, sentence: str, data: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the response of a request that failed. The ID is None if the request couldn't be read."""
    told = {"code": code.value, "message": sentence} | ({"data": data} if data else {})
    return {"jsonrpc": "2.0", "id": request_id, "error": told}


def code_of(status: HTTPStatus) -> Code:
    """Return the code of a request that was rejected with this status before it reached a method."""
    if status in LATER:
        return Code.RETRY_LATER
    return Code.INTERNAL_ERROR if status.is_server_error else Code.INVALID_REQUEST
