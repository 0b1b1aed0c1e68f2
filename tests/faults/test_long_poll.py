"""What live updates cost the service at production settings, on real sockets and an accelerated clock."""

import asyncio
import contextlib
import itertools
import json
import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from intents_ui.live.hub import MAX_CUT_POLLS, STARTS_PER_SECOND, Hub, PollIntervals
from intents_ui.service.client import ServiceClient
from intents_ui.service.operations import POLICIES, Kind, ServiceConfig
from tests.faults.swift import run
from tests.live.following import Viewer
from tests.live.tcp_service import TcpService, served

MINUTE = 60.0
BEGAN = datetime(2026, 11, 21, 12, tzinfo=UTC)
ID = "0x" + "ab" * 32

type Reply = dict[str, Any] | int | None


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Of minutes of questions nobody reads the log."""
    logging.disable(logging.ERROR)
    yield
    logging.disable(logging.NOTSET)


def clock() -> float:
    return asyncio.get_running_loop().time()


def now() -> datetime:
    return BEGAN + timedelta(seconds=clock())


class Service:
    """Answers by `wait` and `look`: given the number of the call, the seconds that it takes and what it brings: a
    document, an HTTP status, or None for never."""

    def __init__(self) -> None:
        self.requested: list[tuple[float, str]] = []
        self.given_up: list[float] = []
        self.under_way: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self.status = "EXECUTING"
        self.updated_at = "2026-11-21T11:59:00Z"
        self.done = False
        self.states = ["SUCCEEDED", "MINING"]
        self.wait: Callable[[int], tuple[float, Reply]] = lambda number: (28.0 if number > 1 else 0.0, {})
        self.look: Callable[[int], tuple[float, Reply]] = lambda number: (0.0, {})

    def receipt(self, intent_id: str) -> dict[str, Any]:
        return {"intentId": intent_id, "status": self.status, "updatedAt": self.updated_at}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        operation = scope["path"].rpartition("/")[2]
        intent_id = json.loads((await receive())["body"])["intentId"]
        self.requested.append((clock(), operation))
        self.under_way[operation] += 1
        self.most[operation] = max(self.most[operation], self.under_way[operation])
        try:
            await self.answer(operation, intent_id, receive, send)
        finally:
            self.under_way[operation] -= 1

    async def answer(self, operation: str, intent_id: str, receive: Any, send: Any) -> None:
        how = self.wait if operation == "WaitIntentReceipt" else self.look
        began = clock()
        seconds, reply = how(len(self.times(operation)))
        if (seconds or reply is None) and await self.is_left(receive, within=None if reply is None else seconds):
            self.given_up.append(clock() - began)
            return
        document: Any = {"intentReceipt": self.receipt(intent_id)}
        if operation == "WaitIntentReceipt":
            document |= {"receiptStates": self.states, "done": self.done}
        document = reply if isinstance(reply, dict) and reply else document
        status = reply if isinstance(reply, int) else 200
        content = json.dumps(document).encode() if status == 200 else b""
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": content})

    async def is_left(self, receive: Any, *, within: float | None) -> bool:
        leaving = asyncio.ensure_future(receive())
        await asyncio.wait({leaving}, timeout=within)
        return leaving.done() or not leaving.cancel()

    def times(self, *operations: str) -> list[float]:
        return [at for at, operation in self.requested if not operations or operation in operations]

    def calls(self, *, since: float = 0.0, until: float = float("inf")) -> int:
        return sum(since <= at < until for at in self.times())


@contextlib.asynccontextmanager
async def watching(
    service: Service, *ids: str, viewers: int = 1, **config: Any
) -> AsyncIterator[tuple[Hub, list[Viewer], TcpService]]:
    async with served(service) as front:
        client = ServiceClient(ServiceConfig(front.url, **config), clock=clock)
        hub = Hub(client, now=now, max_watched=1000)
        async with contextlib.aclosing(client), contextlib.aclosing(hub):
            found = [Viewer(hub, each) for each in (ids or [ID]) for _ in range(viewers)]
            try:
                yield hub, found, front
            finally:
                for viewer in found:
                    await viewer.leave()


def swiftly(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    def ran(**given: Any) -> None:
        run(lambda: test(**given))

    ran.__name__, ran.__doc__ = test.__name__, test.__doc__
    ran.__signature__ = __import__("inspect").signature(test)  # type: ignore[attr-defined]
    if hasattr(test, "pytestmark"):
        ran.pytestmark = test.pytestmark  # type: ignore[attr-defined]
    return ran


@swiftly
@pytest.mark.parametrize("viewers", [1, 100])
async def test_one_transfer_costs_two_calls_a_minute_for_any_number_of_viewers(viewers: int) -> None:
    service = Service()
    async with watching(service, viewers=viewers) as (_, found, _front):
        await asyncio.sleep(10 * MINUTE)
        assert all(viewer.snapshots for viewer in found)
    assert service.calls(until=MINUTE) <= 5
    assert 17 <= service.calls(since=MINUTE, until=10 * MINUTE) <= 9 * 2.3
    assert service.most["WaitIntentReceipt"] == 1
    assert service.calls(since=10 * MINUTE + 35) == 0


@swiftly
@pytest.mark.parametrize("brings", ["nothing", "another cursor each time"])
async def test_a_service_that_always_responds_at_once_is_polled_less_and_less(brings: str) -> None:
    service = Service()

    def at_once(number: int) -> tuple[float, Reply]:
        if brings != "nothing":
            service.states = [f"MOVED-{number}"]
        return 0.0, {}

    service.wait = at_once
    async with watching(service) as (_, found, _front):
        await asyncio.sleep(10 * MINUTE)
        assert not found[0].snapshots[-1].stale_since
    first = service.calls(until=MINUTE)
    assert first <= (10 if brings == "nothing" else 20)
    gaps = [later - earlier for earlier, later in itertools.pairwise(service.times("WaitIntentReceipt"))]
    patient = gaps[1:] if brings == "nothing" else gaps[4:]
    assert [round(gap) for gap in patient[:5]] == ([2, 4, 8, 15, 15] if brings == "nothing" else [2, 3, 6, 13, 15])
    assert all(14.9 < gap < 15.1 for gap in patient[5:])


@swiftly
async def test_an_unanswered_long_poll_times_out_and_is_replaced_by_short_polls() -> None:
    service = Service()
    service.wait = lambda number: (0.0, {}) if number == 1 else (0.0, None)
    async with watching(service) as (hub, found, front):
        await asyncio.sleep(5 * MINUTE)
        waits, looks = service.times("WaitIntentReceipt"), service.times("GetIntentReceipt")
        assert len(waits) == 1 + MAX_CUT_POLLS
        assert all(30 < seconds <= POLICIES[Kind.WAIT].total for seconds in service.given_up)
        later = [at for at in looks if at > waits[-1] + 41]
        assert all(10 < after - before <= 20 for before, after in itertools.pairwise(later))
        assert not found[0].snapshots[-1].stale_since, "quiet is no trouble"
        await found[0].leave()
        await asyncio.sleep(6)
        assert not hub.watched
        assert front.connections <= 1


@swiftly
@pytest.mark.parametrize("status", [500, 451])
async def test_persistent_errors_are_reported_once_and_retried_less_and_less(status: int) -> None:
    service = Service()
    async with watching(service) as (_, found, _front):
        await asyncio.sleep(10)
        service.wait = service.look = lambda number: (0.0, status)
        before = clock()
        await asyncio.sleep(10 * MINUTE)
        result = found[0].snapshots[-1]
        assert result.stale_since
        assert result.receipt.status == "EXECUTING", "the last known snapshot stays"
        assert len(found[0].snapshots) <= 3
        asked = service.calls(since=before)
        times = [at for at in service.times() if at > before]
        # A service that is away is looked for every few seconds, so that readers have their snapshot back within five.
        # Each try is a wait and a look; the first few come before the pause has grown.
        tries = 10 * MINUTE / PollIntervals().retry_unreachable
        assert asked <= (2 * tries + 10 if status == 500 else 60)
        longest = PollIntervals().retry_unreachable + 6 if status == 500 else 2 * PollIntervals().poll
        assert max(later - earlier for earlier, later in itertools.pairwise(times)) <= longest + 1
        service.wait, service.look = Service().wait, Service().look
        await asyncio.sleep(longest + 10)
        assert not found[0].snapshots[-1].stale_since


@swiftly
@pytest.mark.parametrize("status", ["REFUNDED", "SUCCEEDED"])
async def test_a_final_status_ends_polling_even_if_the_service_says_to_continue(status: str) -> None:
    service = Service()
    service.status = status
    async with watching(service) as (_, found, _front):
        await asyncio.sleep(MINUTE)
        assert found[0].task.done()
        assert found[0].snapshots[-1].is_final
    assert len(service.requested) == 1


@swiftly
@pytest.mark.parametrize("status", ["EXECUTING", "FAILED", "ABORTED", "INVALID"])
async def test_a_stopped_but_not_final_status_is_polled_slowly_for_half_an_hour(status: str) -> None:
    service = Service()
    async with watching(service) as (_, found, _front):
        await asyncio.sleep(10)
        service.status, service.done, service.updated_at = status, True, "2026-11-21T12:00:20Z"
        service.wait = lambda number: (0.0, {})
        await asyncio.sleep(MINUTE)
        stopped = service.times("WaitIntentReceipt")[-1]
        await asyncio.sleep(33 * MINUTE)
        assert found[0].snapshots[-1].is_final
        assert found[0].snapshots[-1].receipt.status == status
    assert service.times("WaitIntentReceipt")[-1] == stopped, "it said: stop waiting"
    looks = [at for at in service.times("GetIntentReceipt") if at > stopped]
    # For five minutes a refund is likely.
    assert 20 <= len(looks) <= 60
    late = [at for at in looks if at > stopped + 6 * MINUTE]
    assert all(45 <= later - earlier <= 75 for earlier, later in itertools.pairwise(late))


@swiftly
async def test_a_failure_after_the_end_of_waiting_is_polled_for_half_an_hour_of_its_own() -> None:
    service = Service()
    async with watching(service) as (_, found, _front):
        await asyncio.sleep(10)
        service.done, service.updated_at = True, "2026-11-21T12:00:20Z"
        service.wait = lambda number: (0.0, {})
        await asyncio.sleep(25 * MINUTE)
        service.status, service.updated_at = "FAILED", "2026-11-21T12:25:00Z"
        await asyncio.sleep(25 * MINUTE)
        service.status, service.updated_at = "REFUNDED", "2026-11-21T12:50:00Z"
        await asyncio.sleep(2 * MINUTE)
        assert found[0].statuses == ["EXECUTING", "FAILED", "REFUNDED"]


@swiftly
async def test_polling_resumes_when_a_final_status_changes() -> None:
    service = Service()
    service.done, service.status = True, "FAILED"
    service.updated_at = "2026-11-21T12:00:00Z"
    async with watching(service) as (_, found, _front):
        await asyncio.sleep(3 * MINUTE)
        service.status, service.done, service.updated_at = "EXECUTING", False, "2026-11-21T12:03:00Z"
        await asyncio.sleep(2 * MINUTE)
        assert service.under_way["WaitIntentReceipt"] == 1
        service.status, service.updated_at = "SUCCEEDED", "2026-11-21T12:05:00Z"
        await asyncio.sleep(MINUTE)
        assert found[0].statuses == ["FAILED", "EXECUTING", "SUCCEEDED"]


@swiftly
@pytest.mark.parametrize("earlier", ["2026-11-21T11:59:30Z", "2026-11-21T12:00:00Z", None])
async def test_a_status_that_moves_backward_is_not_shown(earlier: str | None) -> None:
    service = Service()
    service.status, service.updated_at = "FAILED", "2026-11-21T12:00:00Z"
    async with watching(service) as (_, found, _front):
        await asyncio.sleep(10)
        service.status = "EXECUTING"
        service.updated_at = earlier  # type: ignore[assignment]
        await asyncio.sleep(3 * MINUTE)
        service.status, service.updated_at = "FAILED", "2026-11-21T12:00:00Z"
        await asyncio.sleep(3 * MINUTE)
        assert found[0].statuses == ["FAILED"]
        assert [snapshot.regressed_to for snapshot in found[0].snapshots] == [None, "EXECUTING", None]
        service.status, service.updated_at = "EXECUTING", "2026-11-21T12:09:00Z"
        await asyncio.sleep(2 * MINUTE)
        assert found[0].statuses == ["FAILED", "EXECUTING"], "a repair is later, and shown"


@swiftly
@pytest.mark.parametrize("ahead", ["2026-11-21T13:00:00Z", "2027-11-21T12:00:00Z", "9999-01-01T00:00:00Z"])
async def test_a_status_from_the_future_does_not_keep_out_later_ones(ahead: str) -> None:
    service = Service()
    service.status, service.updated_at = "EXECUTING", ahead
    async with watching(service) as (_, found, _front):
        await asyncio.sleep(10)
        service.status, service.updated_at = "SUCCEEDED", "2026-11-21T12:00:05Z"
        await asyncio.sleep(MINUTE)
        assert found[0].statuses == ["EXECUTING", "SUCCEEDED"]


@swiftly
async def test_a_failure_from_the_future_is_polled_for_half_an_hour() -> None:
    service = Service()
    service.status, service.updated_at = "FAILED", "2027-11-21T12:00:00Z"
    async with watching(service) as (_, found, _front):
        await asyncio.sleep(33 * MINUTE)
        assert found[0].snapshots[-1].is_final


MANY = [f"0x{number:064x}" for number in range(500)]


@swiftly
@pytest.mark.parametrize("count", [70, pytest.param(500, marks=pytest.mark.slow)])
async def test_many_transfers_at_once_are_live_within_the_services_rate_limits(count: int) -> None:
    service = Service()
    async with watching(service, *MANY[:count]) as (_, found, _front):
        await asyncio.sleep(75)
        assert all(viewer.snapshots and not viewer.snapshots[-1].stale_since for viewer in found)
        held = ServiceConfig("http://x").held_calls
        assert service.most["WaitIntentReceipt"] == held
    assert service.calls(until=1) <= 50, "those that come at once begin one after another"
    assert all(service.calls(since=second, until=second + 5) / 5 <= 50 for second in range(70))
    assert service.calls(since=15, until=75) / 60 <= 40


@swiftly
async def test_long_polls_that_all_break_at_once_are_restarted_one_after_another() -> None:
    service = Service()
    service.wait = lambda number: (28.0, {})
    ids = MANY[:20]
    async with watching(service, *ids) as (_, found, front):
        await asyncio.sleep(40)
        assert service.under_way["WaitIntentReceipt"] == len(ids)
        broke = clock()
        await front.down()
        await front.up()
        await asyncio.sleep(45)
        assert service.under_way["WaitIntentReceipt"] == len(ids), "all are live again"
        assert not any(viewer.snapshots[-1].stale_since for viewer in found)
    again = [at for at in service.times("GetIntentReceipt") if at >= broke]
    assert len(again) >= len(ids)
    for second in range(1, 45):  # counted from the start: those that a busy machine delays may come close together
        assert sum(at - broke < second for at in again) <= (second + 1) * 1.5 * STARTS_PER_SECOND
