"""What a browser gets from /live/<intentId>."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest

from intents_ui.live.picture import Picture
from intents_ui.live.stream import Limits, Streams
from tests.emulator.driving import Clock
from tests.live.browser import Browser, browsing
from tests.live.following import CountedService, hub_on, until


class Page:
    """Stands for the template: says what is in the picture, and counts how often it was asked."""

    def __init__(self) -> None:
        self.rendered: list[Picture] = []
        self.is_broken = False

    def __call__(self, picture: Picture) -> str:
        self.rendered.append(picture)
        if self.is_broken:
            raise ValueError("no such filter")
        status = picture.receipt.status if picture.receipt else "no receipt"
        return f"<p>{status}</p>\n<p>{'stale' if picture.stale_since else 'fresh'}</p>"


@pytest.fixture
def page() -> Page:
    return Page()


@contextlib.asynccontextmanager
async def streams_on(service: CountedService, page: Page, clock: Clock, **how: object) -> AsyncIterator[Streams]:
    limits = {name: value for name, value in how.items() if name != "stopping"}
    async with hub_on(service, clock=clock) as hub:
        streams = Streams(
            hub,
            page,
            instead=lambda intent_id: f'<p hx-get="/intent/{intent_id}/receipt">',
            address_of=lambda scope: scope["client"][0],
            headers=[(b"x-content-type-options", b"nosniff")],
            limits=Limits(**({"tick": 0.01} | limits)),
            stopping=how.get("stopping", lambda: False),
        )
        yield streams
        await streams.aclose()


async def test_each_change_is_sent_as_the_fragment_and_the_last_one_ends_the_stream(service, page, clock):
    intent = service.emulator.play("cross-chain-fast", age=22)
    async with streams_on(service, page, clock) as streams:
        browser = Browser(streams, f"/live/{intent['intentId']}")
        await until(lambda: len(browser.events) == 1 and service.waits)
        clock.forward(40)
        await browser.task
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


async def test_a_change_is_rendered_once_for_all(service, page, clock):
    intent = service.emulator.play("cross-chain-fast", age=22)
    async with streams_on(service, page, clock, an_address=100) as streams:
        browsers = [Browser(streams, f"/live/{intent['intentId']}") for _ in range(50)]
        async with browsing(*browsers):
            await until(lambda: all(browser.events for browser in browsers) and service.waits)
            clock.forward(40)
            await asyncio.gather(*(browser.task for browser in browsers))
    assert {browser.events[1].data for browser in browsers} == {"<p>SUCCEEDED</p>\n<p>fresh</p>"}
    assert len(page.rendered) == 2
