"""Operations, statuses and error codes are those of docs/contract.md. Its fields are read by tests/spec.py."""

import json
import re
from typing import Final

from intents_ui.service.console import OPERATIONS
from intents_ui.service.errors import KNOWN
from intents_ui.service.models import IntentStatus, TransactionStatus
from tests.serving import ROOT
from tests.spec import INTENT_STATUSES, TRANSACTION_STATUSES, first_cells, section

HTTP: Final = {
    each["code"]: each["status"] for each in json.loads((ROOT / "intents_ui/emulator/data/errors.json").read_text())
}


def test_every_operation_is_listed() -> None:
    assert sorted(first_cells("Operations")) == sorted(OPERATIONS)


def test_every_status_is_explained() -> None:
    assert set(INTENT_STATUSES) == set(IntentStatus)
    assert set(TRANSACTION_STATUSES) == set(TransactionStatus)


def test_every_error_code_has_its_name_status_and_class() -> None:
    rows = re.findall(r"^\| (-?\d+) \| `(\w+)` \| (\d+) \| [^|]+ \| `(\w+)` \|$", section("Errors"), re.MULTILINE)
    assert rows == [(str(code), name, str(HTTP[code]), kind.__name__) for code, (name, kind) in KNOWN.items()]
