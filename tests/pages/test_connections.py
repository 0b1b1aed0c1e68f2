"""Connected chains by their route providers."""

import pytest

from intents_ui.catalog.chains import connected_chains
from intents_ui.service.models import ChainInfo
from tests.transfers.builders import named

MAIN, OTHER, TEST, SILENT = 1, 10, 84532, 7
CHAINS = [
    ChainInfo(id=MAIN, name="Ethereum", is_testnet=False),
    ChainInfo(id=OTHER, name="Optimism", is_testnet=False),
    ChainInfo(id=TEST, name="Base Sepolia", is_testnet=True),
    ChainInfo(id=SILENT, name="Silent"),
]
EVERYWHERE = frozenset({MAIN, OTHER, TEST, SILENT})


def connected(chain_id: int, **served: frozenset[int] | None) -> dict[int, str]:
    found = connected_chains(chain_id, among=CHAINS, served=served)
    return {chain.id: ", ".join(each.label for each in providers) for chain, providers in found}


@pytest.mark.parametrize(
    ("chain_id", "expected"),
    named(
        ("a mainnet: no testnet", MAIN, {OTHER: "Relay", SILENT: "Relay"}),
        ("a testnet: no mainnet", TEST, {SILENT: "Relay"}),
        ("not served", 99, {}),
    ),
)
def test_a_provider_that_serves_two_chains_connects_them(chain_id: int, expected: dict[int, str]) -> None:
    assert connected(chain_id, RELAY=EVERYWHERE, CCTP=None) == expected


def test_swap_only_providers_connect_no_chains() -> None:
    assert connected(MAIN, SUSHI=EVERYWHERE, ZEROX=frozenset({MAIN})) == {}
