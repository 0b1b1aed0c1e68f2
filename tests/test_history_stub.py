"""The stub with a long history: complete windows in both directions, and transfers that end while time passes."""

import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest

from bench.history_stub import History
from bench.processes import history_stub
from intents_ui.service.client import ServiceClient, ServiceConfig
from intents_ui.service.queries.paging import End, walk
from intents_ui.service.wire.models import IntentHistory, IntentStatus, Page
from tests.emulator.driving import NOW, Clock

HOUR = 3600
RPC = "/rpc/Service/GetIntentHistory"


@pytest.fixture(scope="module")
def service() -> Iterator[ServiceClient]:
    """Yield the dashboard's client of a stub with two million entries."""
    with history_stub(entries=2_000_000, days=30) as url, ServiceClient(ServiceConfig(url)) as client:
        yield client


def read(
    service: ServiceClient, since: int, until: int, *, column: str = "id", order: str = "ASC", size: int = 100
) -> list[IntentHistory]:
    """Return a window's entries, of all of its pages."""
    found: list[IntentHistory] = []
    pages = walk(
        lambda page: service.get_intent_history(page=page, from_time=since, to_time=until),
        Page.first(size=size, column=column, order=order),
    )
    for entries, end in pages:
        found += entries
        assert end in (None, End.COMPLETE)
    return found


def ids(entries: list[IntentHistory]) -> list[str]:
    return [entry.intent_id for entry in entries]


@pytest.fixture(scope="module")
def since() -> int:
    return int(datetime.now(UTC).timestamp()) // 60 * 60 - 20 * 24 * HOUR


def test_entries_are_complete_for_the_dashboards_client(service: ServiceClient, since: int) -> None:
    entries = read(service, since, since + 600)
    assert len(entries) == pytest.approx(2_000_000 / 30 / 144, rel=0.02)
    assert Counter(entry.status for entry in entries)[IntentStatus.SUCCEEDED] > len(entries) / 2
    for entry in entries:
        assert entry.created_at
        assert since <= entry.created_at.timestamp() <= since + 600
        assert entry.receipt
        assert entry.receipt.intent_id == entry.intent_id
        assert entry.receipt.status == entry.status
        assert entry.receipt.summary
        assert entry.receipt.summary.owner_address == entry.receipt.owner_address
        if entry.status == IntentStatus.SUCCEEDED:
            summary = entry.receipt.summary
            assert summary.started_at
            assert summary.finished_at
            assert entry.created_at < summary.started_at < summary.finished_at
    assert len({entry.receipt.owner_address for entry in entries if entry.receipt}) > 100


def test_windows_tile_the_history_without_loss(service: ServiceClient, since: int) -> None:
    whole = ids(read(service, since, since + 1200))
    windows = [ids(read(service, start, start + 60)) for start in range(since, since + 1200, 60)]
    assert [each for window in windows for each in window] == whole
    assert len(set(whole)) == len(whole)


@pytest.mark.parametrize("column", ["id", "createdAt"])
@pytest.mark.parametrize("size", [7, 100])
def test_both_directions_have_the_same_entries(service: ServiceClient, since: int, column: str, size: int) -> None:
    upward = read(service, since, since + 300, column=column, order="ASC", size=size)
    downward = read(service, since, since + 300, column=column, order="DESC", size=size)
    assert ids(upward) == ids(downward)[::-1]
    assert len(upward) > 200
    assert all(one.created_at < other.created_at for one, other in pairwise(upward) if one.created_at)


def test_a_receipt_is_that_of_its_entry(service: ServiceClient, since: int) -> None:
    for entry in read(service, since, since + 30):
        receipt = service.get_intent_receipt(entry.intent_id)
        assert entry.receipt
        assert receipt.model_dump() == entry.receipt.model_dump()


def ask(history: History, **asked: Any) -> dict[str, Any]:
    head, _, body = history.reply(RPC, json.dumps(asked)).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200"), body
    answer: dict[str, Any] = json.loads(body)
    return answer


def everything(history: History, **asked: Any) -> list[dict[str, Any]]:
    page: Any = {"pageSize": 100}
    rows: list[dict[str, Any]] = []
    while page:
        answer = ask(history, page=page, **asked)
        rows += answer["intents"]
        page = answer["nextPage"]
    return rows


def test_a_history_has_exactly_its_entries_and_each_has_one_status() -> None:
    history = History(entries=1500, days=2, now=Clock())
    rows = everything(history)
    assert len({row["intentId"] for row in rows}) == len({row["receipt"]["id"] for row in rows}) == 1500
    by_status = [everything(history, byStatus=status) for status in IntentStatus]
    assert sum(map(len, by_status)) == 1500
    two = everything(history, byStatuses=["FAILED", "SUCCEEDED"])
    assert {row["status"] for row in two} == {"FAILED", "SUCCEEDED"}


def test_pages_lead_back() -> None:
    history = History(entries=1500, days=2, now=Clock())
    first = ask(history, page={"pageSize": 10})
    second = ask(history, page=first["nextPage"])
    cursor = second["intents"][0]["receipt"]["id"]
    back = ask(history, page=first["nextPage"] | {"before": cursor, "after": None})
    assert back == {"intents": first["intents"], "nextPage": None}


def test_entries_are_quoted_executed_and_ended_while_time_passes() -> None:
    clock = Clock()
    history = History(entries=1000, days=1, rate=4, now=clock)
    clock.forward(60)
    born = everything(history, fromTime=int(NOW) + 1)
    assert len(born) == pytest.approx(4 * 60, abs=8)
    is_open = {"byStatuses": ["COMMITTED", "EXECUTING"], "fromTime": int(NOW) + 1}
    assert len(everything(history, **is_open)) > 100
    seen = Counter(row["status"] for row in born)
    assert {"QUOTED", "COMMITTED", "EXECUTING", "SUCCEEDED"} <= seen.keys()
    assert all(datetime.fromisoformat(row["updatedAt"]).timestamp() <= clock.now for row in born)
    clock.forward(3 * HOUR)
    until = {"toTime": int(NOW) + 60}
    ended = everything(history, fromTime=int(NOW) + 1, **until)
    assert {row["intentId"] for row in born} >= {row["intentId"] for row in ended}
    assert everything(history, **is_open, **until) == []


def test_the_number_of_entries_takes_no_memory_and_no_time() -> None:
    history = History(entries=10**12, days=30, now=Clock())
    assert len(everything(history, fromTime=int(NOW) - 100, toTime=int(NOW) - 100)) == 1
    assert len(ask(history, page={"pageSize": 100}, byStatus="SUCCEEDED")["intents"]) == 100


def test_filters_that_the_stub_lacks_are_errors() -> None:
    history = History(entries=10, days=1, now=Clock())
    reply = history.reply(RPC, json.dumps({"originChainId": 1}))
    assert reply.startswith(b"HTTP/1.1 400")
    assert b"originChainId" in reply
