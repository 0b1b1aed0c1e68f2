"""All fields of an intent and its receipt as labeled rows (docs/contract.md#objects), in sections.

Driven by the models, so a new field appears here automatically. Missing values (None) have no row. Values that
couldn't be parsed have a row that says so. fields.toml has their labels, sections and meanings.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any, NamedTuple, get_args

from intents_ui.formatting import amounts, hashes, text, times
from intents_ui.service.fields import Model
from intents_ui.service.models import (
    DepositIntentEntry,
    DepositTransaction,
    GasFee,
    Intent,
    IntentFees,
    IntentReceipt,
    IntentTransaction,
    QuoteIntentRequest,
    TransactionPrecondition,
)
from intents_ui.tables import read
from intents_ui.tokens import names
from intents_ui.tokens.token_amounts import Money
from intents_ui.transfers import statuses
from intents_ui.transfers.transfer import Transfer

NUMERAL = re.compile(r"[+-]?[0-9]+", re.ASCII)
MAX_DATA = 20_000  # characters of a call that are shown
MAX_PARTS = 50  # objects of a list that are shown
NEVER = 2**256 - 1

TABLE: Mapping[str, Mapping[str, Any]] = read(__package__, "fields.toml")
TOKENS = {name: token for token, fields in TABLE["amounts"].items() for name in fields}
KINDS = {name: kind for kind, fields in TABLE["kinds"].items() for name in fields}


class ValueKind(StrEnum):
    """How a page shows a value."""

    AMOUNT = "amount"  # value: Amount
    USD = "usd"  # value: Decimal
    TIME = "time"  # value: datetime
    ADDRESS = "address"  # value: text for the link; `shown` is the full checksummed address
    HASH = "hash"  # value: text of a transaction hash
    ID = "id"  # value: text
    CHAIN = "chain"  # value: int
    CODE = "code"  # an API enum value, `EXACT_INPUT`
    DATA = "data"  # hex
    TEXT = "text"  # any other value, by its text alone
    UNREADABLE = "unreadable"  # the received text
    OUT_OF_RANGE = "out of range"  # the received text of a number that doesn't fit its field


@dataclass(frozen=True)
class Cell:
    """A value. `shown` is sanitized plain text for every kind.

    `chain_id` is the chain of an address or hash, and `who` the role of an address in the transfer, if known.
    """

    kind: ValueKind
    shown: str
    value: object = None
    chain_id: int | None = None
    rest: str = ""
    who: str = ""


class FieldRow(NamedTuple):
    """A field. `name` is its API name, `label` its label."""

    name: str
    label: str
    cell: Cell


class FieldGroup(NamedTuple):
    """The rows of one object. `path` identifies it in links: `intent.quote.price_impact_details`."""

    path: str
    title: str
    rows: tuple[FieldRow, ...]


def sections(transfer: Transfer) -> list[tuple[str, list[FieldGroup]]]:
    """Return the titles and groups of the non-empty sections. Each group is in the first that names it or an enclosing
    object.
    """
    found, left = [], groups(transfer)
    for title, paths in TABLE["sections"].items():
        own = [each for each in left if any(f"{each.path}.".startswith(f"{path}.") for path in paths)]
        left = [group for group in left if group not in own]
        if own:
            found.append((title, own))
    return found


def groups(transfer: Transfer) -> list[FieldGroup]:
    """Return the intent's groups, then the receipt's, in the order of their fields."""
    found: list[FieldGroup] = []
    seen: set[int] = set()  # an intent's alias fields repeat the same objects
    for name, model in (("intent", transfer.intent), ("receipt", transfer.receipt)):
        if model:
            found += _groups(_ObjectReader(transfer, model), seen, path=name, title=_label("objects", name))
    return found


def _groups(reader: "_ObjectReader", seen: set[int], *, path: str, title: str) -> Iterator[FieldGroup]:
    """Yield the object's own rows, then those of nested objects, each in its own group."""
    model = reader.model
    seen.add(id(model))
    if rows := tuple(reader.rows()):
        yield FieldGroup(path, title, rows)
    for name in type(model).model_fields:
        value = getattr(model, name)
        if not _is_object(value):
            continue
        part_title = _part_title(name, inside=type(model), title=title)
        if isinstance(value, Model):
            parts = [(name, part_title, value)]
        else:  # of a list the first ones; the raw JSON has the others
            numbered = enumerate(value[:MAX_PARTS], start=1)
            parts = [(f"{name}.{number}", f"{part_title} {number}", part) for number, part in numbered]
        for place, called, part in parts:
            if id(part) not in seen:
                yield from _groups(
                    _ObjectReader(reader.transfer, part, reader.chain_id), seen, path=f"{path}.{place}", title=called
                )
        if isinstance(value, tuple) and len(value) > MAX_PARTS:
            more = f"{part_title}: {len(value) - MAX_PARTS} more, in the raw JSON"
            yield FieldGroup(f"{path}.{name}", more, ())


@dataclass(frozen=True)
class _ObjectReader:
    """Reads an object's own fields. `chain_outside` is the chain of the enclosing object."""

    transfer: Transfer
    model: Model
    chain_outside: int | None = None

    @property
    def chain_id(self) -> int | None:
        own: int | None = getattr(self.model, "chain_id", None)
        return self.chain_outside if own is None else own

    def rows(self) -> Iterator[FieldRow]:
        for name, info in type(self.model).model_fields.items():
            label, value = _label("fields", name), getattr(self.model, name)
            if name in self.model.unreadable:
                received = self.model.unreadable[name]
                is_number = not {int, Decimal}.isdisjoint(get_args(info.annotation)) and NUMERAL.fullmatch(received)
                kind = ValueKind.OUT_OF_RANGE if is_number else ValueKind.UNREADABLE
                yield FieldRow(str(info.alias), label, Cell(kind, text.visible(received)))
            if value is not None and value != () and not _is_object(value):
                yield FieldRow(str(info.alias), label, self.cell(name, value))

    def cell(self, name: str, value: object) -> Cell:
        """Return a field's cell. Its kind follows from its name if that is specific, otherwise from its type."""
        kind = KINDS.get(name)
        match value:
            case bool():
                return Cell(ValueKind.TEXT, "yes" if value else "no")
            case datetime():
                return Cell(ValueKind.TIME, times.iso(value), value)
            case int() if name == "chain_id" or name.endswith("_chain_id"):
                return Cell(ValueKind.CHAIN, self.transfer.chain_name(value), value)
            case int() if kind == "unix_seconds":
                at = times.since_1970(value)
                return Cell(ValueKind.TEXT, "never") if at is None else Cell(ValueKind.TIME, times.iso(at), at)
            case int() if name == "permit_amount" and value == NEVER:
                return Cell(ValueKind.TEXT, "unlimited")
            case int() if name in TOKENS:
                money = self._money(value, TOKENS[name])
                amount = money.amount if money else amounts.amount(value, decimals=None)
                return Cell(ValueKind.AMOUNT, str(amount), amount)
            case Decimal() if name.endswith("_usd"):
                return Cell(ValueKind.USD, amounts.usd(value), value)
            case Decimal() if kind == "fraction":
                return Cell(ValueKind.TEXT, amounts.fraction(value))
            case Decimal() if name == "price_impact":
                return Cell(ValueKind.TEXT, amounts.percent(value))
            case Decimal() if name == "estimated_duration" and (length := times.seconds(int(value))) is not None:
                return Cell(ValueKind.TEXT, times.duration(length))
            case Decimal():
                return Cell(ValueKind.TEXT, amounts.number(value))
            case tuple():
                return Cell(ValueKind.TEXT, ", ".join(_entry(name, each) for each in value))
            case str():
                return self._text(name, value, kind)
        return Cell(ValueKind.TEXT, str(value))

    def _money(self, value: int, token: str) -> Money | None:
        transfer, chain_id = self.transfer, self.chain_id
        match token, self.model:
            case "origin", _:
                return replace(transfer.requested, value=value)
            case "destination", _:
                return replace(transfer.expected, value=value)
            case "native", QuoteIntentRequest():
                return Money(value, transfer.destination_chain_id, hashes.ZERO_ADDRESS, names=transfer.names)
            case ("native", _) | ("fee", GasFee()):
                return Money(value, chain_id, hashes.ZERO_ADDRESS, names=transfer.names)
            case "fee", IntentFees(fee_token_address=address) if address:
                return transfer.money(value, transfer.origin_chain_id, address)
            case "fee", DepositIntentEntry(fee_token=address) if address:
                return transfer.money(value, chain_id or transfer.origin_chain_id, address)
            case "own", DepositTransaction(token_address=address, decimals=decimals):
                return replace(transfer.money(value, self.model.chain_id, address), own_decimals=decimals)
            case "own", TransactionPrecondition(token_address=address) | IntentTransaction(token_address=address):
                return transfer.money(value, chain_id, address)
            case _:
                return None

    def _text(self, name: str, value: str, kind: str | None) -> Cell:
        if name == "status":
            return Cell(ValueKind.CODE, statuses.unknown(value).word)
        if name == "txn_hash":
            return Cell(ValueKind.HASH, text.visible(value), value, self.chain_id)
        if kind == "address" or name.endswith("_address"):
            return Cell(ValueKind.ADDRESS, hashes.checksum(value), value, self._chain_of(name))
        if kind == "data":
            data = text.capped(value, cap=MAX_DATA)
            more = f"… ({data.more:,} more characters, in the raw JSON)" if data.more else ""
            return Cell(ValueKind.DATA, f"{data.shown}{more}")
        if name == "id" or name.endswith("_id"):
            return Cell(ValueKind.ID, text.visible(value), value)
        read = text.memo(value)
        return Cell(ValueKind.CODE if kind == "code" else ValueKind.TEXT, read.shown, rest=read.rest)

    def _chain_of(self, name: str) -> int | None:
        if name.startswith("origin_"):
            return self.transfer.origin_chain_id
        if name.startswith("destination_"):
            return self.transfer.destination_chain_id
        # An owner has the same address on every chain. It links to the origin chain.
        on_origin = name in ("owner_address", "fee_token_address")
        return self.chain_id or (self.transfer.origin_chain_id if on_origin else None)


def _entry(name: str, value: object) -> str:
    if isinstance(value, Decimal):
        return amounts.usd_full(value) if name.endswith("_usd") else amounts.number(value)
    if not isinstance(value, str) or not value:
        return text.UNKNOWN
    return names.provider_label(value) if name == "route_providers" else text.memo(value).shown


def _part_title(name: str, *, inside: type[Model], title: str) -> str:
    """Return the title of a nested object. Below the top level it includes the parent's title."""
    if name == "deposit_transaction":
        return "Deposit (transaction)" if issubclass(inside, IntentReceipt) else "Deposit to make"
    own = _label("objects", name)
    if name == "calls" and not issubclass(inside, Intent):
        return f"{title}: call"
    return own if issubclass(inside, Intent | IntentReceipt) else f"{title}: {own[0].lower()}{own[1:]}"


def _label(kind: str, name: str) -> str:
    """Return `Route providers fee USD` for `route_providers_fee_usd`, unless fields.toml has a label."""
    if name in TABLE[kind]:
        return str(TABLE[kind][name])
    known = [TABLE["words"].get(word, word) for word in name.split("_")]
    if known[-1] in ("id", "at") and len(known) > 1:
        known.pop()
    label = " ".join(known)
    return label[0].upper() + label[1:]


def _is_object(value: object) -> bool:
    return isinstance(value, Model) or (isinstance(value, tuple) and bool(value) and isinstance(value[0], Model))
