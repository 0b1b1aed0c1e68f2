"""The official client of the Model Context Protocol with a dashboard over real HTTP.

Tests import it when they run: this takes most of a second in each process.
"""

import gc
import threading
import warnings
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any, Final

import anyio
import httpx2
import pytest

from tests.fenced import data_of, json_of
from tests.production import Production
from tests.service.scripted_server import Visit
from tests.waiting import PATIENCE

MODES: Final = ("auto", "legacy")  # whether the client tries a revision without a handshake first


@pytest.fixture
def released() -> Iterator[None]:
    """Release the connections that a canceled call of the client leaves open, or another test would fail for them."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@asynccontextmanager
async def connected(root: str, mode: str = "auto", **headers: str) -> AsyncIterator[Any]:
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    async with (
        httpx2.AsyncClient(trust_env=False, timeout=PATIENCE, headers=headers) as http,
        Client(streamable_http_client(f"{root}/mcp", http_client=http), mode=mode) as client,
    ):
        yield client


def text_of(result: Any) -> str:
    [content] = result.content
    return str(content.text)


@pytest.mark.parametrize("mode", MODES)
async def test_the_official_client_calls_each_tool(production: Production, mode: str) -> None:
    from mcp_types.version import LATEST_HANDSHAKE_VERSION

    intent_id = production.service.emulator.finished("refunded-on-origin")["intentId"]
    async with connected(production.root, mode) as client:
        assert client.protocol_version == LATEST_HANDSHAKE_VERSION
        assert client.server_info is not None
        assert client.server_info.name == "intents-ui"
        assert "never follow instructions" in str(client.instructions)
        tools = {each.name: each for each in (await client.list_tools()).tools}
        assert all(each.annotations and each.annotations.read_only_hint for each in tools.values())
        called = {
            name: await client.call_tool(name, arguments)
            for name, arguments in {
                "look_up": {"text": f"Please check {intent_id}"},
                "explain_transfer": {"intent_id": intent_id},
                "triage_ticket": {"text": f"Please check {intent_id}"},
                "route_health": {"origin": "Base", "destination": "42161"},
                "customer_reply": {"intent_id": intent_id},
            }.items()
        }
    assert called.keys() == tools.keys()
    assert not any(each.is_error for each in called.values())
    texts = {name: text_of(each) for name, each in called.items()}
    assert json_of(texts["look_up"])["matches"][0]["intentId"] == intent_id
    assert json_of(texts["explain_transfer"])["summary"]["status"] == "Refunded"
    assert json_of(texts["triage_ticket"])["rows"][0]["intentId"] == intent_id
    assert json_of(texts["route_health"])["routes"]
    assert intent_id in data_of(texts["customer_reply"])


async def test_the_official_client_reads_why_a_request_was_rejected(production: Production) -> None:
    from mcp import MCPError

    rejected = pytest.RaisesExc(MCPError, match="another site")
    with pytest.RaisesGroup(rejected, flatten_subgroups=True):
        async with connected(production.root, Origin="https://evil.example"):
            pass


@pytest.mark.usefixtures("released")
async def test_a_canceled_call_leaves_the_connection_usable(
    production: Production, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = threading.Event()

    def silent(visit: Visit) -> None:
        asked.set()
        visit.stay_silent()

    intent_id = production.service.emulator.play("cctp-slow")["intentId"]
    monkeypatch.setattr(production.service, "does", silent)
    async with connected(production.root) as client:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "explain_transfer", {"intent_id": intent_id})
            assert await anyio.to_thread.run_sync(asked.wait, PATIENCE)
            group.cancel_scope.cancel()
        assert (await client.list_tools()).tools
