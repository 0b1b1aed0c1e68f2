"""Clients for tests: with a key that must never be seen, and limits that a test can wait for."""

import asyncio
import contextlib
import json
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from intents_ui.service import operations
from intents_ui.service.client import ServiceClient
from intents_ui.service.errors import ServiceError
from intents_ui.service.operations import ServiceCall, ServiceConfig
from tests.canary import KEY as CANARY
from tests.policies import policies, seconds


def config(base_url: str, *, total: float = 10.0, size: int = 2**16, **others: Any) -> ServiceConfig:
    quick = policies(**seconds(total), size=size)
    return ServiceConfig(base_url, **{"access_key": SecretStr(CANARY), "policies": quick} | others)


def client(base_url: str, **how: Any) -> ServiceClient:
    return ServiceClient(config(base_url, **how))


@contextlib.contextmanager
def call_sender(url: str, *, live: bool, **how: Any) -> Iterator[Callable[[ServiceCall[Any]], Any]]:
    """Yield what sends a call: as threads do, or as `live` updates do, on an event loop."""
    service = client(url, **how)
    if not live:
        with service:
            yield service.ask
        return
    with asyncio.Runner() as runner:
        try:
            yield lambda call: runner.run(service.ask_async(call))
        finally:
            runner.run(service.aclose())


def without_socket(
    answer: Callable[[httpx.Request], httpx.Response], *, clock: Callable[[], float] = time.monotonic, **how: Any
) -> ServiceClient:
    """Return a client of a service that is a function."""
    return ServiceClient(ServiceConfig("http://x", **how), transport=httpx.MockTransport(answer), clock=clock)


def answered(
    body: bytes | str | dict[str, Any], *, status: int = 200, headers: Mapping[str, str] | None = None
) -> httpx.Response:
    content = json.dumps(body) if isinstance(body, dict) else body
    content = content.encode() if isinstance(content, str) else content
    return httpx.Response(status, headers=headers, stream=httpx.ByteStream(content))


def error_of(response: httpx.Response) -> ServiceError:
    """Return the error that a call with this response ends in."""

    def fresh(_: httpx.Request) -> httpx.Response:
        return httpx.Response(response.status_code, headers=response.headers, stream=response.stream)

    with without_socket(fresh) as service, pytest.raises(ServiceError) as caught:
        service.ask(operations.search_intents(by_query_string="x"))
    return caught.value
