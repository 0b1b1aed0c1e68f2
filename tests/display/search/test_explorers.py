"""Names and links of chains that the service lists, and of well-known others."""

import pytest

from intents_ui.display.search import explorers
from intents_ui.display.search.explorers import transaction_link
from intents_ui.display.search.identifiers import Finding, Kind
from intents_ui.display.tokens import names
from intents_ui.service.wire.models import BlockExplorer, ChainInfo

DIGITS = "ab12" * 16
SIGNATURE = "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW"
ACCOUNT = "7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU"


@pytest.mark.parametrize(
    ("chain_id", "name"),
    [
        (792703809, "Solana"),
        (1151111081099710, "Solana"),
        (8253038, "Bitcoin"),
        (20000000000001, "Bitcoin"),
        (728126428, "Tron"),
        (9270000000000000, "Sui"),
        (9286185, "Eclipse"),
        (607, "TON"),
        (4711, "Chain 4711"),
    ],
)
def test_a_well_known_chain_has_its_name_without_a_listing(chain_id: int, name: str) -> None:
    assert names.chain(chain_id, info=None) == name
    assert names.chain(chain_id, info=ChainInfo(id=chain_id, name="As listed")) == "As listed"


@pytest.mark.parametrize(
    ("chain_id", "txn_hash", "link"),
    [
        pytest.param(792703809, SIGNATURE, f"https://solscan.io/tx/{SIGNATURE}", id="Solana"),
        pytest.param(1151111081099710, SIGNATURE, f"https://solscan.io/tx/{SIGNATURE}", id="Solana's other ID"),
        pytest.param(8253038, DIGITS, f"https://mempool.space/tx/{DIGITS}", id="Bitcoin"),
        pytest.param(20000000000001, f"0x{DIGITS}", f"https://mempool.space/tx/{DIGITS}", id="Bitcoin's other ID"),
        pytest.param(728126428, DIGITS.upper(), f"https://tronscan.org/#/transaction/{DIGITS}", id="Tron"),
        pytest.param(607, DIGITS, None, id="no explorer known"),
        pytest.param(4711, DIGITS, None, id="unknown chain"),
        pytest.param(None, DIGITS, None, id="no chain"),
        pytest.param(792703809, DIGITS, None, id="not a signature"),
        pytest.param(8253038, SIGNATURE, None, id="not a hash"),
        pytest.param(8253038, '" onclick=x', None, id="hostile"),
        pytest.param(8253038, "0" * 64, None, id="placeholder"),
        pytest.param(8253038, None, None, id="no hash"),
    ],
)
def test_transactions_of_unlisted_chains_lead_to_a_block_explorer(
    chain_id: int | None, txn_hash: str | None, link: str | None
) -> None:
    assert transaction_link(txn_hash, chain_id=chain_id, info=None) == link


@pytest.mark.parametrize("txn_hash", [f"0x{DIGITS}", SIGNATURE])
def test_the_listed_explorer_takes_precedence(txn_hash: str) -> None:
    listed = ChainInfo(id=792703809, block_explorer=BlockExplorer(url="https://explorer.example/"))
    assert transaction_link(txn_hash, chain_id=792703809, info=listed) == f"https://explorer.example/tx/{txn_hash}"


def test_a_solana_address_links_to_its_explorer() -> None:
    assert explorers.address_link(ACCOUNT, info=None) == f"https://solscan.io/account/{ACCOUNT}"


def test_an_unknown_hash_of_an_unlisted_chain_links_to_its_explorer() -> None:
    finding = Finding(Kind.TRANSACTION, f"0x{DIGITS}", chain_id=8253038)
    (link,) = explorers.explorers_of(finding, chains=[ChainInfo(id=1, name="Ethereum")])
    assert (link.chain, link.link) == ("Bitcoin", f"https://mempool.space/tx/{DIGITS}")
