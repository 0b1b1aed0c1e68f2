"""Live streams at `/live/…`, with the headers of pages."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from intents_ui import app, asgi, startup
from intents_ui.emulator.app import Emulator
from intents_ui.web import intent as intent_page


async def get(
    path: str, host: str = "localhost", *, received: Callable[[bytes], None] = lambda piece: None
) -> tuple[int, dict[str, str], bytes]:
    """Return the complete response. `received` is called with each chunk as it arrives."""
    result: list[Any] = []
    scope = {"type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "query_string": b"",
             "headers": [(b"host", host.encode())], "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80),
             "scheme": "http", "http_version": "1.1", "root_path": "", "asgi": {"version": "3.0"}}  # fmt: skip
    requested = iter([{"type": "http.request", "body": b"", "more_body": False}])

    async def receive() -> Any:
        return next(requested, None) or await asyncio.Event().wait()

    async def send(message: Any) -> None:
        result.append(message)
        received(message.get("body", b""))

    async with asyncio.timeout(60):
        await asgi.application(scope, receive, send)
    headers = {name.decode().lower(): value.decode() for name, value in result[0]["headers"]}
    return result[0]["status"], headers, b"".join(message.get("body", b"") for message in result[1:])


@pytest.fixture
async def page(emulator: Emulator, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Emulator]:
    monkeypatch.setattr(intent_page, "receipt_fragment", lambda picture: picture.receipt.status, raising=False)
    monkeypatch.setattr(intent_page, "polling_fragment", lambda intent_id: "<p>", raising=False)
    app.use(startup.build(emulator=emulator))
    yield emulator
    await app.current().aclose()


async def test_a_stream_reports_the_end_of_a_transfer_with_the_headers_of_a_page(page):
    _, of_page, _ = await get("/")
    status, of_stream, body = await get(f"/live/{page.finished('cross-chain-fast')['intentId']}")
    assert (status, of_stream["content-type"]) == (200, "text/event-stream; charset=utf-8")
    assert b"data: SUCCEEDED\n\nevent: done\n" in body
    guarding = {"cross-origin-opener-policy", "referrer-policy", "x-content-type-options",
                "x-frame-options"}  # fmt: skip
    assert {name: of_stream.get(name) for name in guarding} == {name: of_page.get(name) for name in guarding}
    assert all(of_page.get(name) for name in guarding)
