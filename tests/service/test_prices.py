"""Prices of many tokens: batched, cached, and never a reason for a page to fail."""

import json
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import httpx
import pytest

from intents_ui.service.catalog import Prices, Token
from intents_ui.service.results import Price
from tests.service.clients import answered, without_socket

USDC = (8453, "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913")
ETH = (8453, "0x" + "0" * 40)
ETH_TOO = (8453, "0x" + "Ee" * 20)
NOBODYS = (8453, "0x" + "12" * 20)
SOLANA = (792703809, "So11111111111111111111111111111111111111112")


def price(token: Token, usd: object, **others: Any) -> dict[str, Any]:
    return {"token": {"chainId": token[0], "tokenAddress": token[1]}, "priceUsd": usd} | others


class Service:
    """Answers with `prices`, whatever was asked; `asked` has the tokens of every call."""

    def __init__(self, *prices: dict[str, Any]) -> None:
        self.now = 0.0
        self.prices: Sequence[dict[str, Any]] = prices
        self.requested: list[list[Token]] = []
        self.failing: Callable[[list[Token]], httpx.Response | None] = lambda tokens: None
        service = without_socket(self._answer, clock=lambda: self.now)
        self.of = Prices(service, clock=lambda: self.now).of

    def _answer(self, request: httpx.Request) -> httpx.Response:
        tokens = [(each["chainId"], each["tokenAddress"]) for each in json.loads(request.content)["tokens"]]
        self.requested.append(tokens)
        failure = self.failing(tokens)
        return failure or answered({"tokenPrices": list(self.prices)})


def invalid(tokens: object) -> httpx.Response:
    return answered({"error": "InvalidArgument", "code": 2000, "msg": "?", "status": 400}, status=400)


def tokens(count: int) -> list[Token]:
    return [(1, f"0x{number:040x}") for number in range(1, count + 1)]


def test_a_price_is_matched_by_token_not_by_position():
    service = Service(price(ETH, 3100), price(NOBODYS, None), price((USDC[0], USDC[1].lower()), "0.9998"))
    assert service.of([USDC, ETH, NOBODYS]) == {
        USDC: Price(Decimal("0.9998")),
        ETH: Price(Decimal(3100)),
        NOBODYS: Price(None),
    }


NAMED = {"token": {"chainId": USDC[0], "tokenAddress": USDC[1]}}
WORTH = {
    "no entry": ([], None),
    "null": ([price(USDC, None)], None),
    "no member": ([NAMED], None),
    "no number": ([price(USDC, "many")], None),
    "of nothing": ([{"priceUsd": 7}, {"token": {}, "priceUsd": 7}], None),
    "of another": ([price(ETH, 7)], None),
    "zero": ([price(USDC, 0)], Decimal(0)),
    "tiny": ([price(USDC, 3.1e-15)], Decimal("3.1E-15")),
}


@pytest.mark.parametrize(("answered", "usd"), WORTH.values(), ids=WORTH)
def test_a_token_without_a_price_is_not_worth_zero(answered, usd):
    assert Service(*answered).of([USDC])[USDC].usd == usd


def test_both_addresses_of_the_native_token_have_one_price_and_other_addresses_are_sent_as_written():
    service = Service(price(ETH, 3100), price((SOLANA[0], SOLANA[1].lower()), 180))
    assert service.of([ETH, ETH_TOO]) == {ETH: Price(Decimal(3100)), ETH_TOO: Price(Decimal(3100))}
    assert service.of([SOLANA]) == {SOLANA: Price(Decimal(180))}
    assert service.requested == [[ETH_TOO], [SOLANA]]


def test_prices_are_requested_in_batches_of_100_and_cached_even_when_missing():
    service = Service(price((1, f"0x{1:040x}"), 5))
    found = service.of(tokens(250))
    assert [price.usd for price in found.values() if price.usd is not None] == [5]
    assert sorted(len(asked) for asked in service.requested) == [50, 100, 100]
    assert {token for asked in service.requested for token in asked} == set(tokens(250))
    service.now += 89
    assert service.of(tokens(250)) == found
    assert len(service.requested) == 3
    service.now += 2
    service.of(tokens(10))
    assert [len(asked) for asked in service.requested[3:]] == [10]


def test_a_failed_batch_does_not_affect_the_others():
    service = Service()
    service.failing = lambda asked: invalid(asked) if tokens(150)[0] in asked else None
    assert set(service.of(tokens(150))) == set(tokens(150)[100:])
    assert set(service.of(tokens(150)[100:])) == set(tokens(150)[100:])
    assert len(service.requested) == 2


def test_a_rejected_batch_is_retried_but_an_outage_is_not_probed_each_time():
    service = Service()
    service.failing = invalid
    assert service.of([USDC]) == service.of([USDC]) == {}
    assert len(service.requested) == 2
    service.failing = lambda asked: answered({}, status=503)
    assert service.of([USDC]) == service.of([USDC]) == {}
    assert len(service.requested) == 3
    service.failing = lambda asked: None
    service.now += 10
    assert service.of([USDC]) == {USDC: Price(None)}


def test_an_outage_hides_no_price_that_is_still_fresh():
    service = Service(price(USDC, 1))
    known = service.of([USDC])
    service.failing = lambda asked: answered({}, status=503)
    assert service.of([ETH]) == {}
    assert service.of([USDC]) == known == {USDC: Price(Decimal(1))}
