"""Names and links of chains that the service lists, and of well-known others."""

import pytest

from intents_ui.search.identifiers import Explorer, Finding, Kind, address_link, explorers_of, transaction_link
from intents_ui.service.models import BlockExplorer, ChainInfo
from intents_ui.tokens import names
from tests.transfers.builders import BASE, OWNER

DIGITS = "ab12" * 16
SIGNATURE = "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW"


@pytest.mark.parametrize(
    ("chain_id", "name"),
    [(792703809, "Solana"), (8253038, "Bitcoin"), (4711, "Chain 4711")],
)
def test_a_well_known_chain_has_its_name_without_a_listing(chain_id: int, name: str) -> None:
    assert names.chain(chain_id, info=None) == name
    assert names.chain(chain_id, info=ChainInfo(id=chain_id, name="As listed")) == "As listed"


SOLANA, BITCOIN, TRON, SUI, TON = 792703809, 8253038, 728126428, 9270000000000000, 607
SOLANA_ADDRESS = "7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU"
BECH32 = "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"
LEGACY = "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"
OF_TRON = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"
DIGEST = "8wfLTbsiDwQ2Ls1zVpYH4uyBzMSP8D1Wq2ZSVWkJBZgb"
OF_TON = "EQCxE6mUtQJKFnGfaROTKOt1lZbDiiX1kCixRv7Nw2Id_sDs"
ZEROS, FS, NATIVE = "0x" + "0" * 64, "0x" + "f" * 64, "0x" + "E" * 40

# The path at the explorer that the service lists. None: no link.
TRANSACTIONS = [
    (BASE, DIGITS.upper(), f"tx/0x{DIGITS}"),
    (SOLANA, SIGNATURE, f"tx/{SIGNATURE}"),
    (BITCOIN, f"0x{DIGITS}", f"tx/{DIGITS}"),
    (TRON, f"0x{DIGITS}", f"#/transaction/{DIGITS}"),
    (SUI, DIGEST, f"tx/{DIGEST}"),
    (TON, f"0x{DIGITS}", f"transaction/{DIGITS}"),
    (SOLANA, DIGITS, None),
    *((chain, SIGNATURE, None) for chain in (BITCOIN, BASE)),
    (TRON, f'{DIGITS}" onclick="x', None),
    *((BASE, each, None) for each in (None, "", ZEROS, FS, "0x12", f"0x{DIGITS}?x", "javascript:alert(1)")),
    *((chain, each, None) for chain, each in ((BITCOIN, "0" * 64), (TRON, None))),
]
ADDRESSES = [
    (BASE, OWNER.upper(), f"address/{OWNER}"),
    (SOLANA, SOLANA_ADDRESS, f"account/{SOLANA_ADDRESS}"),
    (BITCOIN, BECH32, f"address/{BECH32}"),
    (BITCOIN, LEGACY, f"address/{LEGACY}"),
    (TRON, OF_TRON, f"#/address/{OF_TRON}"),
    (SUI, f"0x{DIGITS}", f"account/0x{DIGITS}"),
    (TON, OF_TON, OF_TON),
    *((chain, OWNER, None) for chain in (BITCOIN, TRON, SOLANA)),
    (BASE, SOLANA_ADDRESS, None),
    (BITCOIN, f"{BECH32}/../x", None),
    (TRON, None, None),
    *((BASE, each, None) for each in (None, "", "0x" + "0" * 40, NATIVE, "alice.eth")),
]


def listed(chain_id: int, url: str = "https://explorer.example/") -> ChainInfo:
    return ChainInfo(id=chain_id, name="Listed", block_explorer=BlockExplorer(url=url))


@pytest.mark.parametrize(("chain_id", "txn_hash", "path"), TRANSACTIONS)
def test_a_transaction_link_has_the_form_of_its_chain_at_the_listed_explorer(
    chain_id: int, txn_hash: str | None, path: str | None
) -> None:
    link = transaction_link(txn_hash, chain_id=chain_id, info=listed(chain_id))
    assert link == (path and f"https://explorer.example/{path}")


@pytest.mark.parametrize(("chain_id", "address", "path"), ADDRESSES)
def test_an_address_link_has_the_form_of_its_chain_at_the_listed_explorer(
    chain_id: int, address: str | None, path: str | None
) -> None:
    link = address_link(address, chain_id=chain_id, info=listed(chain_id))
    assert link == (path and f"https://explorer.example/{path}")


@pytest.mark.parametrize(
    ("chain_id", "txn_hash", "link"),
    [
        (SOLANA, SIGNATURE, f"https://solscan.io/tx/{SIGNATURE}"),
        (BITCOIN, DIGITS, f"https://mempool.space/tx/{DIGITS}"),
        (TRON, DIGITS.upper(), f"https://tronscan.org/#/transaction/{DIGITS}"),
        (TON, DIGITS, None),  # no explorer is known
        *((SOLANA, each, None) for each in (DIGITS, '" onclick=x', "0" * 64)),
    ],
)
def test_transactions_of_unlisted_chains_lead_to_a_block_explorer(
    chain_id: int, txn_hash: str, link: str | None
) -> None:
    assert transaction_link(txn_hash, chain_id=chain_id, info=None) == link


@pytest.mark.parametrize("url", ["https://tronscan.org/#", None])
def test_a_well_known_chain_has_its_explorer_if_the_listed_one_cannot_be_linked(url: str | None) -> None:
    info = listed(TRON, url) if url else None
    assert transaction_link(DIGITS, chain_id=TRON, info=info) == f"https://tronscan.org/#/transaction/{DIGITS}"
    link = address_link(OF_TRON, chain_id=TRON, info=info)
    assert link == f"https://tronscan.org/#/address/{OF_TRON}"


def test_a_solana_address_needs_no_chain() -> None:
    assert address_link(SOLANA_ADDRESS, chain_id=None, info=None) == f"https://solscan.io/account/{SOLANA_ADDRESS}"


def test_a_search_offers_the_explorers_of_each_chain_in_its_own_form() -> None:
    chains = [listed(BASE, "https://basescan.org"), listed(BITCOIN), listed(SOLANA, "https://solana.example")]
    found = explorers_of(Finding(Kind.HASH, f"0x{DIGITS}"), chains=chains)
    assert [each.link for each in found] == [
        f"https://basescan.org/tx/0x{DIGITS}",
        f"https://explorer.example/tx/{DIGITS}",
    ]
    found = explorers_of(Finding(Kind.SOLANA_ADDRESS, SOLANA_ADDRESS), chains=chains)
    assert found == (Explorer("Listed", f"https://solana.example/account/{SOLANA_ADDRESS}"),)
    found = explorers_of(Finding(Kind.SOLANA_SIGNATURE, SIGNATURE), chains=chains[:2])
    assert found == (Explorer("Solana", f"https://solscan.io/tx/{SIGNATURE}"),)
    found = explorers_of(Finding(Kind.TRANSACTION, f"0x{DIGITS}", chain_id=TRON), chains=chains)
    assert found == (Explorer("Tron", f"https://tronscan.org/#/transaction/{DIGITS}"),)
    assert explorers_of(Finding(Kind.ADDRESS, OWNER), chains=[listed(TRON), listed(BITCOIN)]) == ()
    assert explorers_of(Finding(Kind.INTENT, f"0x{DIGITS}"), chains=chains) == ()
