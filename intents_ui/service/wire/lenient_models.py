"""Lenient parsing: a response object stays usable if some of its fields are invalid."""

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import Any, ClassVar, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    ModelWrapValidatorHandler,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic.alias_generators import to_camel

from intents_ui.service.wire import json_text
from intents_ui.service.wire.scalars import read_text

UNREADABLE_TEXT = 100  # characters of an invalid value to store
LONGEST_LIST = 20_000  # entries of a list to parse. The rest count as unreadable


NOTHING: Mapping[str, str] = MappingProxyType({})
# Shared by all objects instead of pydantic's own set of the fields given, which would take a third of their memory.
UNASKED: set[str] = set()


@dataclass(frozen=True, slots=True)
class _Faults:
    """Invalid values by field name, and the number of invalid list entries."""

    unreadable: Mapping[str, str]
    entries: int


class Wire(BaseModel):
    """Response object. An invalid field never invalidates the object."""

    model_config = ConfigDict(
        frozen=True, extra="ignore", alias_generator=to_camel, validate_by_name=True, validate_by_alias=True
    )

    # Fields without which the object is meaningless: if one is invalid, so is the object.
    essential: ClassVar[frozenset[str]] = frozenset()

    @property
    def unreadable(self) -> Mapping[str, str]:
        """The first 100 characters of each invalid value, by field name."""
        faults = self._noted("faults")
        return faults.unreadable if faults else NOTHING

    @property
    def unreadable_entries(self) -> int:
        """Number of list entries left out because they are invalid or don't match the filter."""
        faults = self._noted("faults")
        return (faults.entries if faults else 0) + self.unfit_entries

    @property
    def unfit_entries(self) -> int:
        """Number of list entries left out because they don't match the request's filter."""
        return int(self._noted("unfit") or 0)

    # Stored beside the fields, under keys that can't clash with them. A private pydantic attribute would cost a call
    # per object, and a response has hundreds of objects.
    def _note(self, what: str, note: Any) -> None:
        self.__dict__[f" {what}"] = note

    def _noted(self, what: str) -> Any:
        return self.__dict__.get(f" {what}")

    @classmethod
    def model_validate(cls, obj: Any, **how: Any) -> Self:
        """Parse a document by its JSON field names only. Python names are for constructors."""
        return super().model_validate(obj, **{"by_alias": True, "by_name": False} | how)

    @model_validator(mode="wrap")
    @classmethod
    def _tolerate(cls, value: Any, handler: ModelWrapValidatorHandler[Self], info: ValidationInfo) -> Self:
        if not isinstance(value, Mapping):
            return handler(value)
        # A sibling's error triggers a second validation pass. Memoize, or the work doubles with each nesting level.
        read: dict[tuple[type, int], Self] = {} if info.context is None else info.context
        if (cls, id(value)) not in read:
            read[cls, id(value)] = cls._read(value, handler)
        return read[cls, id(value)]

    @classmethod
    def _read(cls, value: Mapping[str, Any], handler: ModelWrapValidatorHandler[Self]) -> Self:
        present = value.values()
        members = value
        if None in present or "" in present:
            members = {key: member for key, member in value.items() if member is not None and member != ""}
        too_long = [key for key, member in members.items() if type(member) is list and len(member) > LONGEST_LIST]
        if too_long:
            members = {**members, **{key: members[key][:LONGEST_LIST] for key in too_long}}
        faults = None
        try:
            found = handler(members)
        except ValidationError as error:
            members, faults = cls._without_faults(members, error)
            found = handler(members)
        found._settle()
        object.__setattr__(found, "__pydantic_fields_set__", UNASKED)
        if too_long:
            faults = cls._left_out({key: len(value[key]) - LONGEST_LIST for key in too_long}, faults)
        if faults:
            found._note("faults", faults)
        return found

    @classmethod
    def _without_faults(cls, members: Mapping[str, Any], error: ValidationError) -> tuple[dict[str, Any], "_Faults"]:
        """Return the fields without invalid values, and lists without invalid entries."""
        names = {field.alias: name for name, field in cls.model_fields.items()}
        readable, unreadable, bad_entries = dict(members), dict[str, str](), dict[str, set[int]]()
        for problem in error.errors(include_url=False, include_context=False, include_input=False):
            alias, *inner = problem["loc"]
            name = names[str(alias)]
            key = str(alias) if alias in members else name
            if key not in members or (name in cls.essential and not inner):
                continue  # missing or essential: the second pass raises the error
            if inner and isinstance(inner[0], int) and isinstance(members[key], list | tuple):
                bad_entries.setdefault(key, set()).add(inner[0])
                unreadable.setdefault(name, _cut(members[key][inner[0]]))
            else:
                readable.pop(key, None)
                unreadable[name] = _cut(members[key])
        for key, bad in bad_entries.items():
            readable[key] = [entry for place, entry in enumerate(members[key]) if place not in bad]
        return readable, _Faults(MappingProxyType(unreadable), sum(len(bad) for bad in bad_entries.values()))

    @classmethod
    def _left_out(cls, counts: Mapping[str, int], others: "_Faults | None") -> "_Faults | None":
        """Add the entries beyond the length limit of the lists in this model."""
        names = {field.alias: name for name, field in cls.model_fields.items()}
        ours = {names[key]: count for key, count in counts.items() if key in names}
        if not ours:
            return others
        unreadable = {name: f"{count} more entries" for name, count in ours.items()}
        known, entries = (others.unreadable, others.entries) if others else (NOTHING, 0)
        return _Faults(MappingProxyType({**known, **unreadable}), entries + sum(ours.values()))

    def _settle(self) -> None:
        """Normalize objects that have two notations. Called while the object is being built."""


class Kept(Wire):
    """Object that also stores its exact JSON text, to show it raw or send it back."""

    @property
    def received(self) -> str:
        """The object's JSON text as received, byte for byte, or "" if it was part of another object."""
        return str(self._noted("received") or "")

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Parse an object from JSON text. Raises ValueError if it is invalid."""
        text.encode()  # rejects lone surrogates, which could be parsed but not sent back
        return cls.model_validate(json_text.read(text)).keeping(text)

    def keeping(self, text: str) -> Self:
        self._note("received", text)
        return self


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
