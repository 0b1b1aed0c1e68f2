"""Text of strangers in the answers of MCP tools: between the marks only, and as received."""

import asyncio
import json
import re
from collections.abc import Iterator
from typing import Any, Final

import pytest
from django.test import Client

from intents_ui.display.formatting.text import LONGEST
from tests.faults import corpus
from tests.faults.hostile import Hostile, answering
from tests.fenced import data_of, json_of
from tests.pages.test_mcp import call, look_up

PAYLOADS: Final = [*corpus.XSS, *corpus.UNICODE]
SCENARIOS: Final = (3, 8, 11, 17, 18, 20, 25, 28)
OF_STRANGERS: Final = {"statusReason": "reasons", "memo": "memo", "symbol": "tokenSymbols", "name": "tokenNames"}
LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def written(document: Any) -> Iterator[tuple[str, str]]:
    """Yield the texts of strangers in a document, with the field of the answer that has them."""
    for key, value in document.items() if isinstance(document, dict) else ():
        if isinstance(value, str) and key in OF_STRANGERS and value.strip():
            yield OF_STRANGERS[key], LONE_SURROGATE.sub("\ufffd", value)[:LONGEST]
        yield from written(value)


@pytest.mark.parametrize("turn", range(0, 240, 30))
def test_text_of_strangers_is_between_the_marks_as_received(turn: int) -> None:
    site, seen = Client(), set()
    with answering(Hostile(PAYLOADS, turn=turn)) as service:
        for scenario in SCENARIOS:
            intent_id = service.finished(scenario)["intentId"]
            _, receipt = asyncio.run(service.answer("GetIntentReceipt", json.dumps({"intentId": intent_id}).encode()))
            explained = json_of(call(site, "explain_transfer", intent_id=intent_id))
            for field, text in written(receipt):
                assert text in explained["asReceived"][field]
                seen.add(field)
            look_up(site, intent_id)
            data_of(call(site, "customer_reply", intent_id=intent_id))
            json_of(call(site, "triage_ticket", text=intent_id))
    assert seen == set(OF_STRANGERS.values())
