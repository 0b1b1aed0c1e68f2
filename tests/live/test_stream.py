"""What a browser receives from /live/<intentId>."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from intents_ui.live.snapshot import Snapshot
from intents_ui.live.stream import Streams
from intents_ui.service.executor import Shares
from tests.emulator.driving import Clock
from tests.live.browser import Browser, browsing
from tests.live.following import CountedService, hub_on, until


class Page:
    """Stands for the template: says what is in the snapshot, and counts how often it was asked."""

    def __init__(self) -> None:
        self.rendered: list[Snapshot] = []
        self.is_broken = False

    def __call__(self, snapshot: Snapshot) -> str:
        self.rendered.append(snapshot)
        if self.is_broken:
            raise ValueError("no such filter")
        status = snapshot.receipt.status if snapshot.receipt else "no receipt"
        return f"<p>{status}</p>\n<p>{'stale' if snapshot.stale_since else 'fresh'}</p>"


@pytest.fixture
def page() -> Page:
    return Page()


@contextlib.asynccontextmanager
async def streams_on(service: CountedService, page: Page, clock: Clock, **how: object) -> AsyncIterator[Streams]:
    async with hub_on(service, clock=clock) as hub:
        streams = Streams(
            hub=hub,
            render=page,
            fallback=lambda intent_id: f'<p hx-get="/intent/{intent_id}/receipt">',
            client_of=lambda scope: scope["client"][0],
            headers=[(b"x-content-type-options", b"nosniff")],
            **({"tick": 0.01, "max_streams": 2500, "max_of_client": 20} | how),
        )
        yield streams
        await streams.aclose()


async def test_each_change_is_sent_as_a_fragment_and_a_final_status_ends_the_stream(service, page, clock):
    intent = service.emulator.play("cross-chain-fast", age=22)
    async with streams_on(service, page, clock) as streams:
        browser = Browser(streams, f"/live/{intent['intentId']}")
        await until(lambda: len(browser.events) == 1 and service.waits)
        clock.forward(40)
        async with browsing(browser):
            await until(browser.task.done, within=20)
    assert browser.status == 200
    assert browser.answered == {
        "content-type": "text/event-stream; charset=utf-8",
        "cache-control": "no-store",
        "x-accel-buffering": "no",
        "x-content-type-options": "nosniff",
    }
    first, second, done = browser.events
    assert (first.name, first.data) == ("", "<p>EXECUTING</p>\n<p>fresh</p>")
    assert (second.name, second.data) == ("", "<p>SUCCEEDED</p>\n<p>fresh</p>")
    assert (done.name, done.data) == ("done", "SUCCEEDED")
    assert first.id != second.id
    assert browser.is_complete


async def test_a_returning_reader_with_the_latest_snapshot_gets_nothing_until_it_changes(service, page, clock, fast):
    async with streams_on(service, page, clock) as streams:
        first = Browser(streams, f"/live/{fast}")
        async with browsing(first):
            await until(lambda: first.events and service.waits)
            known = first.events[0].id
            again = Browser(streams, f"/live/{fast}", headers={"Last-Event-ID": known})
            from_page = Browser(streams, f"/live/{fast}", query=f"seen={known}")
            older = Browser(streams, f"/live/{fast}", headers={"Last-Event-ID": "another"})
            async with browsing(again, from_page, older):
                await until(lambda: again.beats and from_page.beats and older.events)
                clock.forward(40)
                await asyncio.gather(again.task, from_page.task)
    for browser in (again, from_page):
        assert [(event.name, event.data[:16]) for event in browser.events] == [
            ("", "<p>SUCCEEDED</p>"),
            ("done", "SUCCEEDED"),
        ]


async def test_a_viewer_that_never_reads_holds_up_no_other(service, page, clock, fast):
    async with streams_on(service, page, clock) as streams:
        stalled = Browser(streams, f"/live/{fast}")
        stalled.reads.clear()
        reading = Browser(streams, f"/live/{fast}")
        async with browsing(stalled):
            await until(lambda: reading.events and service.waits and len(streams.open) == 2)
            clock.forward(40)
            await reading.task
            assert [event.name for event in reading.events] == ["", "", "done"]
            assert (stalled.received, len(streams.open)) == (b"", 1)
            stalled.reads.set()


async def test_the_same_snapshot_is_rendered_once_but_again_after_an_outage(service, page, clock):
    """A fragment has the time of its data."""
    fresh = Snapshot("0x" + "1f" * 32, None, learned_at=None)
    async with streams_on(service, page, clock) as streams:
        for each in (fresh, fresh, fresh.stale(datetime.now(UTC)), fresh):
            await streams.event(each)
    assert [bool(each.stale_since) for each in page.rendered] == [False, True, False]


async def test_a_stream_ends_after_its_maximum_age_with_a_reconnect_delay(service, page, clock, slow):
    async with streams_on(service, page, clock, beat_every=0.1, lasts=1.0) as streams:
        browser = Browser(streams, f"/live/{slow}")
        await browser.task
    bye = browser.events[-1]
    assert (bye.name, bye.data) == ("bye", "again")
    assert browser.beats
    assert 200 <= bye.retry <= 2000
    assert browser.is_complete


@pytest.mark.parametrize(
    ("limits", "addresses", "status"),
    [
        pytest.param({"max_streams": 2}, ["192.0.2.1", "192.0.2.2", "192.0.2.3"], 503, id="of the process"),
        pytest.param({"max_of_client": 2}, ["192.0.2.1"] * 3, 429, id="of a client"),
    ],
)
async def test_a_stream_over_the_limit_gets_a_polling_fragment_until_a_slot_is_free(
    service, page, clock, limits, addresses, status
):
    intent = service.emulator.play("cctp-slow", age=60)["intentId"]
    async with streams_on(service, page, clock, **limits) as streams:
        first, second = (Browser(streams, f"/live/{intent}", address=address) for address in addresses[:2])
        async with browsing(first, second):
            await until(lambda: first.events and second.events)
            third = Browser(streams, f"/live/{intent}", address=addresses[2])
            async with browsing(third):
                await until(third.task.done, within=20)
            assert third.status == status
            assert int(third.answered["retry-after"]) >= 10
            assert third.received.decode() == f'<p hx-get="/intent/{intent}/receipt">'
            await first.leave()
            fourth = Browser(streams, f"/live/{intent}", address=addresses[2])
            async with browsing(fourth):
                await until(lambda: fourth.events)


async def test_streams_of_one_client_leave_slots_for_others(service, page, clock):
    intents = [service.emulator.play("cctp-slow", age=60)["intentId"] for _ in range(4)]
    async with streams_on(service, page, clock) as streams:
        streams.hub.slots = Shares(16)
        greedy = [Browser(streams, f"/live/{intent}", address="192.0.2.1") for intent in intents[:2]]
        async with browsing(*greedy):
            await until(lambda: all(each.events for each in greedy))
            refused = Browser(streams, f"/live/{intents[2]}", address="192.0.2.1")
            await asyncio.wait_for(refused.task, 30)
            assert refused.status == 429
            assert int(refused.answered["retry-after"]) >= 10
            other = Browser(streams, f"/live/{intents[3]}", address="192.0.2.2")
            async with browsing(other):
                await until(lambda: other.events)


async def test_a_stream_starts_without_a_snapshot_when_the_service_does_not_respond(service, page, clock, slow):
    service.emulator.inject("*", "slow-0.5", times=1)
    async with streams_on(service, page, clock, first_snapshot=0.05) as streams:
        browser = Browser(streams, f"/live/{slow}")
        async with browsing(browser):
            await until(lambda: browser.status == 200 and browser.beats)
            assert browser.events == []
            await until(lambda: browser.events)


async def test_a_render_error_sends_readers_away_with_a_reconnect_delay(service, page, clock, caplog, slow):
    page.is_broken = True
    async with streams_on(service, page, clock) as streams:
        browsers = [Browser(streams, f"/live/{slow}") for _ in range(3)]
        await asyncio.gather(*(browser.task for browser in browsers))
        assert {(event.name, event.retry) for browser in browsers for event in browser.events} == {("bye", 15_000)}
        assert all(browser.is_complete for browser in browsers)
        page.is_broken = False
        later = Browser(streams, f"/live/{slow}")
        async with browsing(later):
            await until(lambda: later.events)
    assert "no such filter" in caplog.text


async def test_a_stopping_process_sends_current_and_new_readers_to_another(service, page, clock, slow):
    stopping = asyncio.Event()
    async with streams_on(service, page, clock, stopping=stopping.is_set) as streams:
        browsers = [Browser(streams, f"/live/{slow}") for _ in range(20)]
        await until(lambda: all(browser.events for browser in browsers))
        stopping.set()
        await asyncio.gather(*(browser.task for browser in browsers))
        late = Browser(streams, f"/live/{slow}")
        await late.task
    assert {browser.events[-1].name for browser in browsers} == {"bye"}
    assert len({browser.events[-1].retry for browser in browsers}) > 10
    assert (late.status, [event.name for event in late.events]) == (200, ["bye"])


async def test_a_stopping_process_does_not_report_an_undelivered_final_snapshot_as_done(service, page, clock):
    intent = service.emulator.finished("cross-chain-fast")["intentId"]
    stopping = asyncio.Event()
    async with streams_on(service, page, clock, stopping=stopping.is_set) as streams:
        first = Browser(streams, f"/live/{intent}")
        await first.task
        stopping.set()
        newcomer = Browser(streams, f"/live/{intent}")
        informed = Browser(streams, f"/live/{intent}", headers={"Last-Event-ID": first.events[0].id})
        await asyncio.gather(newcomer.task, informed.task)
    assert [event.name for event in newcomer.events] == ["bye"]
    assert [event.name for event in informed.events] == ["done"]
