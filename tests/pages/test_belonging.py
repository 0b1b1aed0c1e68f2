"""Answers about other transfers than the requested ones are never shown as answers to the request."""

from html import unescape
from typing import Any

import pytest

from intents_ui import app
from intents_ui.emulator.app import Emulator
from intents_ui.search import empty_results
from intents_ui.service import operations, results
from intents_ui.service.errors import Reason, Unreadable
from tests.counted import count
from tests.emulator.driving import request
from tests.pages.reading import content
from tests.pages.recorded import Recorded

OTHER_ADDRESS = "0x" + "5a" * 20
OTHER_ID = "0x" + "7e" * 32
PARTS = ("", "summary", "depositTransaction", "originTransaction", "destinationTransaction", "refundTransaction")


def unfiltered(emulator: Emulator, transport: Recorded, operation: str, **wanted: Any) -> list[Any]:
    """Make the service ignore the filter of this operation from now on. Return what it lists."""
    everything = request(emulator, operation, wanted).document
    assert everything["intents"]
    transport.changes[operation] = lambda _: everything
    return list(everything["intents"])


def test_an_address_does_not_own_the_unrelated_intents_in_a_response(site, emulator, transport):
    unfiltered(emulator, transport, "SearchIntents", byOwnerAddress=emulator.finished(3)["ownerAddress"])
    html = site.get(f"/address/{OTHER_ADDRESS}").content.decode()
    assert "Owner of" not in html
    assert "Deposit address of" not in html


def test_a_history_of_one_owner_hides_and_counts_unrelated_entries(site, emulator, transport):
    listed = unfiltered(emulator, transport, "GetIntentHistory")
    owner = listed[0]["receipt"]["ownerAddress"]
    others = [entry for entry in listed if entry["receipt"]["ownerAddress"] != owner]
    assert 0 < len(others) < len(listed)
    before = count("upstream_mismatched", reason="other_entries")
    answer = site.get(f"/history?owner={owner}")
    html = answer.content.decode()
    assert answer.status_code == 200
    assert f'id="row-{listed[0]["intentId"]}"' in html
    assert not [entry for entry in others if f'id="row-{entry["intentId"]}"' in html]
    assert f"{len(others)} entries are hidden because they couldn't be read or don't match the filter." in unescape(
        html
    )
    assert count("upstream_mismatched", reason="other_entries") == before + 1


def test_a_history_in_which_nothing_matches_the_filter_is_an_error_and_not_empty(site, emulator, transport):
    unfiltered(emulator, transport, "GetIntentHistory")
    answer = site.get(f"/history?owner={OTHER_ADDRESS}")
    assert answer.status_code == 503
    assert "lists other transfers" in answer.content.decode()


@pytest.mark.parametrize("part", PARTS)
def test_a_receipt_or_a_part_of_another_transfer_is_rejected_and_the_intent_shown(site, emulator, transport, part):
    intent_id = emulator.finished(8)["intentId"]
    legs = request(emulator, "GetIntentReceipt", {"intentId": intent_id}).document["intentReceipt"]

    def forged(document: Any) -> Any:
        receipt = document["intentReceipt"]
        of_another = {part: {**(receipt.get(part) or {}), "intentId": OTHER_ID}} if part else {"intentId": OTHER_ID}
        return {**document, "intentReceipt": receipt | of_another}

    transport.changes |= dict.fromkeys(("GetIntentReceipt", "WaitIntentReceipt"), forged)
    for operation in (operations.get_intent_receipt, operations.wait_intent_receipt):
        with pytest.raises(Unreadable) as caught:
            app.current().service.ask(operation(intent_id))
        assert caught.value.reason is Reason.OTHER_INTENT
    answer = site.get(f"/intent/{intent_id}")
    assert "load the receipt" in answer.content.decode()
    sent = [leg["txnHash"] for leg in legs.values() if isinstance(leg, dict) and leg.get("txnHash")]
    assert len(sent) >= 2
    assert not [txn_hash for txn_hash in sent if txn_hash in answer.content.decode()]


HASH = "0x" + "c4" * 32


@pytest.mark.parametrize("hits", [1, 2])
@pytest.mark.parametrize("field", ["q", "transaction", "deposit"])
def test_a_search_warns_of_hits_without_the_searched_transaction(site, emulator, transport, field, hits):
    """Other surfaces: `test_lying_service.py`."""
    ids = [emulator.finished(number)["intentId"] for number in (3, 4)[:hits]]
    found = [request(emulator, "GetIntent", {"intentId": each}).document["intent"] for each in ids]
    transport.changes["SearchIntents"] = lambda _: {"intents": found}
    said = unescape(content(site.get("/search", {field: HASH}, follow=True)))
    assert [each for each in ids if empty_results.warning(results.Doubt(HASH, each)) not in said] == []
    assert "1 transfer found" not in said
