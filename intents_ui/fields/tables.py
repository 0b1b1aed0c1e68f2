"""All fields of an intent and its receipt as labeled rows (docs/contract.md#objects), in sections.

Driven by the models, so a new field appears here automatically. Missing values (None) have no row. Values that
couldn't be parsed have a row that says so. labels.json has the labels of those whose name would be unclear.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, get_args

from pydantic.fields import FieldInfo

from intents_ui.fields import values
from intents_ui.fields.values import Cell, Owner
from intents_ui.service.fields import Model
from intents_ui.service.models import Intent, IntentReceipt
from intents_ui.tables import read
from intents_ui.transfers.transfer import Transfer

LABELS: Mapping[str, Mapping[str, str]] = read(__package__, "labels.json")
# Limits the page, however much the service sends.
MAX_PARTS = 50
# In page order. The paths of the groups, as in `FieldGroup`. Fields without a section belong to their object's record.
SECTIONS = (
    ("Quote", ("intent.quote", "intent.quote_request")),
    ("Fees", ("intent.fees",)),
    ("Calls", ("intent.origin_calls", "intent.destination_calls", "intent.calls")),
    ("Preconditions", ("intent.origin_precondition", "intent.destination_precondition", "intent.preconditions")),
    ("Meta transactions", ("intent.origin_meta_txn", "intent.destination_meta_txn", "intent.meta_txns")),
    ("Contracts", ("intent.service_contracts",)),
    (
        "Transactions",
        (
            "intent.deposit_transaction",
            "receipt.deposit_transaction",
            "receipt.origin_transaction",
            "receipt.destination_transaction",
            "receipt.refund_transaction",
        ),
    ),
    ("Intent and receipt", ("intent", "receipt")),
)


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


def sections(transfer: Transfer) -> list[tuple[str, list[FieldGroup]]]:
    """Return the titles and groups of the non-empty sections. Each group is in the first that names it or an enclosing
    object.
    """
    found, left = [], groups(transfer)
    for title, paths in SECTIONS:
        own = [each for each in left if any(f"{each.path}.".startswith(f"{path}.") for path in paths)]
        left = [group for group in left if group not in own]
        if own:
            found.append((title, own))
    return found


def groups(transfer: Transfer) -> list[FieldGroup]:
    """Return the intent's groups, then the receipt's, in the order of their fields."""
    reader = _FieldReader(transfer)
    found: list[FieldGroup] = []
    for name, model in (("intent", transfer.intent), ("receipt", transfer.receipt)):
        if model:
            found += reader.read(model, Owner(model), path=name, title=_label("objects", name))
    return found


@dataclass
class _FieldReader:
    transfer: Transfer
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
        for name, info in type(model).model_fields.items():
            label, value = _label("fields", name), getattr(model, name)
            if name in model.unreadable:
                cell = values.unreadable(model.unreadable[name], is_number=is_number(info))
                yield FieldRow(str(info.alias), label, cell)
            if value is not None and value != () and not _is_object(value):
                cell = values.cell(name, value, owner=owner, transfer=self.transfer)
                yield FieldRow(str(info.alias), label, cell)


def _parts(model: Model, title: str) -> Iterator[tuple[str, str, Model | None]]:
    """Return the nested objects, of a list the first ones. The raw JSON has the others."""
    for name in type(model).model_fields:
        value = getattr(model, name)
        if isinstance(value, Model):
            yield name, _part_title(name, inside=type(model), title=title), value
        elif _is_object(value):
            part_title = _part_title(name, inside=type(model), title=title)
            for number, part in enumerate(value[:MAX_PARTS], start=1):
                yield f"{name}.{number}", f"{part_title} {number}", part
            if len(value) > MAX_PARTS:
                yield name, f"{part_title}: {len(value) - MAX_PARTS} more, in the raw JSON", None


def _part_title(name: str, *, inside: type[Model], title: str) -> str:
    """Return the title of a nested object. Below the top level it includes the parent's title."""
    if name == "deposit_transaction":
        return "Deposit (transaction)" if issubclass(inside, IntentReceipt) else "Deposit to make"
    own = _label("objects", name)
    if name == "calls" and not issubclass(inside, Intent):
        return f"{title}: call"
    return own if issubclass(inside, Intent | IntentReceipt) else f"{title}: {own[0].lower()}{own[1:]}"


def _label(kind: str, name: str) -> str:
    """Return `Route providers fee USD` for `route_providers_fee_usd`, unless labels.json has a label."""
    if name in LABELS[kind]:
        return LABELS[kind][name]
    known = [LABELS["words"].get(word, word) for word in name.split("_")]
    if known[-1] in ("id", "at") and len(known) > 1:
        known.pop()
    text = " ".join(known)
    return text[0].upper() + text[1:]


def is_number(info: FieldInfo) -> bool:
    """Return whether a field has an integer or a decimal."""
    return not {int, Decimal}.isdisjoint(_types_in(info.annotation))


def _types_in(annotation: Any) -> set[Any]:
    inner = get_args(annotation)
    return set().union(*map(_types_in, inner)) if inner else {annotation}


def _is_object(value: object) -> bool:
    return isinstance(value, Model) or (isinstance(value, tuple) and bool(value) and isinstance(value[0], Model))
