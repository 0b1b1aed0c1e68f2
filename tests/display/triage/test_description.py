"""What is read from a transfer described in words."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intents_ui.display.transfers.situation import Situation
from intents_ui.display.triage import description, guesses
from intents_ui.display.triage.description import Description, NamedChain, Vocabulary
from intents_ui.service.wire.models import ChainInfo, TokenMetadata
from tests.display.builders import ARBITRUM, BASE, NOW, USDC, USDC_ON_BASE, at, intent, named, receipt, summary
from tests.display.search.test_identifiers import grows_with_its_length

TODAY = date(2026, 11, 25)
CHAINS = {1: "Ethereum", 8453: "Base", 42161: "Arbitrum One", 42170: "Arbitrum Nova", 56: "BNB Smart Chain", 8333: "B3",
          84532: "Base Sepolia", 5: None, 6: "From Here", 7: "Flow\u202e<b>"}  # fmt: skip
KNOWN = Vocabulary.of(
    [ChainInfo(id=number, name=name) for number, name in CHAINS.items()],
    ["USDC", "usdc", "ETH", "BNB", "S", "USDC.e", "USDT", None, "", "to", "<b>", "1INCH"],
)


def read(written: str) -> str:
    found = description.read(written, known=KNOWN, today=TODAY)
    return found.said(today=TODAY) if found else ""


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("100 USDC from Arbitrum to Base yesterday", "100 USDC, Arbitrum One to Base, Nov 24"),
        ("Token: USDC\nAmount: 1,250.50\nFrom: Arbitrum Nova\nTo: Base", "1,250.5 USDC, Arbitrum Nova to Base"),
        ("> My 0.5 ETH\n> from my Base Sepolia wallet", "0.5 ETH, from Base Sepolia"),
        ("0.5ETH", "0.5 ETH"),
        ("100 USDC.e to B3.", "100 USDC.e, to B3"),
        ("order 4711: sent 100 USDC", "100 USDC"),
        ("ETH Base to Ethereum, 3 transfers of 100 USDC", "100 USDC, Base to Ethereum"),
        ("100 from Base", "100, from Base"),
        ("I waited 30s for 100 on Base", "100, on Base"),
        ("$100 to Base", "$100, to Base"),
        ("US$1,250.50 of ETH", "$1,250.5 of ETH"),
        ("$100 USDC", "100 USDC"),
        ("100 from Flow⟨U+202E⟩<b>", "100, from Flow⟨U+202E⟩<b>"),
    ],
)
def test_amount_token_and_chains_are_read(written: str, said: str) -> None:
    assert read(written) == said


@pytest.mark.parametrize(
    ("route", "said"),
    [
        ("Base to Ethereum", "Base to Ethereum"),
        ("to Ethereum from Base", "Base to Ethereum"),
        ("Base -> Ethereum", "Base to Ethereum"),
        ("Base, Ethereum", "Base to Ethereum"),
        ("on Base to Ethereum", "Base to Ethereum"),
        ("on Base", "on Base"),
        ("on Fantom", ""),
    ],
)
def test_chains_have_a_direction_by_the_words_around_them(route: str, said: str) -> None:
    assert read(f"100 USDC\n{route}") == ", ".join(filter(None, ("100 USDC", said)))


@pytest.mark.parametrize(
    ("day", "said"),
    [
        ("today", "Nov 25"),
        ("2 days ago", "Nov 23"),
        ("400 days ago", ""),
        ("2026-11-03", "Nov 3"),
        ("2026-11-03T12:30:00Z", "Nov 3"),
        ("2025-12-31", "Dec 31, 2025"),
        ("2026-13-45", ""),
        ("Nov 3", "Nov 3"),
        ("november 3rd, 2025", "Nov 3, 2025"),
        ("Nov 26", "Nov 26"),
        ("Nov 30", "Nov 30, 2025"),
    ],
)
def test_the_day_is_read(day: str, said: str) -> None:
    assert read(f"100 USDC, {day}") == ", ".join(filter(None, ("100 USDC", said)))


@pytest.mark.parametrize(
    "written",
    [
        "",
        "100",
        "my transfer from Base is gone",
        "order #4711 on Base",
        "call +49 about Base at 12:30 on 11/24",
        "100k USDC",
        "100,5 USDC",
        "9" * 401 + " USDC from Base",
        "\uff11\uff10\uff10 USDC from Base",
        "0x100 from Base",
    ],
)
def test_a_text_without_an_amount_and_a_token_or_chain_describes_nothing(written: str) -> None:
    assert read(written) == ""


UNITS = ("9", "9,", ".", "1 ", "of ", "nov ", "3rd ", "USDC", "USDC 1 ", "base ", "bnb smart ", "a.", "> ", "-", "$",
         "=>", "2026-11-24", "2 days ago ", "\u0430", "\U0001f600")  # fmt: skip


@pytest.mark.parametrize("unit", ["9,", "USDC 1 ", "base ", "nov "])
def test_the_cost_grows_with_length_only(unit: str) -> None:
    assert grows_with_its_length(read, (unit * 16_000)[:16_000])


@given(st.one_of(st.text(), st.lists(st.sampled_from([*UNITS, *"0x1. ,:\n"]), max_size=40).map("".join)))
def test_any_text_is_read(written: str) -> None:
    assert not read(written) or description.has_number(written)


ON_ARBITRUM, ON_BASE = (NamedChain(each, "") for each in (ARBITRUM, BASE))
DAY = date(2026, 11, 21)


def transfer(amount: int | None = 100_000_000, created_at: datetime | None = None, **members: Any) -> Situation:
    sums = summary(origin_token_amount=amount, **members)
    of_intent = intent("SUCCEEDED", **({"created_at": created_at} if created_at else {}))
    return at(of_intent, receipt("SUCCEEDED", summary=sums), now=NOW + timedelta(days=2))


def described(amount: str = "100", **members: Any) -> Description:
    usual: dict[str, Any] = {"token": "USDC", "origin": ON_ARBITRUM, "destination": ON_BASE, "day": DAY}
    return Description(Decimal(amount), **{**usual, **members})


def reasons(of_described: Description, *transfers: Situation, **how: Any) -> list[str]:
    found = guesses.best(of_described, transfers or [transfer()], prices=how.get("prices", {}))
    return [", ".join(each.reasons) for each in found]


@pytest.mark.parametrize(
    ("of_described", "found"),
    named(
        ("all", described(), ["amount, token, both chains, date"]),
        ("another case", described(token="usdc"), ["amount, token, both chains, date"]),
        ("about", described("100.5"), ["about the amount, token, both chains, date"]),
        ("too much", described("100.51"), []),
        ("zero", described("0"), []),
        ("another token", described(token="ETH"), ["amount, both chains, date"]),
        ("one of two", described(token="ETH", day=None, origin=None), ["amount, destination chain"]),
        ("two others", described(token="ETH", day=date(2026, 11, 1)), []),
        ("only the amount", described(token="ETH", day=None, origin=None, destination=None), []),
        ("either chain", Description(Decimal(100), chain=ON_BASE), ["amount, chain"]),
    ),
)
def test_the_amount_and_all_but_one_of_the_others_fit(of_described: Description, found: list[str]) -> None:
    assert reasons(of_described) == found


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
