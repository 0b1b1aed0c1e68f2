"""Answers about other transfers than the requested ones are never shown as answers to the request."""

from collections.abc import Iterator
from html import unescape
from typing import Any

import pytest
from django.test import Client

from intents_ui.emulator.app import Emulator
from intents_ui.service.counters import Event
from intents_ui.service.errors import Flaw, Unreadable
from tests import raw_service
from tests.faults.odd_service import Odd, odd_service

OTHER_ADDRESS = "0x" + "5a" * 20
OTHER_ID = "0x" + "7e" * 32
PARTS = ("summary", "depositTransaction", "originTransaction", "destinationTransaction", "refundTransaction")


@pytest.fixture
def faulty(emulator: Emulator, monkeypatch: pytest.MonkeyPatch) -> Iterator[Odd]:
    with odd_service(emulator, monkeypatch) as faulty:
        yield faulty


def unfiltered(faulty: Odd, operation: str, **request: Any) -> None:
    """Make the service ignore the filter of this operation from now on."""
    everything = raw_service.post(faulty.client, operation, request).json()
    assert everything["intents"]
    faulty.rewrite(**{operation: lambda _: everything})


def test_an_address_does_not_own_the_unrelated_intents_in_a_response(
    site: Client, emulator: Emulator, faulty: Odd
) -> None:
    unfiltered(faulty, "SearchIntents", byOwnerAddress=emulator.finished(3)["ownerAddress"])
    html = site.get(f"/address/{OTHER_ADDRESS}").content.decode()
    assert "Owner of" not in html
    assert "Deposit address of" not in html


def test_a_history_of_one_owner_hides_and_counts_unrelated_entries(site: Client, faulty: Odd) -> None:
    unfiltered(faulty, "GetIntentHistory")
    listed = documents(faulty)["intents"]
    owner = listed[0]["receipt"]["ownerAddress"]
    others = [entry for entry in listed if entry["receipt"]["ownerAddress"] != owner]
    assert 0 < len(others) < len(listed)
    answer = site.get(f"/history?owner={owner}")
    html = answer.content.decode()
    assert answer.status_code == 200
    assert f'id="row-{listed[0]["intentId"]}"' in html
    assert not [entry for entry in others if f'id="row-{entry["intentId"]}"' in html]
    assert f"{len(others)} entries are hidden because they couldn't be read or don't match the filter." in unescape(
        html
    )
    assert faulty.client.health.tally[Event.UNFIT] == 1


def documents(faulty: Odd) -> Any:
    return faulty.way.changes["GetIntentHistory"](None)


def test_a_history_in_which_nothing_matches_the_filter_is_an_error_and_not_empty(site: Client, faulty: Odd) -> None:
    unfiltered(faulty, "GetIntentHistory")
    answer = site.get(f"/history?owner={OTHER_ADDRESS}")
    assert answer.status_code == 503
    assert "lists other transfers" in answer.content.decode()


@pytest.mark.parametrize("part", PARTS)
def test_a_receipt_with_a_part_of_another_transfer_is_rejected(
    site: Client, emulator: Emulator, faulty: Odd, part: str
) -> None:
    intent_id = emulator.finished(8)["intentId"]
    wanted = {"intentId": intent_id}
    legs = raw_service.post(faulty.client, "GetIntentReceipt", wanted).json()["intentReceipt"]

    def forged(document: Any) -> Any:
        receipt = document["intentReceipt"]
        return {**document, "intentReceipt": {**receipt, part: {**(receipt.get(part) or {}), "intentId": OTHER_ID}}}

    faulty.rewrite(GetIntentReceipt=forged, WaitIntentReceipt=forged)
    for ask in (faulty.client.get_intent_receipt, faulty.client.wait_intent_receipt):
        with pytest.raises(Unreadable) as caught:
            ask(intent_id)
        assert caught.value.flaw is Flaw.OTHER_INTENT
    answer = site.get(f"/intent/{intent_id}")
    sent = [leg["txnHash"] for leg in legs.values() if isinstance(leg, dict) and leg.get("txnHash")]
    assert len(sent) >= 2
    assert not [txn_hash for txn_hash in sent if txn_hash in answer.content.decode()]


def test_a_hit_without_the_searched_transaction_is_shown_with_a_note(
    site: Client, emulator: Emulator, faulty: Odd
) -> None:
    made = emulator.finished(3)
    wanted = {"byIntentId": made["intentId"]}
    hit = raw_service.post(faulty.client, "SearchIntents", wanted).json()
    faulty.rewrite(SearchIntents=lambda _: hit)
    page = site.get("/search?q=0x" + "c4" * 32, follow=True)
    assert made["intentId"] in page.redirect_chain[-1][0]
    assert "isn't one of this transfer's own transactions" in unescape(page.content.decode())
