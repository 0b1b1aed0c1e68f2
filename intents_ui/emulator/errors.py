"""The service's errors, and the check of requests that finds most of them.

A `Refusal` has a name from data/errors.json and is sent as a flat error object.
"""

import re
from dataclasses import dataclass
from typing import Any, Final

from intents_ui.emulator import documents
from intents_ui.emulator.documents import Document

TABLE: Final = {row["code"]: row for row in documents.table("errors.json")}
_BY_NAME: Final = {row["name"]: row for row in TABLE.values()}


class Refusal(Exception):
    """An error response, by its name. `cause` names the field of the request, or the intent, that caused it."""

    def __init__(self, name: str, cause: str = "") -> None:
        super().__init__(f"{name} {cause}")
        row = _BY_NAME[name]
        self.status: int = row["status"]
        self.envelope = {"error": name, "code": row["code"], "msg": row["msg"]}
        self.envelope |= ({"cause": cause} if cause else {}) | {"status": self.status}


@dataclass(frozen=True, slots=True)
class Ask:
    """One request: its body, its time, and the faults that are on."""

    body: Document
    now: int
    faults: frozenset[str] = frozenset()


_FIELDS: Final = documents.table("request_fields.json")
_TYPES: Final = {field: name for name, fields in _FIELDS["types"].items() for field in fields}
_CLASSES: Final[dict[str, type[Any]]] = {"string": str, "uint64": int, "bool": bool, "object": dict, "array": list}
_LARGEST: Final = 2**256 - 1
_DIGITS: Final = re.compile(r"[0-9]{1,78}")


def checked(document: Document, name: str) -> Document:
    """Return the body of an operation's request, or an object in it, without empty fields. Raises Refusal.

    Error 2000 for a missing field, -4 for one of the wrong type. An integer may be a string of digits.
    """
    given = {field: value for field, value in document.items() if value not in (None, "", [], {})}
    for field in _FIELDS["required"].get(name, ()):
        if field not in given:
            raise Refusal("InvalidArgument", f"{field} is required")
    return {
        field: _checked(value, _TYPES[field], field) if field in _TYPES else value for field, value in given.items()
    }


def _checked(value: Any, wanted: str, field: str) -> Any:
    if wanted.startswith("[]") and isinstance(value, list):
        return [_checked(each, wanted[2:], field) for each in value]
    if wanted == "uint64" and isinstance(value, str) and _DIGITS.fullmatch(value):
        value = int(value)
    if type(value) is not _CLASSES.get(wanted) or (wanted == "uint64" and abs(value) > _LARGEST):
        kind = next((name for name, found in _CLASSES.items() if name != "uint64" and type(value) is found), "number")
        raise Refusal(
            "WebrpcBadRequest",
            "failed to unmarshal request data: json: cannot unmarshal"
            f" {kind} into Go struct field .{field} of type {wanted}",
        )
    return checked(value, field) if wanted == "object" else value
