"""Connected chains by their route providers."""

import pytest

from intents_ui.catalog.connections import Connections, connected_chains
from intents_ui.service.models import ChainInfo
from intents_ui.tokens import names
from tests.transfers.builders import named

MAIN, OTHER, TEST, SILENT = 1, 10, 84532, 7
CHAINS = [
    ChainInfo(id=MAIN, name="Ethereum", is_testnet=False),
    ChainInfo(id=OTHER, name="Optimism", is_testnet=False),
    ChainInfo(id=TEST, name="Base Sepolia", is_testnet=True),
    ChainInfo(id=SILENT, name="Silent"),
]
EVERYWHERE = frozenset({MAIN, OTHER, TEST, SILENT})


def of(chain_id: int, **served: frozenset[int] | None) -> Connections:
    return connected_chains(chain_id, among=CHAINS, served=served)


def connected(found: Connections) -> dict[int, str]:
    return {each.chain.id: each.said for each in found.chains}


@pytest.mark.parametrize(
    ("chain_id", "expected"),
    named(
        ("a mainnet: no testnet", MAIN, {OTHER: "Relay", SILENT: "Relay"}),
        ("a testnet: no mainnet", TEST, {SILENT: "Relay"}),
        ("not served", 99, {}),
    ),
)
def test_a_provider_that_serves_two_chains_connects_them(chain_id: int, expected: dict[int, str]) -> None:
    assert connected(of(chain_id, RELAY=EVERYWHERE)) == expected


def test_swap_only_providers_connect_no_chains() -> None:
    found = of(MAIN, SUSHI=EVERYWHERE, ZEROX=frozenset({MAIN}))
    assert connected(found) == {}
    assert [provider.label for provider in found.swappers] == ["Sushi", "0x"]
    assert found.route_providers == ()


def test_an_unavailable_provider_differs_from_one_without_chains() -> None:
    found = of(MAIN, RELAY=None, CCTP=frozenset(), LIFI=frozenset({OTHER}))
    assert [provider.label for provider in found.unknown] == ["Relay"]
    assert not found.is_unknown
    assert of(MAIN, **dict.fromkeys(names.KNOWN_PROVIDERS)).is_unknown
