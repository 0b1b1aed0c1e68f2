"""Every fault that can be injected."""

from email.utils import parsedate_to_datetime

import pytest

from intents_ui.emulator.faults import NAMES, PAGES, REFUSALS
from tests.emulator.driving import NOW, request
from tests.emulator.test_history import ids, read


@pytest.fixture
def intent(emulator):
    return emulator.finished("cross-chain-fast")


def test_retry_after_in_its_three_formats(emulator):
    found = []
    for name in ("busy-60", "busy", "busy-date"):
        emulator.inject("GetChains", name)
        found.append(request(emulator, "GetChains").headers.get("retry-after"))
        emulator.reset()
    assert found[:2] == ["60", None]
    assert parsedate_to_datetime(found[2]).timestamp() == pytest.approx(NOW + 60, abs=1)


@pytest.mark.parametrize(
    "operation", ["GetIntentHistory", "GetIntent", "WaitIntentReceipt", "GetChains", "SearchIntents"]
)
def test_no_behavior_breaks_an_operation_it_is_not_for(emulator, intent, operation):
    body = {"intentId": intent["intentId"], "byIntentId": intent["intentId"], "page": {"pageSize": 5}}
    for name in NAMES - {*REFUSALS, *PAGES, "cut-body", "slow-first-byte"}:
        emulator.inject(operation, name)
        answer = request(emulator, operation, body)
        assert (answer.status, type(answer.document)) == (200, dict), name
        emulator.reset()


@pytest.mark.parametrize("order", ["ASC", "DESC"])
def test_ties_at_the_edge_of_a_page_are_skipped_by_creation_time_and_not_by_id(emulator, order):
    window = int(NOW) // 60 * 60 - 3600, int(NOW) // 60 * 60 - 3300
    whole = ids(read(emulator, *window))
    emulator.inject("*", "created-ties")
    by_id = read(emulator, *window, size=5, order=order)
    by_time = read(emulator, *window, size=5, column="createdAt", order=order)
    times = [row["createdAt"] for row in by_id]
    assert set(ids(by_id)) >= set(whole)
    assert len(set(times)) < len(times) / 3
    assert times == sorted(times, reverse=order == "DESC")
    assert set(ids(by_time)) < set(ids(by_id))
