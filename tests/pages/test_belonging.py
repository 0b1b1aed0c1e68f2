"""Answers about other transfers than the requested ones are never shown as answers to the request."""

import json
from collections.abc import Iterator
from html import unescape
from typing import Any
from urllib.parse import urlencode

import pytest
from django.conf import settings
from django.test import Client
from pydantic import SecretStr

from intents_ui.emulator.app import Emulator
from intents_ui.search import empty_results
from intents_ui.service import operations, results
from intents_ui.service.errors import Reason, Unreadable
from intents_ui.web import customer_reply, reading
from tests import raw_service
from tests.counted import count
from tests.faults.odd_service import Odd, odd_service
from tests.helpdesk import signing
from tests.pages.reading import content

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
    for operation in (operations.get_intent_receipt, operations.wait_intent_receipt):
        with pytest.raises(Unreadable) as caught:
            faulty.client.ask(operation(intent_id))
        assert caught.value.reason is Reason.OTHER_INTENT
    answer = site.get(f"/intent/{intent_id}")
    sent = [leg["txnHash"] for leg in legs.values() if isinstance(leg, dict) and leg.get("txnHash")]
    assert len(sent) >= 2
    assert not [txn_hash for txn_hash in sent if txn_hash in answer.content.decode()]


HASH = "0x" + "c4" * 32


def answers_to(site: Client, monkeypatch: pytest.MonkeyPatch, wanted: str) -> dict[str, str]:
    """Return what each surface that looks up a hash answers, as text."""
    monkeypatch.setattr(settings.ENV, "intents_embed_hosts", ["https://desk.acme.example"])
    monkeypatch.setattr(settings.ENV, "intents_slack_signing_secret", SecretStr(signing.SECRET))

    def mcp(tool: str) -> str:
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
        call = message | {"params": {"name": tool, "arguments": {"text": wanted}}}
        return str(site.post("/mcp", call, content_type="application/json").json()["result"]["content"][0]["text"])

    command = urlencode({"command": "/intents", "text": wanted, "team_id": "T1"})
    form, headers = "application/x-www-form-urlencoded", signing.slack_headers(command)
    slack = site.post("/slack/command", command, form, headers=headers).json()
    answers = {
        "search": site.get("/search", {"q": wanted}, follow=True),
        "link": site.get(f"/tx/{wanted}", follow=True),
        "advanced search": site.get("/search", {"transaction": wanted}, follow=True),
        "search by deposit": site.get("/search", {"deposit": wanted}, follow=True),
        "triage": site.post("/triage", {"q": wanted}),
        "side bar": site.get(signing.url_of(wanted)),
        "API, lookup": site.get("/api/v1/lookup", {"q": wanted}),
        "API, triage": site.post("/api/v1/triage", {"text": wanted}, content_type="application/json"),
    }
    return (
        {name: unescape(content(answer)) for name, answer in answers.items()}
        | {"Slack": json.dumps(slack, ensure_ascii=False)}
        | {f"MCP, {tool}": mcp(tool) for tool in ("look_up", "triage_ticket")}
    )


@pytest.mark.parametrize("hits", [1, 2])
def test_every_surface_warns_of_a_hit_without_the_searched_transaction(
    site: Client, emulator: Emulator, faulty: Odd, monkeypatch: pytest.MonkeyPatch, hits: int
) -> None:
    ids = [emulator.finished(number)["intentId"] for number in (3, 4)[:hits]]
    found = [raw_service.post(faulty.client, "GetIntent", {"intentId": each}).json()["intent"] for each in ids]
    faulty.rewrite(SearchIntents=lambda _: {"intents": found})
    warnings = [empty_results.warning(results.Doubt(HASH, each)) for each in ids]
    said = answers_to(site, monkeypatch, HASH)
    assert [name for name, each in said.items() if not all(warning in each for warning in warnings)] == []
    assert [name for name, each in said.items() if "1 found" in each or "1 transfer found" in each] == []
    opening = customer_reply.body(reading.read(ids[0])).splitlines()[0]
    assert [name for name in ("triage", "side bar") if opening in said[name]] == []
