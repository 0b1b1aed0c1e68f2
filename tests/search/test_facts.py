"""What a text says about a transfer in words."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intents_ui.search import facts
from intents_ui.search.facts import TicketFacts
from intents_ui.service.models import ChainInfo
from tests.search.test_identifiers import grows_with_its_length

NOW = datetime(2026, 11, 25, 9, tzinfo=UTC)
CHAINS = {1: "Ethereum", 8453: "Base", 42161: "Arbitrum One", 42170: "Arbitrum Nova", 56: "BNB Smart Chain", 8333: "B3",
          84532: "Base Sepolia", 5: None, 6: "From Here", 7: "Flow\u202e<b>"}  # fmt: skip
KNOWN = [ChainInfo(id=number, name=name) for number, name in CHAINS.items()]
SYMBOLS = ["USDC", "usdc", "ETH", "BNB", "S", "USDC.e", "USDT", None, "", "to", "<b>", "1INCH"]


def facts_of(written: str) -> TicketFacts:
    return facts.read(written, chains=KNOWN, symbols=SYMBOLS, now=NOW)


def read(written: str) -> str:
    found = facts_of(written)
    return found.description if found.describes_transfer else ""


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("> My 0.5 ETH\n> from my Base Sepolia wallet", "0.5 ETH, from Base Sepolia"),
        ("100 USDC.e to B3.", "100 USDC.e, to B3"),
        ("order 4711: sent 100 USDC", "100 USDC"),
        ("ETH Base to Ethereum, 3 transfers of 100 USDC", "100 USDC, Base to Ethereum"),
        ("I waited 30s for 100 on Base", "100, on Base"),
        ("100 from Flow⟨U+202E⟩<b>", "100, from Flow⟨U+202E⟩<b>"),
        ("100 USDC\non Base to Ethereum", "100 USDC, Base to Ethereum"),
        ("100 USDC\nBase, Ethereum", "100 USDC, Base to Ethereum"),
        ("100 USDC on Fantom", "100 USDC"),
        ("100 USDC, 9999-12-31 and 0001-01-01", "100 USDC"),
        ("100 USDC, 12 000 minutes ago", "100 USDC, Nov 9, 2026 to Nov 20, 2026"),
    ],
)
def test_amount_token_and_chains_are_read_around_other_words(written, said):
    assert read(written) == said


@pytest.mark.parametrize(
    "written",
    [
        "",
        "100",
        "my transfer from Base is gone",
        "order #4711 on Base",
        "call +49 about Base at 12:30 on 11/24",
        "1.2.3 USDC",
        "9" * 401 + " USDC from Base",
        "0x100 from Base",
    ],
)
def test_a_text_without_an_amount_and_a_token_or_chain_describes_nothing(written):
    assert read(written) == ""


UNITS = ("9", "9,", ".", "1 ", "of ", "nov ", "3rd ", "USDC", "USDC 1 ", "base ", "bnb smart ", "a.", "> ", "-", "$",
         "=>", "2026-11-24", "2 days ago ", "\u0430", "\U0001f600")  # fmt: skip


@pytest.mark.parametrize(
    ("unit", "length"),
    [
        ("9,", 100_000),
        ("base ", 100_000),
        *((unit, 16_000) for unit in ("9 ", "100 ", "1_", "1\u066c", "今天", "of of ")),
    ],
)
def test_the_cost_grows_with_length_only(unit, length):
    assert grows_with_its_length(read, (unit * length)[:length])


@given(st.one_of(st.text(), st.lists(st.sampled_from([*UNITS, *"0x1. ,:\n"]), max_size=40).map("".join)))
def test_any_text_is_read(written):
    found = facts_of(written)
    assert found.describes_transfer or not found.amounts
