"""A client that opens streams too quickly gets none, and its page polls."""

import asyncio

from intents_ui.live.stream import Streams
from tests.live.browser import Browser
from tests.live.following import CountedService, hub_on


async def test_an_address_beyond_its_rate_gets_a_polling_fragment(service: CountedService) -> None:
    intent = service.emulator.play("cctp-slow", age=60)["intentId"]
    async with hub_on(service) as hub:
        streams = Streams(
            hub,
            lambda snapshot: "",
            fallback=lambda intent_id: f'<p hx-get="/intent/{intent_id}/receipt">',
            client_of=lambda scope: scope["client"][0],
            wait=lambda client: 7,
        )
        browser = Browser(streams, f"/live/{intent}", address="192.0.2.1")
        await asyncio.wait_for(browser.task, 10)
        await streams.aclose()
    assert browser.status == 429
    assert browser.received.decode() == f'<p hx-get="/intent/{intent}/receipt">'
    assert service.calls.total() == 0
