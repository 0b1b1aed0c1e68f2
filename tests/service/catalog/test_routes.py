"""Route responses are cached briefly, empty ones for less, and never evict the catalog."""

import json
from typing import Any

import httpx
import pytest

from intents_ui.service.catalog.routes import EMPTY_FRESH_SECONDS, FRESH_SECONDS, Routes
from intents_ui.service.client import ServiceClient
from intents_ui.service.errors import ServiceError
from intents_ui.service.operations import operations
from intents_ui.service.operations.config import ServiceConfig

NATIVE = "0x" + "0" * 40
ALIAS = "0x" + "Ee" * 20


class Service:
    """Answers with `tokens`, whatever was asked; without any it fails."""

    def __init__(self, *tokens: tuple[int, str]) -> None:
        self.now = 0.0
        self.tokens: list[tuple[int, str]] | None = list(tokens)
        self.requested: list[str] = []
        transport = httpx.MockTransport(self._answer)
        self.client = ServiceClient(ServiceConfig("http://x"), transport=transport, clock=lambda: self.now)
        self.routes = Routes(self.client, clock=lambda: self.now)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requested.append(request.url.path.rpartition("/")[2])
        document: dict[str, Any] = {"error": "Panic", "code": -6, "msg": "?", "status": 500}
        if self.tokens is not None:
            document = {"tokens": [{"chainId": chain_id, "address": address} for chain_id, address in self.tokens]}
        status = 500 if self.tokens is None else 200
        return httpx.Response(status, stream=httpx.ByteStream(json.dumps(document).encode()))


def from_chain(number: int) -> operations.ServiceCall[Any]:
    return operations.get_exact_input_routes(number, NATIVE)


@pytest.mark.parametrize(
    ("tokens", "seconds"),
    [
        pytest.param([(10, NATIVE)], FRESH_SECONDS, id="some tokens"),
        pytest.param([], EMPTY_FRESH_SECONDS, id="none"),
    ],
)
def test_a_count_is_cached_for_its_lifetime(tokens: list[tuple[int, str]], seconds: float) -> None:
    service = Service(*tokens)
    ask = service.routes.count
    first = ask(from_chain(1))
    service.now = seconds - 1
    assert ask(from_chain(1)) == first
    assert len(service.requested) == 1
    service.now = seconds + 1
    service.tokens = [(137, NATIVE)]
    assert ask(from_chain(1)) != first
    assert len(service.requested) == 2


@pytest.mark.parametrize("way", ["ask", "count"])
def test_other_queries_and_failures_are_not_served_from_the_cache(way: str) -> None:
    service = Service((10, NATIVE))
    ask = getattr(service.routes, way)
    service.tokens = None
    with pytest.raises(ServiceError):
        ask(from_chain(1))
    service.tokens = [(10, NATIVE)]
    for call in (
        from_chain(1),
        from_chain(2),
        operations.get_exact_input_routes(1, NATIVE, destination_chain_id=10),
        operations.get_exact_output_routes(1, NATIVE),
        operations.get_exact_output_routes(1, NATIVE, owner_address=ALIAS),
    ):
        ask(call)
    assert len(service.requested) == 7  # what failed was asked twice


def test_tokens_are_counted_by_chain_and_the_native_one_once() -> None:
    service = Service((10, NATIVE), (10, ALIAS), (10, "0x" + "aB" * 20), (10, "0x" + "ab" * 20), (137, NATIVE))
    assert service.routes.count(from_chain(1)) == {10: 2, 137: 1}


def test_no_number_of_route_queries_evicts_the_catalog() -> None:
    service = Service((10, NATIVE))
    tokens = operations.get_token_list([10], include_all_listed=True)
    service.client.ask(tokens)
    for number in range(1, 300):
        service.routes.ask(from_chain(number))
    assert service.client.knows(tokens)
