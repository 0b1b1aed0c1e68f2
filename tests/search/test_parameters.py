"""Parameters of a URL's query: one set of rules for all lists."""

from collections.abc import Callable
from typing import Any

import pytest

from intents_ui.catalog import chains as chain_filters
from intents_ui.catalog import tokens
from intents_ui.search import filters
from intents_ui.search.filters import InvalidParameter, Parsed
from intents_ui.service.models import ChainInfo
from tests.transfers.builders import OWNER, named

CHAINS = (ChainInfo(id=8453, name="Base"), ChainInfo(id=7))

READERS: list[tuple[str, str, Callable[[dict[str, list[str]]], Parsed[Any]]]] = [
    ("owner", OWNER, filters.read),
    ("from_at", "2026-11-21", filters.read),
    ("q", "usdc", tokens.read),
    ("network", "testnet", chain_filters.read),
]


@pytest.mark.parametrize(("name", "value", "read"), READERS, ids=[name for name, *_ in READERS])
def test_blank_values_and_other_parameters_are_ignored(name, value, read):
    alone = read({name: [value]})
    assert alone.problems == {}
    assert alone.filters.query
    assert read({name: [f" {value} ", " ", ""], "utm_source": ["mail"]}) == alone
    assert read({name: ["", " "]}).filters.query == ""


def test_invalid_values_are_shown_again_with_hidden_characters_visible_and_at_most_100_characters():
    parsed = tokens.read({"limit": ["9\u202e" + "x" * 200], "q": ["usdc"]})
    assert parsed.problems == {"limit": "Enter a limit from 1 to 1,000 tokens per chain."}
    assert parsed.typed["limit"] == "9⟨U+202E⟩" + "x" * 91
    assert (parsed.typed["words"], parsed.typed["show"]) == ("usdc", "")


@pytest.mark.parametrize(
    ("written", "chains", "found"),
    named(
        ("ID", "8453", CHAINS, 8453),
        ("name", "bASE", CHAINS, 8453),
        ("name of a chain without one", "Chain 7", CHAINS, 7),
        ("usual name", "Base Mainnet", CHAINS, 8453),
        ("not listed", "10", CHAINS, None),
        ("any ID while the list is unavailable", "10", (), 10),
        ("no chain has the ID 0", "0", (), None),
        ("far too large", "9" * 5000, (), None),
    ),
)
def test_a_chain_is_given_by_id_or_name(written, chains, found):
    assert filters.find_chain(written, chains) == found
    if found is None:
        with pytest.raises(InvalidParameter):
            filters.chain_id(written, chains)
    else:
        assert filters.chain_id(written, chains) == found


def test_a_query_has_switches_as_1_and_a_parameter_for_each_value():
    assert filters.encode({"a": True, "b": None, "c": (1, "x y"), "d": 0, "e": ()}) == "a=1&c=1&c=x+y&d=0"
