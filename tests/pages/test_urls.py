"""A page has one URL. Other spellings redirect to it, without a request about transfers."""

from pathlib import Path

import pytest
from django.test import Client

from intents_ui.emulator.app import Emulator
from intents_ui.formatting import hashes

ROWS = [line.split() for line in Path(__file__).with_name("spellings.txt").read_text().splitlines()[1:]]
NOTHING, USDC = "0x" + "12" * 32, "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
KNOWN = {
    "nothing": NOTHING, "NOTHING": NOTHING[2:].upper(), "usdc": USDC, "USDC": USDC[2:].upper(),
    "native": "0x" + "0" * 40, "alias": "0x" + "Ee" * 20,
    "signature": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
}  # fmt: skip


@pytest.mark.parametrize(("status", "written", "canonical"), ROWS, ids=[written[:40] for _, written, _ in ROWS])
def test_another_spelling_redirects(
    site: Client, emulator: Emulator, operations: list[str], status: str, written: str, canonical: str
) -> None:
    intent = emulator.finished(2)
    intent_id, owner = intent["intentId"], intent["ownerAddress"].lower()
    known = {"id": intent_id, "ID": intent_id.upper(), "digits": intent_id[2:].upper(), "owner": owner}
    known |= KNOWN | {"OWNER": owner[2:].upper(), "checksum": hashes.checksum(owner)}
    answer = site.get(written.format(**known))
    assert (answer.status_code, answer["Location"]) == (int(status), canonical.format(**known))
    assert {*operations} <= {"GetChains", "GetTokenList"}
