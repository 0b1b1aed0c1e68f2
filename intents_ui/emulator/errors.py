"""The service's errors: a `Refusal` has a name from data/errors.json and is sent as a flat error object.

Requests are validated by field: error 2000 for a missing field, -4 for one of the wrong type.
"""

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


_LARGEST = 2**256 - 1
MAX_DIGITS: Final = 78


def required[T](value: T | None, field: str) -> T:
    if value is None or value == "":
        raise Refusal("InvalidArgument", f"{field} is required")
    return value


def text(body: Document, field: str) -> str | None:
    return _typed(body.get(field), str, field, "string")


def words(body: Document, field: str) -> list[str] | None:
    return _entries(body, field, str, "[]string")


def flag(body: Document, field: str) -> bool:
    return bool(_typed(body.get(field), bool, field, "bool"))


def members(body: Document, field: str) -> Document:
    """Return an object, empty if it is missing."""
    return _typed(body.get(field), dict, field, "object") or {}


def objects(body: Document, field: str) -> list[Document]:
    return _entries(body, field, dict, "[]object") or []


def whole(body: Document, field: str) -> int | None:
    """Return an integer given as a number or as a string of digits."""
    return _whole(body.get(field), field)


def wholes(body: Document, field: str) -> list[int] | None:
    found = _typed(body.get(field), list, field, "[]uint64")
    return None if found is None else [required(_whole(each, field), field) for each in found]


def _entries[T](body: Document, field: str, kind: type[T], wanted: str) -> list[T] | None:
    found = _typed(body.get(field), list, field, wanted)
    if found is not None and not all(isinstance(each, kind) for each in found):
        raise _wrong_type(field, wanted, found)
    return found


def _typed[T](value: Any, kind: type[T], field: str, wanted: str) -> T | None:
    if value is not None and not isinstance(value, kind):
        raise _wrong_type(field, wanted, value)
    return value


def _whole(value: Any, field: str) -> int | None:
    if value is None or value == "":
        return None
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= MAX_DIGITS:
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) > _LARGEST:
        raise _wrong_type(field, "uint64", value)
    return value


def _wrong_type(field: str, wanted: str, value: Any) -> Refusal:
    kinds = {dict: "object", list: "array", str: "string", bool: "bool"}
    kind = kinds.get(type(value), "number")
    return Refusal(
        "WebrpcBadRequest",
        "failed to unmarshal request data: json: cannot unmarshal"
        f" {kind} into Go struct field .{field} of type {wanted}",
    )
