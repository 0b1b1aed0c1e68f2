"""The advanced search form: the eight criteria of SearchIntents, validated before any request.

Also the search keys for each kind of pasted identifier.
"""

import re
from dataclasses import dataclass
from functools import partial
from typing import Any

from intents_ui.search import filters, identifiers, input_errors
from intents_ui.search.filters import InvalidParameter, Parsed, Query, required
from intents_ui.search.identifiers import LONGEST_WORDS, SHORTEST_WORDS, Kind
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


# By the name of the field.
type Criteria = Parsed[dict[str, Any]]


def read(query: Query) -> Criteria:
    return filters.parse(query, {key.name: partial(_criterion, kind=key.kind) for key in KEYS}, dict)


def used(parsed: Criteria) -> list[SearchKey]:
    """Return the fields that have a valid value."""
    return [key for key in KEYS if key.name in parsed.filters]


def _criterion(value: str, *, kind: Kind | None) -> str | int:
    """Return the value to search for. Raises InvalidParameter."""
    match kind:
        case Kind.INTENT:
            return _intent_id(value)
        case Kind.TRANSACTION:
            return required(identifiers.only(value, identifiers.HASHES), input_errors.of_hash(value))
        case Kind.ADDRESS:
            return filters.address(value)
        case Kind.WORDS:
            problem = input_errors.of_words(value, shortest=SHORTEST_WORDS, longest=LONGEST_WORDS)
            if problem and len(value) >= SHORTEST_WORDS:
                problem = f"Text must have at most {LONGEST_WORDS} characters, all visible."
            return required(None if problem else value, problem)
    return filters.number(value, what="A project ID")


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
