"""The advanced search: the eight keys of SearchIntents as a form, read and checked before anything is asked.

Source: interface.md 4.1.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from intents_ui.display import hashes, text


class Form(Enum):
    """What a key's value looks like."""

    ID = "id"
    HASH = "hash"
    ADDRESS = "address"
    NUMBER = "number"
    WORDS = "words"


@dataclass(frozen=True)
class Key:
    """`name` is its word in our URL, `criterion` the argument of `search_intents`."""

    name: str
    criterion: str
    label: str
    hint: str
    form: Form


KEYS = (
    Key("intent", "by_intent_id", "Intent id", "0x and 64 hex digits, or the service's own form", Form.ID),
    Key("transaction", "by_transaction_hash", "Transaction hash", "of any step of the transfer", Form.HASH),
    Key("deposit", "by_deposit_transaction_hash", "Deposit transaction hash", "of the payment alone", Form.HASH),
    Key("owner", "by_owner_address", "Owner", "the wallet that the transfer belongs to", Form.ADDRESS),
    Key(
        "origin", "by_origin_intent_address", "Deposit address", "the intent address on the origin chain", Form.ADDRESS
    ),
    Key(
        "destination",
        "by_destination_intent_address",
        "Delivery address",
        "the intent address on the destination chain",
        Form.ADDRESS,
    ),
    Key("project", "by_project_id", "Project", "its number", Form.NUMBER),
    Key("text", "by_query_string", "Text", "an order number or another word of the transfer", Form.WORDS),
)

LONGEST_ID = 200
LONGEST_WORDS = 100
LARGEST_NUMBER = 2**64 - 1


@dataclass(frozen=True)
class Field:
    key: Key
    value: str = ""
    problem: str = ""


@dataclass(frozen=True)
class Criteria:
    fields: tuple[Field, ...]
    given: Mapping[str, str | int]

    @property
    def problems(self) -> bool:
        return any(field.problem for field in self.fields)

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(field.key.label for field in self.fields if field.value)


def read(query: Mapping[str, str]) -> Criteria:
    """The fields as they were filled in, and the criteria of those that can be asked."""
    fields = []
    given: dict[str, str | int] = {}
    for key in KEYS:
        value = query.get(key.name, "").strip()
        if not value:
            fields.append(Field(key))
            continue
        criterion = _criterion(value, key.form)
        if criterion is None:
            fields.append(Field(key, text.visible(value)[:LONGEST_ID], PROBLEMS[key.form]))
        else:
            fields.append(Field(key, value))
            given[key.criterion] = criterion
    return Criteria(tuple(fields), given)


PROBLEMS = {
    Form.ID: "An intent id has at most 200 characters and no blanks.",
    Form.HASH: "A transaction hash has 64 hex digits after 0x.",
    Form.ADDRESS: "An address has 40 hex digits after 0x.",
    Form.NUMBER: "A project is a whole number.",
    Form.WORDS: "A text has at most 100 characters, all of them visible.",
}


def _criterion(value: str, form: Form) -> str | int | None:
    match form:
        case Form.ID:
            plain = len(value) <= LONGEST_ID and not any(map(str.isspace, value)) and _is_visible(value)
            return (hashes.canonical_hash(value) or value) if plain else None
        case Form.HASH:
            return hashes.canonical_hash(value)
        case Form.ADDRESS:
            return hashes.canonical_address(value)
        case Form.NUMBER:
            number = int(value) if value.isascii() and value.isdigit() and len(value) <= 20 else None
            return number if number is not None and number <= LARGEST_NUMBER else None
        case Form.WORDS:
            return value if len(value) <= LONGEST_WORDS and _is_visible(value) else None


def _is_visible(value: str) -> bool:
    return not any(map(text.is_hidden, value))
