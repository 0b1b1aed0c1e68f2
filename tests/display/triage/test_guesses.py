"""Which transfers fit a description."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from intents_ui.display.transfers.situation import Situation
from intents_ui.display.triage import guesses
from intents_ui.display.triage.description import Description, NamedChain
from intents_ui.service.wire.models import TokenMetadata
from tests.display.builders import ARBITRUM, BASE, ETHEREUM, USDC, USDC_ON_BASE, at, intent, receipt, summary

ON_ARBITRUM, ON_BASE, ON_ETHEREUM = (NamedChain(each, "") for each in (ARBITRUM, BASE, ETHEREUM))
DAY = date(2026, 11, 21)


def transfer(amount: int | None = 100_000_000, created_at: datetime | None = None, **members: Any) -> Situation:
    sums = summary(origin_token_amount=amount, **members)
    of_intent = intent("SUCCEEDED", **({"created_at": created_at} if created_at else {}))
    return at(of_intent, receipt("SUCCEEDED", summary=sums))


def described(amount: str = "100", **members: Any) -> Description:
    usual: dict[str, Any] = {"token": "USDC", "origin": ON_ARBITRUM, "destination": ON_BASE, "day": DAY}
    return Description(Decimal(amount), **{**usual, **members})


def reasons(of_described: Description, *transfers: Situation, **how: Any) -> list[str]:
    found = guesses.best(of_described, transfers or [transfer()], prices=how.get("prices", {}))
    return [", ".join(each.reasons) for each in found]


@pytest.mark.parametrize(
    ("of_described", "found"),
    [
        pytest.param(described(), ["amount, token, both chains, date"], id="all"),
        pytest.param(described(token="usdc"), ["amount, token, both chains, date"], id="another case"),
        pytest.param(described("100.5"), ["about the amount, token, both chains, date"], id="about"),
        pytest.param(described("100.51"), [], id="too much"),
        pytest.param(described("99.5"), [], id="too little"),
        pytest.param(described("0"), [], id="zero"),
        pytest.param(described("1" + "0" * 70), [], id="huge"),
        pytest.param(described(token="ETH"), ["amount, both chains, date"], id="another token"),
        pytest.param(described(origin=ON_BASE), ["amount, token, destination chain, date"], id="another origin"),
        pytest.param(described(token="ETH", day=None, origin=None), ["amount, destination chain"], id="one of two"),
        pytest.param(described(token="ETH", day=date(2026, 11, 1)), [], id="two others"),
        pytest.param(described(token="ETH", day=None, origin=None, destination=None), [], id="only the amount"),
        pytest.param(Description(Decimal(100), chain=ON_BASE), ["amount, chain"], id="either chain"),
        pytest.param(Description(Decimal(100), chain=ON_ETHEREUM), [], id="neither chain"),
    ],
)
def test_the_amount_and_all_but_one_of_the_others_fit(of_described: Description, found: list[str]) -> None:
    assert reasons(of_described) == found


def test_the_received_amount_fits_too() -> None:
    assert reasons(described("99.8"), transfer(destination_token_amount=99_800_000))
    assert not reasons(described("99"), transfer(destination_token_amount=99_800_000))


def test_an_amount_without_decimals_is_not_compared() -> None:
    unknown = TokenMetadata(chain_id=ARBITRUM, token_address="0xbad", symbol="USDC")
    assert not reasons(described(), transfer(origin_token_metadata=unknown, origin_token_address="0xbad"))
    assert not reasons(described("100000000"), transfer(origin_token_metadata=unknown, origin_token_address="0xbad"))
    assert not reasons(described(), transfer(None))


@pytest.mark.parametrize(
    ("hours", "fits"), [(-14.1, False), (-14, True), (0, True), (12, True), (37.9, True), (38, False)]
)
def test_a_day_is_that_of_any_time_zone(hours: float, fits: bool) -> None:
    created = datetime(2026, 11, 21, tzinfo=UTC) + timedelta(hours=hours)
    assert reasons(described(), transfer(created_at=created)) == [
        f"amount, token, both chains{', date' if fits else ''}"
    ]


@pytest.mark.parametrize("day", [date.min, date.max])
def test_the_first_and_the_last_day_there_is_are_compared(day: date) -> None:
    assert reasons(described(day=day)) == ["amount, token, both chains"]


def test_the_best_are_first_and_then_the_newest() -> None:
    about, exact, less = transfer(100_100_000), transfer(), transfer(created_at=datetime(2026, 11, 1, tzinfo=UTC))
    found = guesses.best(described(), [less, about, exact, *[transfer()] * 9], prices={})
    assert [each.reasons[0] for each in found] == ["amount"] * guesses.MOST
    assert reasons(described(), less, about, exact) == [
        "amount, token, both chains, date",
        "about the amount, token, both chains, date",
        "amount, token, both chains",
    ]


def test_dollars_are_compared_at_the_current_price() -> None:
    dollars = described("50", token="", in_usd=True)
    prices = {(ARBITRUM, USDC): Decimal("0.505"), (BASE, USDC_ON_BASE): Decimal(7)}
    assert guesses.tokens([transfer()]) == set(prices)
    assert reasons(dollars, prices=prices) == ["about the amount, both chains, date"]
    assert not reasons(dollars, prices={(ARBITRUM, USDC): Decimal("0.6")})
    assert not reasons(dollars)
