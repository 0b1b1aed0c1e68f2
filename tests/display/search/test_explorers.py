"""Names and links of chains that the service lists, and of well-known others."""

import pytest

from intents_ui.display.search.explorers import transaction_link
from intents_ui.display.tokens import names
from intents_ui.service.wire.models import BlockExplorer, ChainInfo
from tests.display.builders import named

DIGITS = "ab12" * 16
SIGNATURE = "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW"


@pytest.mark.parametrize(
    ("chain_id", "name"),
    [
        (792703809, "Solana"),
        (8253038, "Bitcoin"),
        (4711, "Chain 4711"),
    ],
)
def test_a_well_known_chain_has_its_name_without_a_listing(chain_id: int, name: str) -> None:
    assert names.chain(chain_id, info=None) == name
    assert names.chain(chain_id, info=ChainInfo(id=chain_id, name="As listed")) == "As listed"


@pytest.mark.parametrize(
    ("chain_id", "txn_hash", "link"),
    named(
        ("Solana", 792703809, SIGNATURE, f"https://solscan.io/tx/{SIGNATURE}"),
        ("Bitcoin", 8253038, DIGITS, f"https://mempool.space/tx/{DIGITS}"),
        ("Tron", 728126428, DIGITS.upper(), f"https://tronscan.org/#/transaction/{DIGITS}"),
        ("no explorer known", 607, DIGITS, None),
        ("not a signature", 792703809, DIGITS, None),
        ("hostile", 8253038, '" onclick=x', None),
        ("placeholder", 8253038, "0" * 64, None),
    ),
)
def test_transactions_of_unlisted_chains_lead_to_a_block_explorer(
    chain_id: int | None, txn_hash: str | None, link: str | None
) -> None:
    assert transaction_link(txn_hash, chain_id=chain_id, info=None) == link


@pytest.mark.parametrize("txn_hash", [f"0x{DIGITS}", SIGNATURE])
def test_the_listed_explorer_takes_precedence(txn_hash: str) -> None:
    listed = ChainInfo(id=792703809, block_explorer=BlockExplorer(url="https://explorer.example/"))
    assert transaction_link(txn_hash, chain_id=792703809, info=listed) == f"https://explorer.example/tx/{txn_hash}"
