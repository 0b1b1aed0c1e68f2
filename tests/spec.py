"""The service's API as in docs/contract.md, from which its objects, requests and responses are read.

Independent of the models, so that a misread field can't be wrong in both. `problems` checks any JSON document against
the tables. `unknown_members` lists fields that the tables don't have. A type ending in `!` is required, one ending
in `[]` is a list. The service may send any number as a string of digits.
"""

import re
from collections.abc import Iterator
from decimal import Decimal

from tests.serving import ROOT

CONTRACT = (ROOT / "docs/contract.md").read_text()
# Types of the document that have one JSON type.
KINDS = {"integer": "number", "decimal": "number", "time": "string"}

# Types of requests and responses that the document doesn't link. The others are strings.
_TYPES = {
    "number": "byProjectId originChainId destinationChainId fromTime toTime limit",
    "number[]": "chainIds",
    "boolean": "includeBalances onlyRecoverable includeAllListed includeExternal done",
    "string[]": "excludeTokens",
    "IntentStatus": "byStatus",
    "IntentStatus[]": "byStatuses",
    "TransactionStatus[]": "lastReceiptStates receiptStates",
    "Intent": "intent",
    "IntentReceipt": "intentReceipt",
    "Page": "page",
}
_TYPE_OF = {name: kind for kind, names in _TYPES.items() for name in names.split()}
# Not of the client, and with objects that the document describes in words.
_OTHERS = ("QuoteIntent", "ExecuteIntent", "GetTokenPrices")

type Table = tuple[tuple[str, str], ...]


def section(heading: str) -> str:
    found = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#|\Z)", CONTRACT, re.MULTILINE | re.DOTALL)
    assert found, heading
    return found[1]


def first_cells(heading: str) -> list[str]:
    """Return the code words in the first column of the section's table."""
    cells = re.findall(r"^\| ([^|]*) \|", section(heading), re.MULTILINE)
    return [word for cell in cells for word in re.findall(r"`(\w+)`", cell)]


def _object(heading: str) -> Iterator[tuple[str, str]]:
    rows = re.findall(r"^\| (`[^|]*) \| \[?(\w+)(?:\]\([^)]*\))?(\[\])? \|", section(heading), re.MULTILINE)
    for names, kind, many in rows:
        yield from ((name, KINDS.get(kind, kind) + many) for name in re.findall(r"`(\w+)`", names))


def _operations() -> Iterator[tuple[str, Table]]:
    rows = re.findall(r"^\| `(\w+)` \|([^|]*)\|([^|]*)\|", section("Operations"), re.MULTILINE)
    for operation, *cells in rows:
        for direction, cell in zip(("request", "response"), cells, strict=True):
            if operation not in _OTHERS:
                yield f"{operation}.{direction}", tuple(_fields(cell))


def _fields(cell: str) -> Iterator[tuple[str, str]]:
    for bold, name, kind, many in re.findall(r"(\*\*)?`(\w+)`(?:\*\*)?(?:: \[(\w+)\]\([^)]*\)(\[\])?)?", cell):
        yield name, (kind + many or _TYPE_OF.get(name, "string")) + ("!" if bold else "")


INTENT_STATUSES = first_cells("Intent statuses")
TRANSACTION_STATUSES = first_cells("Transaction statuses")
_HEADINGS = re.findall(r"^### (\w+)$", CONTRACT.partition("\n## Objects\n")[2], re.MULTILINE)
# Object, or operation and direction, to its (field, type) rows.
SPEC: dict[str, Table] = {name: tuple(_object(name)) for name in _HEADINGS} | dict(_operations())


def problems(object_name: str, document: object) -> list[str]:
    """Return where the document doesn't match its table. Unknown fields are accepted."""
    return [text for text, is_unknown in _findings(object_name, document, object_name) if not is_unknown]


def unknown_members(object_name: str, document: object) -> list[str]:
    """Return fields at any depth that the tables don't have."""
    return [text for text, is_unknown in _findings(object_name, document, object_name) if is_unknown]


def _findings(kind: str, value: object, path: str) -> Iterator[tuple[str, bool]]:
    if kind.endswith("[]"):
        if not isinstance(value, list):
            yield f"{path}: not a list", False
            return
        for place, entry in enumerate(value):
            yield from _findings(kind[:-2], entry, f"{path}[{place}]")
    elif kind in SPEC:
        if not isinstance(value, dict):
            yield f"{path}: not an object", False
            return
        yield from _member_findings(SPEC[kind], value, path)
    elif not _is(kind, value):
        yield f"{path}: not a {kind}", False


def _member_findings(table: Table, members: dict[str, object], path: str) -> Iterator[tuple[str, bool]]:
    for name, kind in table:
        value = members.get(name)
        if value is not None:
            yield from _findings(kind.removesuffix("!"), value, f"{path}.{name}")
        elif kind.endswith("!"):
            yield f"{path}.{name}: missing", False
    for name in members.keys() - dict(table).keys():
        yield f"{path}.{name}", True


def _is(kind: str, value: object) -> bool:
    match kind:
        case "number":
            is_number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
            return is_number or (isinstance(value, str) and re.fullmatch(r"[0-9]+", value) is not None)
        case "boolean":
            return isinstance(value, bool)
        case "string" | "IntentStatus" | "TransactionStatus":
            return isinstance(value, str)
    raise LookupError(f"{kind} is not in the tables")
