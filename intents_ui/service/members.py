"""A request taken apart into what can be typed in one place each, and put together again as JSON.

Nothing is refused: what is no number where a number belongs is written as the text that it is, for the service to
judge.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from intents_ui.service import json_text
from intents_ui.service.brand import Brand
from intents_ui.service.json_text import Verbatim
from intents_ui.service.requests import ABOUT, NEEDED, WORDS, Known
from intents_ui.service.scalars import read_text
from intents_ui.service.tolerance import Wire
from intents_ui.service.wire import Intent, QuoteIntentRequest

WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,199})", re.ASCII)
NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,199})(\.[0-9]{1,199})?([eE][+-]?[0-9]{1,9})?", re.ASCII)
SEPARATORS = re.compile(r"[\s,]+")


class Kind(StrEnum):
    """How a member is written, and what is typed for it."""

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
        """Typed as JSON, and sent as it is typed."""
        return self in (Kind.OBJECT, Kind.OBJECTS)


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a request, down to what can be typed in one place; `name` is interface.md's, with dots inside."""

    name: str
    kind: Kind
    about: str
    is_required: bool = False
    words: tuple[str, ...] = ()

    @property
    def path(self) -> list[str]:
        return self.name.split(".")

    def under(self, names: Brand) -> str:
        """Its name as the maker writes it."""
        return ".".join(name for each in self.path for name in names.write({each: None}))


def members(model: type[Wire]) -> tuple[Member, ...]:
    """What a request of this model can hold, in its order. Objects are taken apart, but for intents; lists are not."""
    return tuple(_members(model, inside=""))


def written(known: Iterable[Member], typed: Mapping[str, str], *, names: Brand) -> str:
    """The request with these members, under the maker's names. What is not typed, or blank, is not there."""
    document: dict[str, Any] = {}
    for member in known:
        if text := typed.get(member.name, "").strip():
            *outer, last = member.path
            place = document
            for name in outer:
                place = place.setdefault(name, {})
            place[last] = _value(member.kind, text)
    return json_text.write(names.write(document)).decode()


def typed(known: Iterable[Member], request: str, *, names: Brand) -> dict[str, str]:
    """The other way round: what would have to be typed for a request, as far as it can be read."""
    try:
        json_text.read(request)
    except ValueError:
        return {}
    found = ((member.name, _found(request, member.path, names)) for member in known)
    return {name: _typed(text) for name, text in found if text is not None}


def _found(text: str, path: list[str], names: Brand) -> str | None:
    """The exact text of a member at some depth."""
    for name in path:
        if not text.lstrip().startswith("{"):
            return None
        (theirs,) = names.write({name: None})
        inside = json_text.members(text)
        if theirs not in inside:
            return None
        text = inside[theirs]
    return text


def _typed(text: str) -> str:
    value = json_text.read(text)
    if isinstance(value, str):
        return read_text(value)
    if isinstance(value, list) and not any(isinstance(each, dict | list) for each in value):
        return ", ".join(read_text(each) if isinstance(each, str) else json.dumps(each, default=str) for each in value)
    return text


def _members(model: type[Wire], *, inside: str) -> Iterator[Member]:
    for field in model.model_fields.values():
        name = f"{inside}{field.alias}"
        annotation, known = _unwrapped(field)
        if isinstance(annotation, type) and issubclass(annotation, Wire) and annotation is not Intent:
            yield from _members(annotation, inside=f"{name}.")
            continue
        known = known or WORDS.get(name)
        yield Member(
            name,
            _kind(annotation),
            field.description or ABOUT[name],
            is_required=field.is_required() or (model is QuoteIntentRequest and name in NEEDED),
            words=known.words if known else (),
        )


def _unwrapped(field: FieldInfo) -> tuple[Any, Known | None]:
    """The type of a field that may be left out, and the words that it is known to take."""
    known = next((each for each in field.metadata if isinstance(each, Known)), None)
    annotation: Any = field.annotation
    if get_origin(annotation) in (Union, UnionType):
        annotation = next(each for each in get_args(annotation) if each is not NoneType)
    return annotation, known


_SCALARS: Mapping[Any, Kind] = {str: Kind.TEXT, int: Kind.WHOLE, Decimal: Kind.FIGURE, bool: Kind.FLAG}
_LISTS: Mapping[Any, Kind] = {str: Kind.TEXTS, int: Kind.WHOLES}


def _kind(annotation: Any) -> Kind:
    if get_origin(annotation) is tuple:
        return _LISTS.get(_bare(get_args(annotation)[0]), Kind.OBJECTS)
    return _SCALARS.get(_bare(annotation), Kind.OBJECT)


def _bare(annotation: Any) -> Any:
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation


def _value(kind: Kind, text: str) -> Any:
    match kind:
        case Kind.WHOLE | Kind.FIGURE:
            return _number(text)
        case Kind.FLAG:
            return {"true": True, "false": False}.get(text, text)
        case Kind.TEXTS:
            return _listed(text)
        case Kind.WHOLES:
            return [_number(each) for each in _listed(text)]
        case Kind.OBJECT | Kind.OBJECTS:
            return Verbatim(text)
        case Kind.TEXT:
            return text


def _number(text: str) -> Any:
    """A whole number goes as all calls write it; one with a point or an exponent as it was typed; else it is a text."""
    if WHOLE.fullmatch(text):
        return int(text)
    return Verbatim(text) if NUMBER.fullmatch(text) else text


def _listed(text: str) -> list[str]:
    return [each for each in SEPARATORS.split(text) if each]
