"""What a text says about a transfer in words."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intents_ui.search import facts
from intents_ui.search.facts import TicketFacts
from intents_ui.service.models import ChainInfo
from tests.search.test_identifiers import grows_with_its_length
from tests.tables import toml

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
    ("written", "said"), [*toml(__file__, "pasted")["words"].items(), ("9" * 401 + " USDC from Base", "")]
)
def test_amount_token_and_chains_are_read_around_other_words(written, said):
    assert read(written) == said


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
