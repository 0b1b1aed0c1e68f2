"""Names and links of chains that the service lists, and of well-known others."""

import pytest

from intents_ui.search.explorers import Explorer, address_link, explorers_of, transaction_link
from intents_ui.search.identifiers import Finding, Kind
from intents_ui.service.models import BlockExplorer, ChainInfo
from intents_ui.tokens import names
from tests.transfers.builders import BASE, OWNER, named

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


SOLANA, BITCOIN, TRON, SUI, TON = 792703809, 8253038, 728126428, 9270000000000000, 607
SOLANA_ADDRESS = "7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU"
BECH32 = "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"
BASE58_OF_TRON = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"
DIGEST = "8wfLTbsiDwQ2Ls1zVpYH4uyBzMSP8D1Wq2ZSVWkJBZgb"
OF_TON = "EQCxE6mUtQJKFnGfaROTKOt1lZbDiiX1kCixRv7Nw2Id_sDs"


def listed(chain_id: int, url: str = "https://explorer.example/") -> ChainInfo:
    return ChainInfo(id=chain_id, name="Listed", block_explorer=BlockExplorer(url=url))


@pytest.mark.parametrize(
    ("chain_id", "txn_hash", "path"),
    named(
        ("EVM", BASE, DIGITS.upper(), f"tx/0x{DIGITS}"),
        ("Solana", SOLANA, SIGNATURE, f"tx/{SIGNATURE}"),
        ("Bitcoin", BITCOIN, f"0x{DIGITS}", f"tx/{DIGITS}"),
        ("Tron", TRON, f"0x{DIGITS}", f"#/transaction/{DIGITS}"),
        ("Sui", SUI, DIGEST, f"tx/{DIGEST}"),
        ("TON", TON, f"0x{DIGITS}", f"transaction/{DIGITS}"),
        ("hex on Solana", SOLANA, DIGITS, None),
        ("a signature on Bitcoin", BITCOIN, SIGNATURE, None),
        ("a signature on an EVM chain", BASE, SIGNATURE, None),
        ("placeholder", BITCOIN, "0" * 64, None),
        ("hostile", TRON, f'{DIGITS}" onclick="x', None),
        ("missing", TRON, None, None),
    ),
)
def test_a_transaction_link_has_the_form_of_its_chain_at_the_listed_explorer(
    chain_id: int, txn_hash: str | None, path: str | None
) -> None:
    link = transaction_link(txn_hash, chain_id=chain_id, info=listed(chain_id))
    assert link == (path and f"https://explorer.example/{path}")


@pytest.mark.parametrize(
    ("chain_id", "address", "path"),
    named(
        ("EVM", BASE, OWNER.upper(), f"address/{OWNER}"),
        ("Solana", SOLANA, SOLANA_ADDRESS, f"account/{SOLANA_ADDRESS}"),
        ("Bitcoin", BITCOIN, BECH32, f"address/{BECH32}"),
        (
            "Bitcoin, legacy",
            BITCOIN,
            "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
            "address/1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
        ),
        ("Tron", TRON, BASE58_OF_TRON, f"#/address/{BASE58_OF_TRON}"),
        ("Sui", SUI, f"0x{DIGITS}", f"account/0x{DIGITS}"),
        ("TON", TON, OF_TON, OF_TON),
        ("an EVM address on Bitcoin", BITCOIN, OWNER, None),
        ("an EVM address on Tron", TRON, OWNER, None),
        ("an EVM address on Solana", SOLANA, OWNER, None),
        ("a Solana address on an EVM chain", BASE, SOLANA_ADDRESS, None),
        ("native", BASE, "0x" + "E" * 40, None),
        ("hostile", BITCOIN, f"{BECH32}/../x", None),
        ("missing", TRON, None, None),
    ),
)
def test_an_address_link_has_the_form_of_its_chain_at_the_listed_explorer(
    chain_id: int, address: str | None, path: str | None
) -> None:
    link = address_link(address, chain_id=chain_id, info=listed(chain_id))
    assert link == (path and f"https://explorer.example/{path}")


@pytest.mark.parametrize("url", ["https://tronscan.org/#", None])
def test_a_well_known_chain_has_its_explorer_if_the_listed_one_cannot_be_linked(url: str | None) -> None:
    info = listed(TRON, url) if url else None
    assert transaction_link(DIGITS, chain_id=TRON, info=info) == f"https://tronscan.org/#/transaction/{DIGITS}"
    link = address_link(BASE58_OF_TRON, chain_id=TRON, info=info)
    assert link == f"https://tronscan.org/#/address/{BASE58_OF_TRON}"


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


@pytest.mark.parametrize(
    "txn_hash", [None, "", "0x" + "0" * 64, "0x" + "f" * 64, "0x12", f"0x{DIGITS}?x", "javascript:alert(1)"]
)
def test_values_that_are_not_transactions_have_no_link(txn_hash: str | None) -> None:
    assert transaction_link(txn_hash, chain_id=BASE, info=listed(BASE)) is None


@pytest.mark.parametrize("address", [None, "", "0x" + "0" * 40, "0x" + "E" * 40, "alice.eth"])
def test_values_that_are_not_accounts_have_no_link(address: str | None) -> None:
    assert address_link(address, chain_id=BASE, info=listed(BASE)) is None
