"""docs/contract.md lists the same operations, fields, statuses and error codes as the code."""

import json
import re
from pathlib import Path
from typing import Final

import pytest

from intents_ui.service.errors import KNOWN
from intents_ui.service.operations.requests import OPERATIONS
from tests.spec import INTENT_STATUSES, OBJECTS, SPEC, TRANSACTION_STATUSES

ROOT: Final = Path(__file__).parent.parent
CONTRACT: Final = (ROOT / "docs/contract.md").read_text()
HTTP: Final = {
    each["code"]: each["status"] for each in json.loads((ROOT / "intents_ui/emulator/data/errors.json").read_text())
}


def section(heading: str) -> str:
    found = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#|\Z)", CONTRACT, re.MULTILINE | re.DOTALL)
    assert found, heading
    return found[1]


def first_cells(heading: str) -> list[str]:
    """Return the code words in the first column of the section's table."""
    cells = re.findall(r"^\| ([^|]*) \|", section(heading), re.MULTILINE)
    return [word for cell in cells for word in re.findall(r"`(\w+)`", cell)]


@pytest.mark.parametrize("name", OBJECTS)
def test_every_object_has_its_fields_in_order(name: str) -> None:
    aliases = ["destinationSalt", "calls", "preconditions", "metaTxns"] if name == "Intent" else []
    written = first_cells(name)
    assert [each for each in written if each not in aliases] == [
        field for field, _ in OBJECTS[name] if field not in aliases
    ]


def test_every_operation_is_listed_with_its_fields() -> None:
    assert sorted(first_cells("Operations")) == sorted(OPERATIONS)
    for title, fields in SPEC.items():
        operation, dot, direction = title.partition(".")
        row = re.search(rf"^\| `{operation}` \|([^|]*)\|([^|]*)\|", section("Operations"), re.MULTILINE)
        if dot:
            assert row
            cell = row[1 if direction == "request" else 2]
            for field, kind in fields:
                assert (f"**`{field}`**" if kind.endswith("!") else f"`{field}`") in cell, f"{title}: {field}"


def test_every_status_is_explained() -> None:
    assert sorted(first_cells("Intent statuses")) == sorted(INTENT_STATUSES)
    assert sorted(first_cells("Transaction statuses")) == sorted(TRANSACTION_STATUSES)


def test_every_error_code_has_its_name_status_and_class() -> None:
    rows = re.findall(r"^\| (-?\d+) \| `(\w+)` \| (\d+) \| [^|]+ \| `(\w+)` \|$", section("Errors"), re.MULTILINE)
    assert rows == [(str(code), name, str(HTTP[code]), kind.__name__) for code, (name, kind) in KNOWN.items()]
