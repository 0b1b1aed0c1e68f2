"""All fields of an intent and its receipt as labeled rows (docs/contract.md#objects).

Driven by the models, so a new field appears here automatically. Missing values (None) have no row. Values that
couldn't be parsed have a row that says so.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, get_args

from pydantic.fields import FieldInfo

from intents_ui.display.fields import labels, values
from intents_ui.display.fields.values import Cell, Owner, ValueKind
from intents_ui.display.tokens.names import Names
from intents_ui.display.transfers.situation import Situation
from intents_ui.display.transfers.transfer_data import Facts
from intents_ui.service.fields import Model

# Limits the page, however much the service sends.
MOST_PARTS = 50


@dataclass(frozen=True)
class FieldRow:
    """A field. `name` is its API name, `label` its label."""

    name: str
    label: str
    cell: Cell


@dataclass(frozen=True)
class FieldGroup:
    """The rows of one object. `path` identifies it in links: `intent.quote.price_impact_details`."""

    path: str
    title: str
    rows: tuple[FieldRow, ...]


@dataclass
class _FieldReader:
    facts: Facts
    using: Names
    # An intent's alias fields repeat the same objects.
    seen: set[int] = field(default_factory=set)

    def read(self, model: Model, owner: Owner, *, path: str, title: str) -> Iterator[FieldGroup]:
        """Return the object's own rows, then those of nested objects, each in its own group."""
        self.seen.add(id(model))
        rows = tuple(self._rows(model, owner))
        if rows:
            yield FieldGroup(path, title, rows)
        for name, part_title, part in _parts(model, title):
            if part is None:
                yield FieldGroup(f"{path}.{name}", part_title, ())
            elif id(part) not in self.seen:
                yield from self.read(part, owner.inside(part), path=f"{path}.{name}", title=part_title)

    def _rows(self, model: Model, owner: Owner) -> Iterator[FieldRow]:
        unreadable = model.unreadable
        for name, info in type(model).model_fields.items():
            if name in unreadable:
                yield FieldRow(
                    str(info.alias), labels.field(name), values.unreadable(unreadable[name], is_number=is_number(info))
                )
            value = getattr(model, name)
            if value is not None and value != () and not _is_object(value):
                cell = values.cell(type(model), name, value, owner=owner, facts=self.facts, using=self.using)
                yield FieldRow(str(info.alias), labels.field(name), cell)


def groups(situation: Situation) -> tuple[FieldGroup, ...]:
    """Return the intent's groups, then the receipt's, in the order of their fields."""
    reader = _FieldReader(situation.facts, situation.names)
    found: list[FieldGroup] = []
    for name, model in (("intent", situation.intent), ("receipt", situation.receipt)):
        if model:
            found += reader.read(model, Owner(model), path=name, title=labels.title(name))
    return tuple(found)


def _parts(model: Model, title: str) -> Iterator[tuple[str, str, Model | None]]:
    """Return the nested objects, of a list the first ones. The raw JSON has the others."""
    for name in type(model).model_fields:
        value = getattr(model, name)
        if isinstance(value, Model):
            yield name, labels.part(name, inside=type(model), title=title), value
        elif _is_object(value):
            part_title = labels.part(name, inside=type(model), title=title)
            for number, part in enumerate(value[:MOST_PARTS], start=1):
                yield f"{name}.{number}", f"{part_title} {number}", part
            if len(value) > MOST_PARTS:
                yield name, f"{part_title}: {len(value) - MOST_PARTS} more, in the raw JSON", None


def is_number(info: FieldInfo) -> bool:
    """Return whether a field has an integer or a decimal."""
    return not {int, Decimal}.isdisjoint(_types_in(info.annotation))


def _types_in(annotation: Any) -> set[Any]:
    inner = get_args(annotation)
    return set().union(*map(_types_in, inner)) if inner else {annotation}


def _is_object(value: object) -> bool:
    return isinstance(value, Model) or (isinstance(value, tuple) and bool(value) and isinstance(value[0], Model))


__all__ = ["Cell", "FieldGroup", "FieldRow", "ValueKind", "groups"]
