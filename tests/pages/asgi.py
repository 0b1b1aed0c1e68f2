"""Requests to the ASGI application, for exports and streamed pages."""

import asyncio
from typing import Any

import httpx

from intents_ui import asgi


def ask(method: str, url: str, **how: Any) -> httpx.Response:
    """Return the complete response."""

    async def answer() -> httpx.Response:
        transport = httpx.ASGITransport(asgi.application)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.request(method, url, **how)

    return asyncio.run(answer())
