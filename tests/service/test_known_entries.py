"""History entries that come again in other responses."""

from collections.abc import Mapping
from typing import Any

from intents_ui.service.models import HistoryAnswer
from intents_ui.service.operations import Answer, get_intent_history

A: dict[str, Any] = {"intentId": "0xa", "status": "SUCCEEDED", "updatedAt": "2026-11-30T10:00:00Z"}
B: dict[str, Any] = {"intentId": "0xb", "status": "EXECUTING", "updatedAt": "2026-11-30T10:00:00Z"}


def read(*rows: Mapping[str, Any], **filters: Any) -> HistoryAnswer:
    return get_intent_history(**filters).read(Answer({"intents": [{**row} for row in rows]}, ""))


def test_a_changed_entry_is_read_again_beside_those_that_did_not_change() -> None:
    first = read(A, B)
    again = read(A, B | {"status": "SUCCEEDED"})
    assert again.intents[0] is first.intents[0]
    assert again.intents[1].status == "SUCCEEDED"


def test_an_entry_with_balances_does_not_replace_the_one_without() -> None:
    first, _ = read(A), read(A | {"hasBalance": True})
    assert read(A).intents[0] is first.intents[0]


def test_what_could_not_be_read_is_known_when_it_comes_again() -> None:
    row = A | {"intentId": "0xd", "createdAt": "yesterday"}
    for answer in (read(row), read(row)):
        assert answer.intents[0].unreadable == {"created_at": "yesterday"}
    for answer in (read(A, {"status": "FAILED"}), read(A, {"status": "FAILED"})):
        assert [each.intent_id for each in answer.intents] == ["0xa"]
        assert answer.unreadable_entries == 1
