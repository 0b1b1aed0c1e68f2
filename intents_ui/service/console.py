"""Requests of the thirteen operations with every field, for the API console, from console.json.

They become JSON from the values of a form, and the values from JSON. Nothing is rejected: text in a number field is
sent as text, for the service to validate.

The typed `operations` send only what pages need. Here the descriptions are the console's help texts. GetIntentHistory
has the timeout of balances, because any of its requests can include balances, which the service reads from chains.
"""

import dataclasses
import json
import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BeforeValidator
from pydantic.dataclasses import dataclass

from intents_ui import tables
from intents_ui.service import decode
from intents_ui.service.decode import Brand, Verbatim
from intents_ui.service.errors import ServiceError
from intents_ui.service.fields import read_text
from intents_ui.service.models import IntentStatus, TransactionStatus
from intents_ui.service.operations import Kind

WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,199})", re.ASCII)
NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,199})(\.[0-9]{1,199})?([eE][+-]?[0-9]{1,9})?", re.ASCII)
SEPARATORS = re.compile(r"[\s,]+")

_TABLE: Mapping[str, Any] = tables.read(__package__, "console.json")
WORDS: Mapping[str, tuple[str, ...]] = _TABLE["words"] | {
    "IntentStatus": tuple(IntentStatus),
    "TransactionStatus": tuple(TransactionStatus),
    "Provider": ("AUTO", *_TABLE["words"]["RouteProvider"]),
}


class JsonFieldKind(StrEnum):
    """Type of a field: how it is serialized and edited."""

    TEXT = "string"
    WHOLE = "integer"
    FIGURE = "number"
    FLAG = "boolean"
    TEXTS = "string[]"
    WHOLES = "integer[]"
    OBJECT = "object"
    OBJECTS = "object[]"

    @property
    def is_json(self) -> bool:
        return self in (JsonFieldKind.OBJECT, JsonFieldKind.OBJECTS)


@dataclass(frozen=True, slots=True)
class Member:
    """Form field of a request. `name` is its path in the API's schema, separated by dots.

    `words` are the documented values, by their name in WORDS. The service may accept others.
    """

    name: str
    kind: JsonFieldKind
    about: str
    is_required: bool = False
    words: Annotated[tuple[str, ...], BeforeValidator(WORDS.get)] = ()

    @property
    def path(self) -> list[str]:
        return self.name.split(".")

    def under(self, names: Brand) -> str:
        """Return the field's name with the operator's brand."""
        return ".".join(name for each in self.path for name in names.write({each: None}))


@dataclass(frozen=True, slots=True)
class Operation:
    """Operation of the API console. `is_write` if it creates or executes something, with that as the `consequence`."""

    name: str
    about: str
    kind: Kind
    members: tuple[Member, ...]
    consequence: str = ""

    @property
    def is_write(self) -> bool:
        return self.kind is Kind.WRITE


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """Result of a raw call.

    `error` is the service's error or the reason why there is no response. Without a response, `status` is None and
    `text` is empty. `size` (decoded) and `wire_size` (as received) are in bytes. `seconds` runs until the last byte.
    The access key is masked everywhere.
    """

    operation: str
    sent: str
    request_id: str
    seconds: float
    status: int | None = None
    text: str = ""
    size: int = 0
    wire_size: int = 0
    headers: Mapping[str, str]
    error: ServiceError | None = None


# In the order of the API's documentation.
OPERATIONS: Mapping[str, Operation] = {name: Operation(name, **row) for name, row in _TABLE["operations"].items()}


def written(known: Iterable[Member], typed: Mapping[str, str], *, names: Brand) -> str:
    """Return the request as JSON, with the operator's field names. Blank fields are omitted."""
    document: dict[str, Any] = {}
    for member in known:
        if text := typed.get(member.name, "").strip():
            *outer, last = member.path
            place = document
            for name in outer:
                place = place.setdefault(name, {})
            place[last] = _value(member.kind, text)
    return decode.write(names.write(document)).decode()


def typed(known: Iterable[Member], request: str, *, names: Brand) -> dict[str, str]:
    """Return the form values of a request, the inverse of `written`. Fields that can't be parsed are omitted."""
    try:
        decode.read(request)
    except ValueError:
        return {}
    found = ((member.name, _found(request, member.path, names)) for member in known)
    return {name: _typed(text) for name, text in found if text is not None}


def _found(text: str, path: list[str], names: Brand) -> str | None:
    """Return the exact JSON text of a nested field, or None."""
    for name in path:
        if not text.lstrip().startswith("{"):
            return None
        (theirs,) = names.write({name: None})
        inside = decode.members(text)
        if theirs not in inside:
            return None
        text = inside[theirs]
    return text


def _typed(text: str) -> str:
    value = decode.read(text)
    if isinstance(value, str):
        return read_text(value)
    if isinstance(value, list) and not any(isinstance(each, dict | list) for each in value):
        return ", ".join(read_text(each) if isinstance(each, str) else json.dumps(each, default=str) for each in value)
    return text


def _value(kind: JsonFieldKind, text: str) -> Any:
    match kind:
        case JsonFieldKind.WHOLE | JsonFieldKind.FIGURE:
            return _number(text)
        case JsonFieldKind.FLAG:
            return {"true": True, "false": False}.get(text, text)
        case JsonFieldKind.TEXTS:
            return _listed(text)
        case JsonFieldKind.WHOLES:
            return [_number(each) for each in _listed(text)]
        case JsonFieldKind.OBJECT | JsonFieldKind.OBJECTS:
            return Verbatim(text)
        case JsonFieldKind.TEXT:
            return text


def _number(text: str) -> Any:
    """Return an integer as int, a number with a point or an exponent verbatim, and anything else as text."""
    if WHOLE.fullmatch(text):
        return int(text)
    return Verbatim(text) if NUMBER.fullmatch(text) else text


def _listed(text: str) -> list[str]:
    return [each for each in SEPARATORS.split(text) if each]
