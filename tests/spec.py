"""The service's API as in docs/contract.md: its objects are read from there, requests and responses are listed here.

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

_OPERATIONS = """
SearchIntents.request
byIntentId string, byProjectId number, byTransactionHash string, byOwnerAddress string
byOriginIntentAddress string, byDestinationIntentAddress string, byQueryString string
byDepositTransactionHash string

SearchIntents.response
intents Intent[]

GetIntentHistory.request
page Page, byProjectId number, byOwnerAddress string, byStatus IntentStatus, byStatuses IntentStatus[]
originChainId number, destinationChainId number, fromTime number, toTime number, includeBalances boolean
onlyRecoverable boolean

GetIntentHistory.response
intents IntentHistory[]!, nextPage Page

GetIntent.request
intentId string!

GetIntent.response
intent Intent!

GetIntentReceipt.request
intentId string!

GetIntentReceipt.response
intentReceipt IntentReceipt!

WaitIntentReceipt.request
intentId string!, lastReceiptStates TransactionStatus[]

WaitIntentReceipt.response
intentReceipt IntentReceipt!, receiptStates TransactionStatus[]!, done boolean!

CommitIntent.request
intent Intent!

CommitIntent.response
intentId string!

GetTokenList.request
chainIds number[]!, searchQuery string, limit number, tokenAddress string, includeAllListed boolean
includeExternal boolean, excludeTokens string[]

GetTokenList.response
tokens TokenInfo[]!

GetChains.request
routeProvider string

GetChains.response
chains ChainInfo[]!

GetExactInputRoutes.request
originChainId number!, originTokenAddress string!, destinationChainId number, destinationTokenAddress string

GetExactInputRoutes.response
tokens TokenInfo[]!

GetExactOutputRoutes.request
destinationChainId number!, destinationTokenAddress string!, originChainId number, originTokenAddress string
ownerAddress string

GetExactOutputRoutes.response
tokens TokenInfo[]!
"""

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
    for paragraph in _OPERATIONS.strip().split("\n\n"):
        heading, *lines = paragraph.splitlines()
        fields = ", ".join(lines).split(", ")
        yield heading, tuple((name, kind) for name, kind in map(str.split, fields))


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
