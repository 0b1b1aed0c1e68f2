"""Forms of the API console: the fields of each request, from `requests.toml`.

A request becomes JSON from the values of a form, and the values from JSON. Nothing is rejected: text in a number field
is sent as text, for the service to validate.

GetIntentHistory has the timeout of balances, because any of its requests can include balances, which the service reads
from chains.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from intents_ui import tables
from intents_ui.service import decode
from intents_ui.service.decode import Brand, Verbatim
from intents_ui.service.errors import ServiceError
from intents_ui.service.fields import read_text
from intents_ui.service.operations import Kind

WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,199})", re.ASCII)
NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,199})(\.[0-9]{1,199})?([eE][+-]?[0-9]{1,9})?", re.ASCII)
SEPARATORS = re.compile(r"[\s,]+")


@dataclass(frozen=True, slots=True)
class Member:
    """Form field of a request. `name` is its path in the API's schema, separated by dots.

    `kind` is its JSON type, as `integer` or `string[]`. `words` are the documented values. The service may accept
    others.
    """

    name: str
    kind: str
    about: str
    is_required: bool = False
    words: tuple[str, ...] = ()

    @property
    def is_json(self) -> bool:
        return self.kind in ("object", "object[]")

    def under(self, names: Brand) -> str:
        """Return the field's name with the operator's brand."""
        return ".".join(name for each in self.name.split(".") for name in names.write({each: None}))


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """Result of a raw call.

    `error` is the service's error or the reason why there is no response. Without a response, `status` is None and
    `text` is empty. `size` is in bytes. `seconds` runs until the last byte. The access key is masked everywhere.
    """

    operation: str
    sent: str
    request_id: str
    seconds: float
    status: int | None = None
    text: str = ""
    size: int = 0
    headers: Mapping[str, str]
    error: ServiceError | None = None


def _operations() -> Iterator[Operation]:
    table = tables.read(__package__, "requests.toml")
    words = table.pop("words")
    for name, each in table.items():
        members = tuple(
            Member(
                path, kind.removesuffix("!"), about, kind.endswith("!"), tuple(words.get(path.rpartition(".")[2], ()))
            )
            for path, (kind, about) in each["fields"].items()
        )
        yield Operation(name, each["about"], Kind(each["kind"]), members, each.get("consequence", ""))


OPERATIONS: Mapping[str, Operation] = {each.name: each for each in _operations()}


def written(known: Iterable[Member], typed: Mapping[str, str], *, names: Brand) -> str:
    """Return the request as JSON, with the operator's field names. Blank fields are omitted."""
    document: dict[str, Any] = {}
    for member in known:
        if text := typed.get(member.name, "").strip():
            *outer, last = member.name.split(".")
            place = document
            for name in outer:
                place = place.setdefault(name, {})
            is_list = member.kind in ("string[]", "integer[]")
            listed = [_scalar(member.kind[:-2], each) for each in SEPARATORS.split(text) if each]
            place[last] = listed if is_list else _scalar(member.kind, text)
    return decode.write(names.write(document)).decode()


def _scalar(kind: str, text: str) -> Any:
    """Return an integer as int, other numbers and JSON verbatim, and what isn't of this kind as text."""
    if kind in ("integer", "number"):
        if WHOLE.fullmatch(text):
            return int(text)
        return Verbatim(text) if NUMBER.fullmatch(text) else text
    if kind == "boolean":
        return {"true": True, "false": False}.get(text, text)
    return text if kind == "string" else Verbatim(text)


def typed(known: Iterable[Member], request: str, *, names: Brand) -> dict[str, str]:
    """Return the form values of a request, the inverse of `written`. Fields that can't be parsed are omitted."""
    try:
        decode.read(request)
    except ValueError:
        return {}
    found = ((member.name, _found(request, member.name.split("."), names)) for member in known)
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
