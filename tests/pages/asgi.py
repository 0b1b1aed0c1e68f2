"""Requests to the ASGI application: through the front door, and for streamed responses."""

import asyncio
from typing import Any

import httpx

from intents_ui import asgi


def ask(method: str, url: str, *, peer: str = "127.0.0.1", **how: Any) -> httpx.Response:
    """Return the complete response to a client at this address."""

    async def answer() -> httpx.Response:
        transport = httpx.ASGITransport(asgi.application, client=(peer, 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.request(method, url, **how)

    return asyncio.run(answer())
