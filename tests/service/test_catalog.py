"""Names and decimals for the pages, and what they get when there are none to be had."""

import json
import logging
import threading
import time
from collections.abc import Callable

import httpx
import pytest

from intents_ui.service import catalog as catalogue
from intents_ui.service.allowance import Places
from intents_ui.service.catalog import Catalog
from intents_ui.service.client import ServiceClient
from intents_ui.service.config import ServiceConfig

USDC = "0xAf88d065e77c8cC2239327C5EDb3A432268e5831"
ZERO = "0x" + "0" * 40
EEE = "0x" + "Ee" * 20


class Service:
    """Chains 1 and 10; chain 1 lists USDC and its native token under both addresses."""

    def __init__(self) -> None:
        self.now = 0.0
        self.asked: list[tuple[str, bytes]] = []
        self.failure: httpx.Response | None = None
        self.hold: Callable[[], object] = lambda: None  # before each answer
        native = {"chainId": 1, "symbol": "ETH", "decimals": 18}
        usdc = {"chainId": 1, "address": USDC, "symbol": "USDC"}
        self.tokens: list[dict] = [native | {"address": ZERO}, native | {"address": EEE}, usdc]

    def client(self) -> ServiceClient:
        return ServiceClient(ServiceConfig("http://x"), transport=httpx.MockTransport(self.answer), clock=self.clock)

    def catalog(self) -> Catalog:
        return Catalog(self.client(), clock=self.clock)

    def clock(self) -> float:
        return self.now

    def answer(self, request: httpx.Request) -> httpx.Response:
        operation = request.url.path.rpartition("/")[2]
        self.asked.append((operation, request.content))
        self.hold()
        if operation == "GetTokenList" and b"[99]" in request.content:
            return _json({"error": "UnsupportedNetwork", "code": 8008, "msg": "?", "status": 422}, status=422)
        if self.failure:
            raise httpx.ConnectError("down")
        if operation == "GetChains":
            return _json({"chains": [{"id": 10, "name": "Optimism"}, {"id": 1, "name": "Ethereum"}, {"id": 1}]})
        return _json({"tokens": self.tokens})


def _json(document: dict, *, status: int = 200) -> httpx.Response:
    return httpx.Response(status, stream=httpx.ByteStream(json.dumps(document).encode()))


@pytest.fixture
def service() -> Service:
    return Service()


def test_chains_come_in_the_services_order_and_once_each(service):
    catalog = service.catalog()
    assert [chain.name for chain in catalog.chains()] == ["Optimism", "Ethereum"]
    chain = catalog.chain(1)
    assert chain is not None
    assert chain.name == "Ethereum"
    assert catalog.chain(7) is None
    assert catalog.chain(None) is None
    assert len(service.asked) == 1


@pytest.mark.parametrize("address", [USDC, USDC.lower(), USDC.upper().replace("X", "x")])
def test_a_token_is_found_in_whichever_letters(service, address):
    token = service.catalog().token(1, address)
    assert token is not None
    assert token.symbol == "USDC"
    assert service.asked == [("GetTokenList", b'{"chainIds":[1],"includeAllListed":true}')]


@pytest.mark.parametrize("address", [ZERO, EEE, EEE.lower()])
def test_both_addresses_of_the_native_token_are_one_token(service, address):
    token = service.catalog().token(1, address)
    assert token is not None
    assert (token.symbol, token.address) == ("ETH", ZERO)


def test_a_token_that_is_not_listed_or_not_known_is_none(service):
    catalog = service.catalog()
    assert catalog.token(1, "0x" + "1" * 40) is None
    assert catalog.token(1, None) is None
    assert catalog.token(None, USDC) is None


def test_a_token_that_is_not_among_those_of_its_chain_is_told_from_one_of_which_nothing_is_known(service):
    catalog = service.catalog()
    spoof = "0x" + "1" * 40
    assert catalog.lists(1, USDC.upper().replace("X", "x")) is True
    assert catalog.lists(1, spoof) is False
    assert catalog.lists(1, EEE) is True
    assert catalog.lists(99, spoof) is None
    assert catalog.lists(1, None) is None
    assert catalog.lists(None, USDC) is None
    service.failure = httpx.Response(500)
    assert service.catalog().lists(1, spoof) is None


def test_the_native_token_is_listed_although_the_list_leaves_it_out(service):
    service.tokens = [{"chainId": 1, "address": USDC}]
    assert service.catalog().lists(1, ZERO) is True


def test_an_outage_breaks_no_page_is_logged_once_and_not_asked_about_at_every_turn(service, caplog):
    caplog.set_level(logging.WARNING, "intents_ui.service.catalog")
    service.failure = httpx.Response(500)
    catalog = service.catalog()
    assert catalog.chains() == ()
    assert catalog.chain(1) is None
    assert catalog.token(1, USDC) is None
    assert len(service.asked) == 1
    service.now += 11
    assert catalog.token(1, USDC) is None
    assert len(service.asked) == 2
    assert [record.name for record in caplog.records].count("intents_ui.service.catalog") == 1


def test_after_an_outage_names_are_back_and_the_next_one_is_logged_again(service, caplog):
    caplog.set_level(logging.WARNING, "intents_ui.service.catalog")
    catalog = service.catalog()
    for _ in range(2):
        service.failure = httpx.Response(500)
        service.now += 5000
        assert catalog.token(10, USDC) is None or service.asked
        service.failure = None
        service.now += 11
        assert catalog.token(10, ZERO) is not None
    assert [record.name for record in caplog.records].count("intents_ui.service.catalog") == 2


def test_names_that_were_had_stay_through_an_outage(service):
    catalog = service.catalog()
    assert catalog.chain(1)
    service.now += 5000
    service.failure = httpx.Response(500)
    assert catalog.chain(1)
    assert len(service.asked) == 2


def test_one_list_that_is_refused_does_not_cost_the_others(service):
    catalog = service.catalog()
    assert catalog.token(99, USDC) is None
    assert catalog.token(99, USDC) is None
    assert catalog.token(1, USDC) is not None
    assert catalog.chain(1) is not None
    assert [operation for operation, _ in service.asked] == ["GetTokenList", "GetTokenList", "GetChains"]


def test_a_page_learns_all_that_it_needs_at_once(service):
    catalog = service.catalog()
    service.hold = threading.Barrier(3, timeout=5).wait  # nothing is answered before all three were asked
    catalog.learn([1, 10, 1, None])
    service.hold = lambda: None
    assert catalog.chain(1)
    assert catalog.token(1, USDC)
    assert catalog.token(10, USDC)
    assert sorted(operation for operation, _ in service.asked) == ["GetChains", "GetTokenList", "GetTokenList"]
    catalog.learn([1, 10])
    assert len(service.asked) == 3


def test_a_list_that_is_slow_comes_for_a_later_page(service, monkeypatch):
    monkeypatch.setattr(catalogue, "PATIENCE_SECONDS", 0.2)
    catalog = service.catalog()
    go_on = threading.Event()
    service.hold = lambda: go_on.wait(5)
    began = time.monotonic()
    catalog.learn([1])
    assert catalog.token(1, USDC) is None
    assert catalog.chain(1) is None
    catalog.learn([1])
    assert 0.2 <= time.monotonic() - began < 1
    go_on.set()
    until(lambda: catalog.token(1, USDC) and catalog.chain(1))
    assert len(service.asked) == 2


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < deadline
        threading.Event().wait(0.005)


def test_a_page_is_not_kept_by_names_when_it_has_older_ones(service):
    catalog = service.catalog()
    catalog.learn([1])
    service.now += 5000
    go_on = threading.Event()
    service.hold = lambda: go_on.wait(5)
    began = time.monotonic()
    catalog.learn([1])
    assert catalog.token(1, USDC)
    assert time.monotonic() - began < 1
    go_on.set()
    until(lambda: len(service.asked) == 4 and not catalog._under_way)


def test_a_page_does_not_ask_again_for_what_just_failed(service):
    service.failure = httpx.Response(500)
    catalog = service.catalog()
    catalog.learn([1, 10, 99])
    asked = len(service.asked)
    assert catalog.token(1, USDC) is catalog.token(99, USDC) is catalog.chain(1) is None
    catalog.learn([1, 10, 99])
    assert len(service.asked) == asked


@pytest.mark.parametrize("seconds", [5.0, 0.0], ids=["no place", "no time"])
def test_a_page_that_may_not_wait_learns_nothing_and_keeps_no_other_from_it(service, seconds):
    catalog, places = service.catalog(), Places(1, wait=0.01)
    taken = 0 if seconds == 0.0 else places.take()
    with places.page(seconds=seconds):
        catalog.learn([1])
        assert catalog.token(1, USDC) is None
        assert service.asked == []
    if taken:
        places.give_back()
    with places.page(seconds=5):
        assert catalog.token(1, USDC)


def test_names_that_are_known_need_no_place(service):
    catalog, places = service.catalog(), Places(1, wait=0.01)
    catalog.learn([1])
    assert places.take()
    with places.page(seconds=5):
        catalog.learn([1])
        assert catalog.token(1, USDC)
        assert catalog.chain(1)


def test_at_the_start_the_chains_that_most_pages_name_are_learned(service):
    catalog = service.catalog()
    catalog.warm()
    assert [operation for operation, _ in service.asked] == ["GetChains", "GetTokenList", "GetTokenList"]
    service.failure = httpx.Response(500)
    assert catalog.token(1, USDC)
    assert catalog.token(10, ZERO)
