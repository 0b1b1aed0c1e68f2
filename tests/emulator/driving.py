"""Run requests through the ASGI application, without a server."""

import asyncio
import json
from dataclasses import dataclass
from typing import Any

from intents_ui.emulator import Emulator

USDC_ON_BASE = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
USDC_ON_OPTIMISM = "0x0b2c639c533813f4aa9d7837caf62653d097ff85"
HOLD = 0.05  # maximum seconds of a long poll
NOW = 1_795_219_200.25


class Clock:
    """A manual clock."""

    def __init__(self, now: float = NOW) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def forward(self, seconds: float) -> None:
        self.now += seconds


@dataclass
class Response:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def document(self) -> dict[str, Any]:
        return json.loads(self.body)

    @property
    def code(self) -> int:
        return self.document["code"]


def request(emulator: Emulator, operation: str, body: Any = None, **options: Any) -> Response:
    return asyncio.run(send_request(emulator, operation, body, **options))


async def send_request(
    emulator: Emulator,
    operation: str,
    body: Any = None,
    *,
    raw: bytes | None = None,
    method: str = "POST",
    path: str | None = None,
    content_type: str | None = "application/json",
    key: str | None = None,
    leave: asyncio.Event | None = None,
) -> Response:
    """Return the response. When `leave` is set, the client disconnects."""
    unread = [raw if raw is not None else json.dumps(body or {}).encode()]
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        if unread:
            return {"type": "http.request", "body": unread.pop(), "more_body": False}
        await (leave or asyncio.Event()).wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    headers = []
    if content_type is not None:
        headers.append((b"content-type", content_type.encode()))
    if key is not None:
        headers.append((b"x-access-key", key.encode()))
    scope = {"type": "http", "method": method, "path": path or f"/rpc/Service/{operation}", "headers": headers}
    try:
        await emulator(scope, receive, send)
    except ConnectionAbortedError:
        sent.append({"type": "cut"})
    if not sent:
        return Response(0, {}, b"")
    received = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return Response(sent[0]["status"], received, b"".join(message.get("body", b"") for message in sent[1:]))


def call(emulator: Emulator, operation: str, body: Any = None) -> dict[str, Any]:
    """Return the document of a response, which must have status 200."""
    answer = request(emulator, operation, body)
    assert answer.status == 200, answer.body
    return answer.document


# 25 USDC from Base to Optimism.
QUOTE_REQUEST: dict[str, Any] = {
    "ownerAddress": "0x" + "ab" * 20,
    "originChainId": 8453,
    "originTokenAddress": USDC_ON_BASE,
    "destinationChainId": 10,
    "destinationTokenAddress": USDC_ON_OPTIMISM,
    "originTokenAmount": "25000000",
    "tradeType": "EXACT_INPUT",
}


def quote(emulator: Emulator, **changes: Any) -> dict[str, Any]:
    """Return a new quote of QUOTE_REQUEST."""
    return call(emulator, "QuoteIntent", QUOTE_REQUEST | changes)["intent"]


def receipt_at(emulator: Emulator, clock: Clock, intent: dict[str, Any], seconds: float) -> dict[str, Any]:
    """Return the receipt this many seconds after the quote, and leave the clock there."""
    clock.now = (intent["id"] + round(seconds * 1_000_000)) / 1_000_000
    return call(emulator, "GetIntentReceipt", {"intentId": intent["intentId"]})["intentReceipt"]
