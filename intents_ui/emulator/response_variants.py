"""Response variants of other service versions. Each function takes a document and returns a new one."""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any, Final

from intents_ui.emulator import documents
from intents_ui.emulator.catalog import Catalogue
from intents_ui.emulator.documents import MICROSECONDS, Document, micros, stamp

_FIELDS: Final = documents.table("response_fields.json")
AMOUNTS: Final = frozenset(_FIELDS["amounts"])  # sent as decimal strings
_TIMES: Final = frozenset(_FIELDS["times"])
_HIDDEN: Final = frozenset(_FIELDS["hidden"])  # by real responses
_ADDRESS: Final = re.compile(r"0x[0-9a-f]{40}")
_FLAT_CHAIN: Final = ("tokenName", "tokenSymbol", "tokenDecimals", "blockExplorerUrl", "isTestnet", "supportsBridging")
_NESTED_CHAIN: Final = ("nativeCurrency", "blockExplorer")
_EXPONENT_FROM: Final = 10**21
TIE: Final = 20 * MICROSECONDS


def amounts_as_numbers(document: Document) -> Document:
    return _each(document, lambda key, value: int(value) if _is_amount(key, value) else value)


def amounts_with_exponents(document: Document) -> Document:
    """Send amounts as numbers, and large ones in exponent notation (1e+30), as programs without big integers do."""

    def written(key: str, value: Any) -> Any:
        if not _is_amount(key, value):
            return value
        return float(value) if int(value) >= _EXPONENT_FROM else int(value)

    return _each(document, written)


def mixed_case(document: Document) -> Document:
    """Send token addresses checksummed, and every other one of the rest in capitals."""
    checksums = Catalogue().checksummed

    def written(key: str, value: Any) -> Any:
        if not isinstance(value, str) or not _ADDRESS.fullmatch(value):
            return value
        shout = int(value[-1], 16) % 2
        return checksums.get(value, "0x" + value[2:].upper() if shout else value)

    return _each(document, written)


def extra_fields(document: Document) -> Document:
    """Add an unknown field to every object."""
    return _objects(document, lambda each: each | {"futureField": {"since": "v9", "flags": [1, "two", None]}})


def without_ids(document: Document) -> Document:
    """Remove the documented fields that real responses hide. Chains keep their ID, which identifies them."""
    if "chains" in document:
        return document
    return _objects(document, lambda each: {key: value for key, value in each.items() if key not in _HIDDEN})


def fraction_digits(digits: int) -> Callable[[Document], Document]:
    def rewritten(document: Document) -> Document:
        def written(moment: datetime) -> str:
            fraction = f"{moment.microsecond:06}".ljust(9, "0")[:digits]
            return f"{moment:%Y-%m-%dT%H:%M:%S}{'.' if digits else ''}{fraction}Z"

        return _times(document, written)

    return rewritten


def offset_times(document: Document) -> Document:
    return _times(document, lambda moment: moment.isoformat())


def created_ties(document: Document) -> Document:
    """Round the creation times of intents down, so that neighbors have the same."""

    def tied(each: Document) -> Document:
        if "createdAt" not in each or "expiresAt" not in each:  # those of receipts and transactions
            return each
        created = micros(datetime.fromisoformat(each["createdAt"]).timestamp())
        return each | {"createdAt": stamp(created // TIE * TIE)}

    return _objects(document, tied)


def sparse(document: Document) -> Document:
    """Omit nulls, empty strings and empty objects."""
    return _objects(document, lambda each: {key: value for key, value in each.items() if value not in (None, "", {})})


def chains_flat(document: Document) -> Document:
    return _chains_without(document, _NESTED_CHAIN)


def chains_nested(document: Document) -> Document:
    return _chains_without(document, _FLAT_CHAIN)


def second_names(document: Document) -> Document:
    """Use the second set of field names of Intent."""
    return _intents(document, lambda intent: _with_second_names(intent, keep=False))


def both_names(document: Document) -> Document:
    return _intents(document, lambda intent: _with_second_names(intent, keep=True))


def intents_null(document: Document) -> Document:
    return document | {"intents": None} if document.get("intents") == [] else document


def last_page_absent(document: Document) -> Document:
    if document.get("nextPage", True) is None:
        return {key: value for key, value in document.items() if key != "nextPage"}
    return document


def last_page_more_false(document: Document) -> Document:
    return document | {"nextPage": {"more": False}} if document.get("nextPage", True) is None else document


def duplicate_rows(document: Document) -> Document:
    rows = document.get("intents") or []
    return document | {"intents": [*rows, *rows[-2:]]} if "intents" in document else document


def unsorted(document: Document) -> Document:
    rows = document.get("intents")
    return document | {"intents": sorted(rows, key=lambda row: row["intentId"])} if rows else document


def states_without_refund(document: Document) -> Document:
    states = document.get("receiptStates")
    return document | {"receiptStates": states[:3]} if states else document


def prices_missing(document: Document) -> Document:
    return _balances(
        document, lambda token: {key: token[key] for key in token if key not in ("priceUsd", "balanceUsd")}
    )


def prices_zero(document: Document) -> Document:
    return _balances(document, lambda token: token | {"priceUsd": "0", "balanceUsd": "0"})


def balances_bare(document: Document) -> Document:
    """Send chain 0, which means the address's own chain, and neither symbol nor decimals."""
    dropped = ("symbol", "decimals")
    return _balances(document, lambda token: {key: token[key] for key in token if key not in dropped} | {"chainId": 0})


def wrapped(envelope: Document) -> Document:
    """Return the second documented form of an error."""
    error = {
        "code": envelope["code"],
        "name": envelope["error"],
        "message": envelope["msg"],
        "cause": envelope.get("cause", ""),
        "httpStatus": envelope["status"],
    }
    return {"webrpcError": error}


def _is_amount(key: str, value: Any) -> bool:
    return key in AMOUNTS and isinstance(value, str) and value.isdigit()


def _each(document: Document, written: Callable[[str, Any], Any]) -> Document:
    return {name: _written(member, written, name) for name, member in document.items()}


def _written(value: Any, written: Callable[[str, Any], Any], key: str) -> Any:
    if isinstance(value, dict):
        return _each(value, written)
    if isinstance(value, list):
        return [_written(member, written, key) for member in value]
    return written(key, value)


def _objects(document: Document, written: Callable[[Document], Document]) -> Document:
    return written({name: _inner_objects(member, written) for name, member in document.items()})


def _inner_objects(value: Any, written: Callable[[Document], Document]) -> Any:
    if isinstance(value, dict):
        return _objects(value, written)
    if isinstance(value, list):
        return [_inner_objects(member, written) for member in value]
    return value


def _balances(document: Document, written: Callable[[Document], Document]) -> Document:
    return _objects(document, lambda each: written(each) if "balanceUsd" in each else each)


def _times(document: Document, written: Callable[[datetime], str]) -> Document:
    return _each(
        document,
        lambda key, value: (
            written(datetime.fromisoformat(value)) if key in _TIMES and isinstance(value, str) else value
        ),
    )


def _chains_without(document: Document, names: tuple[str, ...]) -> Document:
    if "chains" not in document:
        return document
    chains = [{key: value for key, value in chain.items() if key not in names} for chain in document["chains"]]
    return document | {"chains": chains}


def _intents(document: Document, written: Callable[[Document], Document]) -> Document:
    if isinstance(document.get("intent"), dict):
        return document | {"intent": written(document["intent"])}
    # History rows aren't complete intents: they have no calls to rename.
    rows = document.get("intents")
    if rows and "salt" in rows[0]:
        return document | {"intents": [written(row) for row in rows]}
    return document


def _with_second_names(intent: Document, *, keep: bool) -> Document:
    lists = {"calls": "Calls", "preconditions": "Precondition", "metaTxns": "MetaTxn"}
    second: Document = {"destinationSalt": intent["salt"]}
    for plural, suffix in lists.items():
        second[plural] = [each for side in ("origin", "destination") if (each := intent[f"{side}{suffix}"]) is not None]
    first = {f"{side}{suffix}" for side in ("origin", "destination") for suffix in lists.values()}
    first_names = intent if keep else {key: value for key, value in intent.items() if key not in first}
    return first_names | second
