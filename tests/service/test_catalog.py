"""Chain and token names for pages: loading, lifetimes, and fallbacks when the service has none to give."""

import json
import threading
from collections.abc import Callable

import httpx
import pytest

from intents_ui.service import catalog as catalogue
from intents_ui.service.catalog import Catalog
from intents_ui.service.request_context import within
from tests.service.clients import answered, without_socket
from tests.waiting import until

USDC = "0xAf88d065e77c8cC2239327C5EDb3A432268e5831"
ZERO = "0x" + "0" * 40
EEE = "0x" + "Ee" * 20
HOUR = 3600.0
ATTEMPTS = 2  # at a list


class Service:
    """Chains 1 and 10; chain 1 lists USDC and its native token under both addresses."""

    def __init__(self) -> None:
        self.now = 0.0
        self.requested: list[tuple[str, bytes]] = []
        self.failure: httpx.Response | None = None
        self.hold: Callable[[], object] = lambda: None  # before each answer
        native = {"chainId": 1, "symbol": "ETH", "decimals": 18}
        usdc = {"chainId": 1, "address": USDC, "symbol": "USDC"}
        self.tokens: list[dict] = [native | {"address": ZERO}, native | {"address": EEE}, usdc]
        self.chains: list[dict] = [{"id": 10, "name": "Optimism"}, {"id": 1, "name": "Ethereum"}, {"id": 1}]
        self.served: dict[str, list[int]] = {"RELAY": [1, 10], "CCTP": [1]}

    def catalog(self) -> Catalog:
        return Catalog(without_socket(self.answer, clock=self.clock), clock=self.clock)

    def clock(self) -> float:
        return self.now

    def answer(self, request: httpx.Request) -> httpx.Response:
        operation = request.url.path.rpartition("/")[2]
        self.requested.append((operation, request.content))
        self.hold()
        if operation == "GetTokenList" and b"[99]" in request.content:
            return answered({"error": "UnsupportedNetwork", "code": 8008, "msg": "?", "status": 422}, status=422)
        if self.failure:
            raise httpx.ConnectError("down")
        if operation == "GetChains":
            provider = json.loads(request.content).get("routeProvider")
            return answered({"chains": [{"id": each} for each in self.served[provider]] if provider else self.chains})
        return answered({"tokens": self.tokens})


@pytest.fixture
def service() -> Service:
    return Service()


def test_chains_keep_the_services_order_without_duplicates(service):
    catalog = service.catalog()
    assert [chain.name for chain in catalog.chains()] == ["Optimism", "Ethereum"]
    assert [chain and chain.name for chain in map(catalog.chain, (1, 7, None))] == ["Ethereum", None, None]
    assert len(service.requested) == 1


def test_a_token_is_found_in_any_letter_case_and_the_native_one_at_both_addresses(service):
    catalog = service.catalog()
    found = [catalog.token(1, address) for address in (USDC, USDC.lower(), USDC.upper().replace("X", "x"))]
    assert [token.symbol for token in found] == ["USDC"] * 3
    found = [catalog.token(1, address) for address in (ZERO, EEE, EEE.lower())]
    assert [(token.symbol, token.address) for token in found] == [("ETH", ZERO)] * 3
    assert catalog.token(1, "0x" + "1" * 40) is catalog.token(1, None) is catalog.token(None, USDC) is None
    assert service.requested == [("GetTokenList", b'{"chainIds":[1],"includeAllListed":true}')]


def test_an_unlisted_token_differs_from_one_whose_list_is_unavailable(service):
    catalog = service.catalog()
    spoof = "0x" + "1" * 40
    listed = {(1, USDC.upper().replace("X", "x")): True, (1, spoof): False, (1, EEE): True}
    listed |= {(99, spoof): None, (1, None): None, (None, USDC): None}
    assert {place: catalog.lists(*place) for place in listed} == listed
    service.tokens = service.tokens[2:]
    assert service.catalog().lists(1, ZERO) is True, "the native token needs no list"
    service.failure = httpx.Response(500)
    assert service.catalog().lists(1, spoof) is None


def test_featured_tokens_of_cached_lists_cost_no_request(service):
    service.tokens[2]["featured"] = True
    catalog = service.catalog()
    assert catalog.featured(1) == catalog.featured(None) == ()
    assert service.requested == []
    catalog.token(1, USDC)
    catalog.token(10, USDC)
    assert [token.symbol for token in catalog.featured(1)] == ["USDC"]
    assert catalog.featured(None) == (*catalog.featured(1), *catalog.featured(10))
    assert catalog.featured(7) == ()
    assert len(service.requested) == 2


def test_an_outage_breaks_no_page_and_is_not_probed_by_every_page(service):
    service.failure = httpx.Response(500)
    catalog = service.catalog()
    assert catalog.chains() == ()
    for attempts in (1, 2):
        assert catalog.chain(1) is None
        assert len(service.requested) == attempts * ATTEMPTS
        service.now += 11
    service.failure = None
    assert catalog.chain(1)


def test_a_page_loads_all_the_lists_it_needs_in_one_batch(service):
    catalog = service.catalog()
    service.hold = threading.Barrier(3, timeout=60).wait  # nothing is answered before all three were asked
    catalog.learn([1, 10, 1, None])
    service.hold = lambda: None
    assert catalog.chain(1)
    assert catalog.token(1, USDC)
    assert catalog.token(10, USDC)
    assert sorted(operation for operation, _ in service.requested) == ["GetChains", "GetTokenList", "GetTokenList"]
    catalog.learn([1, 10])
    assert len(service.requested) == 3


def test_a_slow_list_is_ready_for_a_later_page(service, monkeypatch):
    monkeypatch.setattr(catalogue, "PATIENCE_SECONDS", 0.2)
    catalog = service.catalog()
    go_on = threading.Event()
    service.hold = lambda: go_on.wait(600)
    catalog.learn([1])
    assert catalog.token(1, USDC) is None
    assert catalog.chain(1) is None
    catalog.learn([1])
    go_on.set()
    until(lambda: catalog.token(1, USDC) and catalog.chain(1))
    assert len(service.requested) == 2


def test_a_page_without_time_loads_nothing_and_does_not_block_later_pages(service):
    catalog = service.catalog()
    with within(0.0):
        catalog.learn([1])
        assert catalog.token(1, USDC) is None
        assert service.requested == []
    with within(5.0):
        assert catalog.token(1, USDC)


def test_startup_loads_the_lists_of_the_most_used_chains(service):
    catalog = service.catalog()
    catalog.warm()
    assert [operation for operation, _ in service.requested] == ["GetChains", "GetTokenList", "GetTokenList"]
    service.failure = httpx.Response(500)
    assert catalog.token(1, USDC)
    assert catalog.token(10, ZERO)


def test_a_token_change_is_visible_after_15_minutes(service):
    catalog = service.catalog()
    new = "0x" + "7" * 40
    changed = [{"chainId": 1, "address": USDC, "symbol": "USDC2"}, {"chainId": 1, "address": new, "symbol": "NEW"}]
    for passed, symbols in ((0, ["ETH", "USDC"]), (0.89, ["ETH", "USDC"]), (0.22, ["USDC2", "NEW"])):
        service.now += passed * HOUR / 4
        assert [token.symbol for token in catalog.listed_tokens(1).entries] == symbols
        service.tokens = changed
    assert catalog.lists(1, new) is True


def renamed(service: Service) -> Catalog:
    """Return a catalog that knows USDC, which is called USDC2 now."""
    catalog = service.catalog()
    assert catalog.token(1, USDC).symbol == "USDC"
    service.tokens = [{"chainId": 1, "address": USDC, "symbol": "USDC2"}]
    return catalog


def test_names_refresh_in_the_background_for_the_next_page(service):
    catalog = renamed(service)
    service.now += 1000
    go_on = threading.Event()
    service.hold = lambda: go_on.wait(60)
    assert catalog.token(1, USDC).symbol == "USDC"
    go_on.set()
    until(lambda: catalog.token(1, USDC).symbol == "USDC2")
    assert len(service.requested) == 2


def test_the_first_page_after_an_idle_night_waits_for_current_names(service):
    catalog = renamed(service)
    for failure in (None, httpx.Response(500)):
        service.now += 7 * HOUR
        service.failure = failure
        assert catalog.token(1, USDC).symbol == "USDC2"


def test_an_unavailable_featured_token_count_is_omitted(service):
    catalog = service.catalog()
    service.tokens = [{"chainId": 1, "address": USDC, "featured": True}, {"chainId": 1, "address": ZERO}]
    catalog.learn([1])
    service.failure = httpx.Response(500)
    assert catalog.count_featured([1, 10]) == {1: 1}


def test_route_providers_are_loaded_together_and_cached_for_an_hour(service):
    catalog = service.catalog()
    service.hold = threading.Barrier(3, timeout=60).wait
    assert catalog.chains_by_provider(["RELAY", "CCTP"]) == {"RELAY": {1, 10}, "CCTP": {1}}
    service.hold = lambda: None
    assert catalog.chains_by_provider(["RELAY", "CCTP"]) == {"RELAY": {1, 10}, "CCTP": {1}}
    assert [chain.id for chain in catalog.listed_chains(route_provider="CCTP").entries] == [1]
    assert len(service.requested) == 3
    service.now += 1.2 * HOUR
    service.served["CCTP"] = [10]
    assert [chain.id for chain in catalog.listed_chains(route_provider="CCTP").entries] == [10]
    assert catalog.chains_by_provider(["CCTP"]) == {"CCTP": {10}}
