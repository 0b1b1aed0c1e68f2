"""Operations, statuses and error codes are those of docs/contract.md. Its objects are read by tests/spec.py."""

import json
import re
from typing import Final

from intents_ui.service.console import OPERATIONS
from intents_ui.service.errors import KNOWN
from intents_ui.service.models import IntentStatus, TransactionStatus
from tests.serving import ROOT
from tests.spec import INTENT_STATUSES, SPEC, TRANSACTION_STATUSES, first_cells, section

HTTP: Final = {
    each["code"]: each["status"] for each in json.loads((ROOT / "intents_ui/emulator/data/errors.json").read_text())
}


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
    assert set(INTENT_STATUSES) == set(IntentStatus)
    assert set(TRANSACTION_STATUSES) == set(TransactionStatus)


def test_every_error_code_has_its_name_status_and_class() -> None:
    rows = re.findall(r"^\| (-?\d+) \| `(\w+)` \| (\d+) \| [^|]+ \| `(\w+)` \|$", section("Errors"), re.MULTILINE)
    assert rows == [(str(code), name, str(HTTP[code]), kind.__name__) for code, (name, kind) in KNOWN.items()]
