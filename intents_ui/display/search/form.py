"""The advanced search form: the eight criteria of SearchIntents, validated before any request.

Also the search keys for each kind of pasted identifier.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from intents_ui.display.formatting import text
from intents_ui.display.search import identifiers, input_errors, parameters
from intents_ui.display.search.identifiers import LONGEST_WORDS, SHORTEST_WORDS, Kind
from intents_ui.display.search.parameters import InvalidParameter, required
from intents_ui.service import results


@dataclass(frozen=True)
class SearchKey:
    """A search field. `name` is its URL parameter, `criterion` the argument of `search_intents`, and `kind` that of
    its value: None for a number.
    """

    name: str
    criterion: str
    label: str
    hint: str
    kind: Kind | None


KEYS = (
    SearchKey(
        "intent",
        "by_intent_id",
        "Intent ID",
        "0x and 64 hex characters, or another format the service uses",
        Kind.INTENT,
    ),
    SearchKey(
        "transaction", "by_transaction_hash", "Transaction hash", "Any transaction of the transfer", Kind.TRANSACTION
    ),
    SearchKey(
        "deposit",
        "by_deposit_transaction_hash",
        "Deposit transaction hash",
        "Deposit transaction only",
        Kind.TRANSACTION,
    ),
    SearchKey("owner", "by_owner_address", "Owner", "Wallet that created the transfer", Kind.ADDRESS),
    SearchKey("origin", "by_origin_intent_address", "Deposit address", "Origin intent address", Kind.ADDRESS),
    SearchKey(
        "destination",
        "by_destination_intent_address",
        "Destination intent address",
        "Intent address on the destination chain",
        Kind.ADDRESS,
    ),
    SearchKey("project", "by_project_id", "Project", "Project ID", None),
    SearchKey("text", "by_query_string", "Text", "Memo text, such as an order number", Kind.WORDS),
)

LONGEST_ID = 200
PLAIN_ID = re.compile(rf"[A-Za-z0-9_.:-]{{1,{LONGEST_ID}}}")
HEX_ID = re.compile(r"0[xX][0-9a-fA-F]*")


@dataclass(frozen=True)
class SearchField:
    key: SearchKey
    value: str = ""
    problem: str = ""


@dataclass(frozen=True)
class Criteria:
    fields: tuple[SearchField, ...]
    given: Mapping[str, Any]  # arguments of a search

    @property
    def problems(self) -> bool:
        return any(field.problem for field in self.fields)

    @property
    def called(self) -> str:
        """Return the label of the only field, or of several, for the middle of a sentence."""
        if len(self.keys) != 1:
            return "all fields together"
        [label] = self.keys
        return label[0].lower() + label[1:]

    @property
    def first_faulty(self) -> str | None:
        return next((field.key.name for field in self.fields if field.problem), None)

    @property
    def kinds(self) -> tuple[Kind | None, ...]:
        return tuple(field.key.kind for field in self.fields if field.value)

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(field.key.label for field in self.fields if field.value)


def read(query: Mapping[str, str]) -> Criteria:
    """Read the fields as entered and the criteria of the valid ones."""
    fields = []
    given: dict[str, str | int] = {}
    for key in KEYS:
        value = query.get(key.name, "").strip()
        if not value:
            fields.append(SearchField(key))
            continue
        try:
            given[key.criterion] = _criterion(value, key.kind)
            fields.append(SearchField(key, value))
        except InvalidParameter as problem:
            fields.append(SearchField(key, text.visible(value)[:LONGEST_ID], str(problem)))
    return Criteria(tuple(fields), given)


def _criterion(value: str, kind: Kind | None) -> str | int:
    """Return the value to search for. Raises InvalidParameter."""
    match kind:
        case Kind.INTENT:
            return _intent_id(value)
        case Kind.TRANSACTION:
            return required(identifiers.only(value, identifiers.HASHES), input_errors.of_hash(value))
        case Kind.ADDRESS:
            return parameters.address(value)
        case Kind.WORDS:
            problem = input_errors.of_words(value, shortest=SHORTEST_WORDS, longest=LONGEST_WORDS)
            if problem and len(value) >= SHORTEST_WORDS:
                problem = f"Text must have at most {LONGEST_WORDS} characters, all visible."
            return required(None if problem else value, problem)
    return parameters.number(value, what="A project ID")


def _intent_id(value: str) -> str:
    found = identifiers.only(value, (Kind.INTENT, Kind.HASH, Kind.TRANSACTION))
    if found is None and HEX_ID.fullmatch(value):
        raise InvalidParameter(input_errors.of_hash(value, what="An intent ID"))
    if found is None and not PLAIN_ID.fullmatch(value):
        raise InvalidParameter(f"Intent IDs use letters, digits and _ - : . only (up to {LONGEST_ID} characters).")
    return found or value


KEYS_OF_KIND = {
    Kind.INTENT: (results.INTENT_ID,),
    Kind.TRANSACTION: (results.TRANSACTION_HASH,),
    Kind.SOLANA_SIGNATURE: (results.TRANSACTION_HASH,),
    Kind.OTHER_HASH: (results.TRANSACTION_HASH,),
    Kind.HASH: (results.INTENT_ID, results.TRANSACTION_HASH),
    Kind.ADDRESS: results.ADDRESS,
    Kind.SOLANA_ADDRESS: results.ADDRESS,
    Kind.OTHER_ADDRESS: results.ADDRESS,
    Kind.WORDS: (results.WORDS,),
}
# What else it may be, tried if nothing is found: people put intent IDs into transaction links and the reverse. The
# hashes of Sui and NEAR look like Solana addresses, those of Starknet like its addresses.
KEYS_AFTER_A_MISS = {
    Kind.TRANSACTION: (results.INTENT_ID,),
    Kind.INTENT: (results.TRANSACTION_HASH,),
    Kind.SOLANA_ADDRESS: (results.TRANSACTION_HASH,),
    Kind.OTHER_HASH: results.ADDRESS,
}
