"""How an object of the service is read although some of its members cannot be (design.md section 5)."""

import json
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

from intents_ui.service import json_text
from intents_ui.service.scalars import read_text

UNREADABLE_TEXT = 100  # characters that are kept of a value that cannot be read
LONGEST_LIST = 20_000  # entries of a list that are read; the others count as unreadable


NOTHING: Mapping[str, str] = MappingProxyType({})
# Which members were there is for nobody to know, and would be a third of what an object takes.
UNASKED: set[str] = set()


@dataclass(frozen=True, slots=True)
class _Faults:
    """By field name the text that could not be read, and how many entries of lists."""

    unreadable: Mapping[str, str]
    entries: int


class Wire(BaseModel):
    """An object of the service. A member that cannot be read never breaks its object."""

    model_config = ConfigDict(
        frozen=True, extra="ignore", alias_generator=to_camel, validate_by_name=True, validate_by_alias=True
    )

    # Members without which the object says nothing; when one cannot be read, neither can the object.
    essential: ClassVar[frozenset[str]] = frozenset()

    @property
    def unreadable(self) -> Mapping[str, str]:
        """By field name: the first 100 characters of what was received and could not be read."""
        faults = self._noted("faults")
        return faults.unreadable if faults else NOTHING

    @property
    def unreadable_entries(self) -> int:
        """How many entries of this object's lists are left out: they could not be read, or don't meet the filter."""
        faults = self._noted("faults")
        return (faults.entries if faults else 0) + self.unfit_entries

    @property
    def unfit_entries(self) -> int:
        """How many entries of this list don't meet the filter that it was asked with, and are left out."""
        return int(self._noted("unfit") or 0)

    # Beside the fields, where no key on the wire comes to. A private attribute of pydantic's costs each object a
    # call, and an answer has hundreds of objects.
    def _note(self, what: str, note: Any) -> None:
        self.__dict__[f" {what}"] = note

    def _noted(self, what: str) -> Any:
        return self.__dict__.get(f" {what}")

    @classmethod
    def model_validate(cls, obj: Any, **how: Any) -> Self:
        """The object of a document: its members go by their names on the wire alone. Ours are for constructors."""
        return super().model_validate(obj, **{"by_alias": True, "by_name": False} | how)

    @model_validator(mode="wrap")
    @classmethod
    def _tolerate(cls, value: Any, handler: ModelWrapValidatorHandler[Self], info: ValidationInfo) -> Self:
        if not isinstance(value, Mapping):
            return handler(value)
        # An object is read again when a neighbour of its had a fault; without this, twice as often with each level.
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
        """The members without those that failed; of a list, without the entries that failed."""
        names = {field.alias: name for name, field in cls.model_fields.items()}
        readable, unreadable, bad_entries = dict(members), dict[str, str](), dict[str, set[int]]()
        for problem in error.errors(include_url=False, include_context=False, include_input=False):
            alias, *inner = problem["loc"]
            name = names[str(alias)]
            key = str(alias) if alias in members else name
            if key not in members or (name in cls.essential and not inner):
                continue  # missing or indispensable: the second reading says so
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
        """With the entries that were not even looked at, of lists that are ours."""
        names = {field.alias: name for name, field in cls.model_fields.items()}
        ours = {names[key]: count for key, count in counts.items() if key in names}
        if not ours:
            return others
        unreadable = {name: f"{count} more entries" for name, count in ours.items()}
        known, entries = (others.unreadable, others.entries) if others else (NOTHING, 0)
        return _Faults(MappingProxyType({**known, **unreadable}), entries + sum(ours.values()))

    def _settle(self) -> None:
        """For objects that are written in two ways: makes one way of them while they are built."""


class Kept(Wire):
    """An object of which the exact text is kept as well, for those who show it raw or send it back."""

    @property
    def received(self) -> str:
        """The JSON text of this object as it came, byte for byte; "" if it came inside another one."""
        return str(self._noted("received") or "")

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Reads the object from its JSON text. Raises ValueError if the text is not JSON or not such an object."""
        text.encode()  # half a character could be read but never sent back
        return cls.model_validate(json_text.read(text)).keeping(text)

    def keeping(self, text: str) -> Self:
        self._note("received", text)
        return self


def _cut(value: object) -> str:
    if isinstance(value, str):
        return read_text(value[:UNREADABLE_TEXT])
    if isinstance(value, Decimal):
        return str(value)[:UNREADABLE_TEXT]
    try:
        return json.dumps(value, default=str)[:UNREADABLE_TEXT]
    except (ValueError, TypeError, RecursionError):
        return "…"
