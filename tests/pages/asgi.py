"""Requests to the ASGI application: through the front door, and for streamed responses."""

import asyncio
from typing import Any
from urllib.parse import urlsplit

import httpx

from intents_ui import asgi


def ask(method: str, url: str, *, peer: str = "127.0.0.1", **how: Any) -> httpx.Response:
    """Return the complete response to a client at this address."""

    async def answer() -> httpx.Response:
        transport = httpx.ASGITransport(asgi.application, client=(peer, 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.request(method, url, **how)

    return asyncio.run(answer())


def scope(
    url: str, method: str = "GET", *, peer: str = "127.0.0.1", host: str = "localhost", **headers: str
) -> dict[str, Any]:
    parts = urlsplit(url)
    named = {"host": host} | {name.replace("_", "-"): value for name, value in headers.items()}
    return {
        "type": "http", "method": method, "path": parts.path, "raw_path": parts.path.encode(),
        "query_string": parts.query.encode(), "headers": [(name.encode(), named[name].encode()) for name in named],
        "client": (peer, 1), "server": ("127.0.0.1", 80), "scheme": "http", "http_version": "1.1", "root_path": "",
        "asgi": {"version": "3.0"},
    }  # fmt: skip
