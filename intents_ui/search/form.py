"""The advanced search form: the eight criteria of SearchIntents, validated before any request.

Also the search keys for each kind of pasted identifier.
"""

import re
from functools import partial
from typing import Any, NamedTuple

from intents_ui import tables
from intents_ui.search import filters, identifiers, input_errors
from intents_ui.search.filters import InvalidParameter, Parsed, Query, required
from intents_ui.search.identifiers import LONGEST_WORDS, SHORTEST_WORDS, Kind
from intents_ui.service import results


class SearchKey(NamedTuple):
    """A search field, from form.toml."""

    name: str
    criterion: str
    label: str
    hint: str
    kind: Kind | None


# By the name of the field.
type Criteria = Parsed[dict[str, Any]]

KEYS = [
    SearchKey(**{**row, "kind": Kind(row["kind"]) if row["kind"] else None})
    for row in tables.read(__package__, "form.toml")["keys"]
]
LONGEST_ID = 200
PLAIN_ID = re.compile(rf"[A-Za-z0-9_.:-]{{1,{LONGEST_ID}}}")
HEX_ID = re.compile(r"0[xX][0-9a-fA-F]*")
KEYS_OF_KIND = {
    Kind.INTENT: (results.INTENT_ID,),
    Kind.TRANSACTION: (results.TRANSACTION_HASH,),
    Kind.SOLANA_SIGNATURE: (results.TRANSACTION_HASH,),
    Kind.OTHER_HASH: (results.TRANSACTION_HASH,),
    Kind.HASH: (results.INTENT_ID, results.TRANSACTION_HASH),
    **dict.fromkeys(identifiers.ADDRESSES, results.ADDRESS),
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
