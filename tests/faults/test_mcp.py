"""Untrusted input in the answers of MCP tools: between the marks only, as received, and with nothing hidden in it."""

import asyncio
import json
import re
from collections.abc import Iterator
from typing import Any, Final

import pytest
from django.test import Client

from intents_ui.formatting.text import LONGEST, is_hidden
from tests.faults import corpus
from tests.faults.hostile import Hostile, answering
from tests.fenced import data_of, json_of
from tests.pages.test_mcp import call

PAYLOADS: Final = [*corpus.XSS, *corpus.UNICODE]
SCENARIOS: Final = (3, 11, 18, 20)
OF_STRANGERS: Final = {"statusReason": "reasons", "memo": "memo", "symbol": "tokenSymbols", "name": "tokenNames"}
LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")
HIDDEN: Final = {
    "zero-width": "\u200b\u200c\u200d\u2060\ufeff",
    "bidi": "\u061c\u200e\u200f\u202a\u202e\u2066\u2068\u2069",
    "tags": "\U000e0001\U000e0041\U000e007f",
}


def written(document: Any) -> Iterator[tuple[str, str]]:
    """Yield the texts of strangers in a document, with the field of the answer that has them."""
    for key, value in document.items() if isinstance(document, dict) else ():
        if isinstance(value, str) and key in OF_STRANGERS and value.strip():
            yield OF_STRANGERS[key], LONE_SURROGATE.sub("\ufffd", value)[:LONGEST]
        yield from written(value)


def answers(site: Client, intent_id: str) -> dict[str, str]:
    """Return what each tool says about a transfer."""
    arguments = {"explain_transfer": "intent_id", "customer_reply": "intent_id", "look_up": "text",
                 "triage_ticket": "text"}  # fmt: skip
    return {name: call(site, name, **{argument: intent_id}) for name, argument in arguments.items()}


@pytest.mark.parametrize("turn", [0, 120])
def test_text_of_strangers_is_between_the_marks_as_received(turn: int) -> None:
    site, seen = Client(), set()
    with answering(Hostile(PAYLOADS, turn=turn)) as service:
        for scenario in SCENARIOS:
            intent_id = service.finished(scenario)["intentId"]
            _, receipt = asyncio.run(service.answer("GetIntentReceipt", json.dumps({"intentId": intent_id}).encode()))
            told = answers(site, intent_id)
            for field, text in written(receipt):
                assert text in json_of(told["explain_transfer"])["asReceived"][field]
                seen.add(field)
            for text in told.values():
                data_of(text)
    assert seen == set(OF_STRANGERS.values())


@pytest.mark.parametrize("kind", HIDDEN)
def test_hidden_characters_are_visible_in_every_answer(kind: str) -> None:
    with answering(Hostile([f"pay{HIDDEN[kind]}now"])) as service:
        told = answers(Client(), service.finished(11)["intentId"])
    for name, text in told.items():
        assert [each for each in text if is_hidden(each) and each != "\n"] == [], name
    assert any(f"pay{HIDDEN[kind]}now" in each for each in json_of(told["explain_transfer"])["asReceived"]["reasons"])


def test_the_mark_of_one_answer_does_not_end_another() -> None:
    service = Hostile(["harmless"])
    with answering(service):
        intent_id = service.finished(11)["intentId"]
        first = answers(Client(), intent_id)
        service.payloads = [text.rpartition("\n")[2] for text in first.values()]
        for turn in range(len(first)):
            service.turn = turn
            second = answers(Client(), service.finished(18)["intentId"])
            assert service.payloads[turn] in service.given
            for text in second.values():
                data_of(text)
