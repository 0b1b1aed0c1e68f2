"""Lenient parsing: a response object stays usable if some of its fields are invalid.

An object is a view of its JSON object. A field is parsed and stored on first access, because a page reads a fraction of
a response's fields. Fields without which the object is meaningless are parsed when it is built.
"""

import inspect
import json
import logging
from collections.abc import Callable, Mapping
from decimal import Decimal
from types import MappingProxyType, NoneType
from typing import Annotated, Any, ClassVar, Never, Self, cast, dataclass_transform, get_args, get_origin

from intents_ui.service import decode
from intents_ui.service.wire.scalars import read_text

UNREADABLE_TEXT = 100  # characters of an invalid value to store
LONGEST_LIST = 20_000  # entries of a list to parse. The rest count as unreadable

_REQUIRED = object()  # the default of a field without one


class MissingField(ValueError):
    """An object lacks a field, or has an invalid value in it, without which it is meaningless."""

    def __init__(self, field: str) -> None:
        super().__init__(f"{field} is missing or invalid")
        self.field = field


class Field:
    """A field of a response object: a descriptor that parses the value on first access.

    It stores the value in the object's `__dict__`, where Python finds it on later accesses. `alias` is the field's name
    in JSON, `annotation` its type. `fallback` returns the value of an object that has none under this name.
    `is_refused` returns whether a received value is invalid in its object.
    """

    def __init__(self, name: str, annotation: Any, default: Any, *, is_essential: bool) -> None:
        self.name = name
        self.alias = _camel_case(name)
        self.annotation = annotation
        self.default = default
        self.is_required = default is _REQUIRED
        self.fallback: Callable[[Any], Any] | None = None
        self.is_refused: Callable[[Any, Any], bool] | None = None
        self._is_essential = is_essential or self.is_required
        self._is_list = get_origin(annotation) is tuple
        self._parse = _parser(annotation)
        self.is_immediate = self._is_essential or getattr(self._parse, "is_immediate", False)

    def __get__(self, wire: "Wire | None", owner: type | None = None) -> Any:
        if wire is None:
            return self
        value = wire.document.get(self.alias)
        if value is None or value == "":
            if self.is_required:
                raise MissingField(self.alias)
            found = self.default
        elif self._is_list or type(value) is list:
            found = self._parse_list(wire, value)
        elif self.is_refused and self.is_refused(wire, value):
            found = self._invalid(wire, value)
        else:
            try:
                found = self._parse(value)
            except ValueError:
                found = self._invalid(wire, value)
        if found is None and self.fallback:
            found = self.fallback(wire)
        # Two threads may parse the field, but both get the same object.
        return wire.__dict__.setdefault(self.name, found)

    def _invalid(self, wire: "Wire", value: Any) -> Any:
        if self._is_essential:
            raise MissingField(self.alias) from None
        wire.add_fault(self.name, _cut(value), 0)
        return self.default

    def _parse_list(self, wire: "Wire", value: Any) -> Any:
        more = len(value) - LONGEST_LIST if type(value) is list else 0
        if more > 0:
            value = value[:LONGEST_LIST]
        if not self._is_list or not isinstance(value, list | tuple):
            found, bad = self._invalid(wire, value), 0
        else:
            found, bad = self._parse_entries(wire, value)
        if more > 0:
            wire.add_fault(self.name, f"{more} more entries", bad + more)
        return found

    def _parse_entries(self, wire: "Wire", value: list[Any] | tuple[Any, ...]) -> tuple[tuple[Any, ...], int]:
        """Return the valid entries and the number of the others."""
        found, bad = [], []
        for entry in value:
            try:
                found.append(self._parse(entry))
            except ValueError:
                bad.append(entry)
        if bad:
            wire.add_fault(self.name, _cut(bad[0]), len(bad))
        return tuple(found), len(bad)


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Wire:
    """Response object. An invalid field never invalidates the object.

    Subclasses declare fields by annotations whose types carry their parsers (`scalars`). The object is immutable for
    its users. `document` is the JSON object, with the schema's field names.
    """

    # The document is in a slot, and notes are in `__dict__` under keys that can't clash with fields.
    __slots__ = ("__dict__", "__weakref__", "document")

    document: Mapping[str, Any]
    fields: ClassVar[Mapping[str, Field]] = MappingProxyType({})

    # Fields without which the object is meaningless: if one is invalid, so is the object.
    essential: ClassVar[frozenset[str]] = frozenset()
    # `Field.fallback` and `Field.is_refused` by field name.
    fallbacks: ClassVar[Mapping[str, Callable[[Any], Any]]] = MappingProxyType({})
    refusals: ClassVar[Mapping[str, Callable[[Any, Any], bool]]] = MappingProxyType({})

    _immediate: ClassVar[tuple[Field, ...]] = ()

    def __init_subclass__(cls) -> None:
        fields = dict(cls.fields)
        for name, annotation in inspect.get_annotations(cls).items():
            kind: object = get_origin(annotation)
            if kind is not ClassVar:
                default = cls.__dict__.get(name, _REQUIRED)
                fields[name] = Field(name, annotation, default, is_essential=name in cls.essential)
                setattr(cls, name, fields[name])
        for name, fallback in cls.fallbacks.items():
            fields[name].fallback = fallback
        for name, is_refused in cls.refusals.items():
            fields[name].is_refused = is_refused
        cls.fields = MappingProxyType(fields)
        cls._immediate = tuple(field for field in fields.values() if field.is_immediate)

    def __init__(self, **values: Any) -> None:
        """Build an object from values by their Python names. Invalid ones are treated like received ones."""
        fields = self.fields
        self._view({fields[name].alias: value for name, value in values.items() if name in fields})

    @classmethod
    def with_fields_of(cls, other: "Wire", *names: str) -> Self:
        """Return an object with these fields of another one, which are not parsed again."""
        values = {name: getattr(other, name) for name in names}
        made = cls.__new__(cls)
        _set_document(made, {cls.fields[name].alias: value for name, value in values.items()})
        made.__dict__.update(values)
        return made

    @classmethod
    def model_validate(cls, value: Any) -> Self:
        """Parse a JSON object. Raises ValueError if it isn't one, or lacks a field that the object needs."""
        if type(value) is dict or isinstance(value, Mapping):  # the first check is much faster, and nearly always true
            found = cls.__new__(cls)
            found._view(value)
            return found
        if isinstance(value, cls):
            return value
        raise ValueError("not an object")

    def _view(self, document: Mapping[str, Any]) -> None:
        _set_document(self, document)
        for field in self._immediate:
            field.__get__(self)

    def __setattr__(self, name: str, value: object) -> Never:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def __delattr__(self, name: str) -> Never:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and (other is self or cast("Self", other).values() == self.values())

    def __repr__(self) -> str:
        given = (f"{name}={value!r}" for name, value in self.values().items() if value not in (None, ()))
        return f"{type(self).__name__}({', '.join(given)})"

    def values(self) -> dict[str, Any]:
        """Return the value of each field."""
        known = self.__dict__
        return {name: known[name] if name in known else field.__get__(self) for name, field in self.fields.items()}

    def model_copy(self, *, update: Mapping[str, Any]) -> Self:
        """Return a copy with other values, which are not parsed."""
        self.values()
        copy = self.__new__(type(self))
        _set_document(copy, {**self.document})
        copy.__dict__.update({**self._without_attachments(), **update})
        return copy

    def _without_attachments(self) -> dict[str, Any]:
        known = self.__dict__.copy()  # in one step, because other threads may parse fields meanwhile
        return {name: value for name, value in known.items() if not name.startswith(ATTACHED)}

    def model_dump(self) -> dict[str, Any]:
        """Return the object as a JSON object, without empty fields."""
        given = {self.fields[name].alias: value for name, value in self.values().items() if value not in (None, ())}
        return {alias: _dumped(value) for alias, value in given.items()}

    @property
    def unreadable(self) -> Mapping[str, str]:
        """The first 100 characters of each invalid value, by field name."""
        faults = self._faults()
        return {name: faults[name][0] for name in self.fields if name in faults} if faults else NOTHING

    @property
    def unreadable_entries(self) -> int:
        """Number of list entries left out because they are invalid or don't match the filter."""
        return sum(entries for _, entries in self._faults().values()) + self.unfit_entries

    @property
    def unfit_entries(self) -> int:
        """Number of list entries left out because they don't match the request's filter."""
        return int(self._noted("unfit") or 0)

    def _faults(self) -> Mapping[str, tuple[str, int]]:
        self.values()  # finds all of them
        return self._noted("faults") or {}

    def add_fault(self, name: str, text: str, entries: int) -> None:
        """Record an invalid value of a field, with the number of list entries left out."""
        self.__dict__.setdefault(" faults", {})[name] = text, entries

    def attach(self, name: str, derived: Any) -> None:
        """Keep something that was derived from this object as long as the object lives, in place of an earlier one."""
        self.__dict__[ATTACHED + name] = derived

    def attached(self, name: str) -> Any:
        """Return what was attached under this name, or None."""
        return self.__dict__.get(ATTACHED + name)

    def _note(self, what: str, note: Any) -> None:
        self.__dict__[f" {what}"] = note

    def _noted(self, what: str) -> Any:
        return self.__dict__.get(f" {what}")


ATTACHED = " attached "  # prefix of notes
NOTHING: Mapping[str, str] = MappingProxyType({})
_set_document = Wire.__dict__["document"].__set__  # the class's own `__setattr__` refuses


class Kept(Wire):
    """Object that also stores its exact JSON text, to show it raw or send it back."""

    @property
    def received(self) -> str:
        """The object's JSON text as received, byte for byte, or "" if it isn't known."""
        return str(self._noted("received") or "")

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Parse an object from JSON text. Raises ValueError if it is invalid."""
        text.encode()  # rejects lone surrogates, which could be parsed but not sent back
        return cls.model_validate(decode.read(text)).keeping(text)

    def keeping(self, text: str) -> Self:
        self._note("received", text)
        return self

    def lean(self) -> Self:
        """Drop the JSON object, which takes many times its text. Fields that were not read until now read as empty."""
        _set_document(self, NOTHING)
        return self

    def twin(self) -> Self:
        """Return another object of the same JSON object, without what is attached to this one."""
        twin = self.__new__(type(self))
        _set_document(twin, self.document)
        twin.__dict__.update(self._without_attachments())
        return twin


def _parser(annotation: Any) -> Callable[[Any], Any]:
    """Return the function that parses a value of this type, of a list's type an entry."""
    if get_origin(annotation) is Annotated:
        return cast("Callable[[Any], Any]", annotation.__metadata__[0])
    if isinstance(annotation, type) and issubclass(annotation, Wire):
        return annotation.model_validate
    return next(_parser(inner) for inner in get_args(annotation) if inner is not NoneType)


def _camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def _dumped(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_dumped(entry) for entry in value]
    return value.model_dump() if isinstance(value, Wire) else value


def _cut(value: object) -> str:
    if isinstance(value, str):
        return read_text(value[:UNREADABLE_TEXT])
    if isinstance(value, Decimal):
        return str(value)[:UNREADABLE_TEXT]
    return json.dumps(value, default=str)[:UNREADABLE_TEXT]


LONGEST_WORD = 40

log = logging.getLogger(__name__)


def log_unknown(kind: str, word: str) -> None:
    """Log an unknown status of this kind of object."""
    log.warning("Unknown value of %s from the service: %r", kind, word[:LONGEST_WORD], extra={"once": True})
