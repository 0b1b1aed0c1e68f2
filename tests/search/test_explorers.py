"""Names and links of chains that the service lists, and of well-known others."""

import pytest

from intents_ui.search.identifiers import Explorer, Finding, Kind, address_link, explorers_of, transaction_link
from intents_ui.service.models import BlockExplorer, ChainInfo
from intents_ui.tokens import names
from tests.tables import rows
from tests.transfers.builders import BASE, OWNER

DIGITS = "ab12" * 16
SIGNATURE = "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW"


@pytest.mark.parametrize(
    ("chain_id", "name"),
    [(792703809, "Solana"), (8253038, "Bitcoin"), (4711, "Chain 4711")],
)
def test_a_well_known_chain_has_its_name_without_a_listing(chain_id, name):
    assert names.chain(chain_id, info=None) == name
    assert names.chain(chain_id, info=ChainInfo(id=chain_id, name="As listed")) == "As listed"


SOLANA, BITCOIN, TRON = 792703809, 8253038, 728126428
SOLANA_ADDRESS = "7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU"
OF_TRON = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"


def listed(chain_id: int, url: str = "https://explorer.example/") -> ChainInfo:
    return ChainInfo(id=chain_id, name="Listed", block_explorer=BlockExplorer(url=url))


@pytest.mark.parametrize(("what", "chain", "value", "link"), rows(__file__, "explorers"))
def test_a_link_has_the_form_of_its_chain(what, chain, value, link):
    find = transaction_link if what.endswith("transaction") else address_link
    info = listed(int(chain)) if what.startswith("listed") else None
    found = find(None if value == "None" else value, chain_id=int(chain), info=info)
    assert (found or "-") == link


def test_a_well_known_chain_has_its_explorer_if_the_listed_one_cannot_be_linked():
    info = listed(TRON, "https://tronscan.org/#")
    assert transaction_link(DIGITS, chain_id=TRON, info=info) == f"https://tronscan.org/#/transaction/{DIGITS}"
    link = address_link(OF_TRON, chain_id=TRON, info=info)
    assert link == f"https://tronscan.org/#/address/{OF_TRON}"


def test_a_solana_address_needs_no_chain():
    assert address_link(SOLANA_ADDRESS, chain_id=None, info=None) == f"https://solscan.io/account/{SOLANA_ADDRESS}"


def test_a_search_offers_the_explorers_of_each_chain_in_its_own_form():
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
