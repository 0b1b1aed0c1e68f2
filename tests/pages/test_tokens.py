"""The list of tokens and the page of one: requests that they cause, and how they show the responses.

The page of a token, listed or not, has its listing, price, warnings and routes.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from intents_ui import app
from intents_ui.emulator.app import Emulator
from intents_ui.service.catalog import Catalog
from intents_ui.service.errors import Unreachable
from tests.pages.cases import cases
from tests.pages.reading import PARTIAL, read, visible_text
from tests.pages.recorded import Recorded, recorded, refusal

BASE, ETHEREUM, POLYGON = 8453, 1, 137
USDC = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
SPOOF = "0xef5753e624bb76c4daf0c837eff7ec1239cc8e7f"
ZERO = "0x" + "0" * 40
SOLANA_CHAIN, SOLANA = 792703809, "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
LIST, PRICES, HISTORY = "GetTokenList", "GetTokenPrices", "GetIntentHistory"


@pytest.fixture
def many(emulator: Emulator) -> Iterator[Recorded]:
    """Return 5,000 tokens on 24 chains."""
    with recorded(Emulator(now=emulator.now, tokens=5000)) as transport:
        yield transport


@pytest.mark.parametrize("case", cases("tokens"))
def test_a_page_says(pages, case):
    pages.check(case)


def test_tokens_of_a_testnet_have_no_price(site, transport):
    read(site, "/chains")
    listed = rows(read(site, "/tokens?chain=84532"))
    assert listed
    assert all("no value (testnet)" in row and "$" not in row for row in listed)
    assert any("$" in row for row in rows(read(site, f"/tokens?chain={BASE}")))


def test_the_status_page_counts_tokens_of_the_chains_it_counts(site, transport):
    listed = app.current().catalog
    chains = [chain.id for chain in listed.chains()]
    assert all(listed.tokens(chain) for chain in chains)  # waits for each list, longer than a page would
    listed.learn([792703809])
    assert 792703809 not in chains, "a chain that transfers name, and that the service does not list"
    said = visible_text(read(site, "/status"))
    counted = re.search(r"Chains (\d+) chains, last updated .* Tokens (\d+) tokens on (\d+) chains, last updated", said)
    assert counted
    assert counted[1] == counted[3] == str(len(chains))


def rows(page: str) -> list[str]:
    return [visible_text(row) for row in re.findall(r"<tr>\s*<th scope=\"row\">(.*?)</tr>", page, re.DOTALL)]


def links(page: str) -> list[str]:
    return re.findall(r'class="row-link" href="(/token/[^"]+)"', page)


def native(chain_id: int, address: str) -> dict[str, Any]:
    return {"chainId": chain_id, "address": address, "symbol": "ETH", "name": "Ether", "featured": True,
            "featureIndex": 1, "decimals": 18}  # fmt: skip


def test_featured_tokens_of_all_chains_are_listed_by_rank_with_prices(site, transport):
    shown = read(site, "/tokens")
    found = rows(shown)
    assert found[0] == "APE ApeCoin ApeChain Featured rank 1 18 $0.28 native token"
    usdc = next(row for row in found if "USD Coin Base" in row)
    assert re.fullmatch(r"USDC USD Coin Base Featured rank 2 6 \$1\.00 0x833589…A02913 on the block explorer", usdc)
    ranks = [int(rank) for row in found for rank in re.findall(r"rank (\d+)", row)]
    assert ranks == sorted(ranks)
    assert len(ranks) == len(found) == 81
    assert "81 featured tokens on 24 chains, by rank." in visible_text(shown)
    assert f"/token/{BASE}/{USDC}" in links(shown)


def test_without_javascript_there_are_links_to_the_batches(site, many):
    shown = read(site, "/tokens?show=listed&after=100")
    assert "Tokens 101 to 200 of" in visible_text(shown)
    assert 'href="/tokens?show=listed&amp;after=200" rel="next"' in shown
    assert re.search(r'<a class="button" href="/tokens\?show=listed"[^>]* rel="prev">← Previous 100', shown)
    assert "No more tokens" in visible_text(read(site, "/tokens?show=listed&after=900000"))


def test_listed_and_external_tokens_are_labeled(site, transport):
    listed = rows(read(site, f"/tokens?chain={BASE}&show=listed"))
    external = rows(read(site, f"/tokens?chain={BASE}&show=external"))
    assert any(re.search("AERO Aerodrome Finance Base Listed 18", row) for row in listed)
    assert not any("External list" in row for row in listed)
    (spoof,) = [row for row in external if row not in listed]
    assert "External list" in spoof
    assert "unlisted" in spoof
    assert "no price" in spoof


def test_both_addresses_of_a_native_token_are_one_row(site, transport):
    alias = "0x" + "Ee" * 20
    transport.changes[LIST] = lambda answer: {"tokens": [native(BASE, alias), *answer["tokens"], native(BASE, alias)]}
    shown = read(site, "/tokens?chain=8453")
    assert links(shown).count(f"/token/{BASE}/{ZERO}") == 1
    assert "eeee" not in shown.lower().replace("free", "")
    read(site, f"/tokens?without={alias}", status=302)
    without = read(site, f"/tokens?chain=8453&without={ZERO}")
    assert f"/token/{BASE}/{ZERO}" not in links(without)


def test_the_limit_is_per_chain_and_tokens_are_hidden_by_address(site, transport):
    shown = read(site, "/tokens?show=listed&limit=2")
    chains = [re.search(r"/token/(\d+)/", link)[1] for link in links(shown)]  # type: ignore[index]
    assert max(map(chains.count, chains)) == 2
    assert len(chains) > 24
    assert "At most 2 per chain" in visible_text(shown)
    left = read(site, f"/tokens?chain={BASE}&without={USDC}&without={ZERO}")
    assert "Hidden: 0x833589…A02913" in visible_text(left)
    assert f'href="/tokens?chain={BASE}&amp;without={ZERO}"' in left
    assert not {f"/token/{BASE}/{USDC}", f"/token/{BASE}/{ZERO}"} & set(links(left))


def test_a_search_is_sent_to_the_service_for_all_of_its_lists(site, transport):
    shown = read(site, "/tokens?q=usdc")
    assert transport.requests(LIST)[0] == {
        "chainIds": transport.requests(LIST)[0]["chainIds"],
        "searchQuery": "usdc",
        "limit": 25,
    }
    assert len(transport.requests(LIST)[0]["chainIds"]) == 24
    found = rows(shown)
    assert "26 tokens found on 24 chains, best matches first." in visible_text(shown)
    assert "Results include external token lists." in visible_text(shown)
    assert ["USDC.e" in row for row in found] == sorted("USDC.e" in row for row in found)
    assert any("External list" in row for row in found)
    assert "Tokens: “usdc” · Intents" in visible_text(shown)


def test_a_pasted_address_is_searched_as_an_address(site, transport):
    shown = read(site, f"/tokens?q={USDC}")
    assert transport.requests(LIST)[0]["tokenAddress"] == USDC
    assert "searchQuery" not in transport.requests(LIST)[0]
    assert links(shown) == [f"/token/{BASE}/{USDC}"]


def test_a_long_search_result_says_where_it_was_truncated(site, many):
    shown = visible_text(read(site, "/tokens?q=o"))
    assert "Only the first 25 results on" in shown
    assert "600 tokens found on 24 chains" in shown


def test_a_chain_whose_list_failed_leaves_the_other_chains(site, transport):
    transport.scripts[LIST] = lambda body: (
        refusal(8008, "UnsupportedNetwork", 422) if body["chainIds"] == [POLYGON] else None
    )
    shown = read(site, f"/tokens?chain={BASE}&chain={POLYGON}&show=listed")
    assert "Couldn't load the tokens of Polygon." in visible_text(shown)
    assert {re.search(r"/token/(\d+)/", link)[1] for link in links(shown)} == {str(BASE)}  # type: ignore[index]


def test_unusual_tokens_break_no_list(site, transport):
    odd = [{"chainId": BASE, "address": "0x" + "ab" * 20}, {"chainId": BASE}, "x", {"chainId": 5, "address": "TokenX"}]
    odd += [{"chainId": 10**30, "address": USDC}, *({"chainId": BASE, "address": each} for each in ("a/b", "0" * 201))]
    transport.changes[LIST] = lambda answer: {"tokens": odd}
    shown = read(site, f"/tokens?chain={BASE}&show=listed")
    assert "3 list entries couldn't be read." in visible_text(shown)
    assert [row.startswith("—") for row in rows(shown)] == [True] * 4
    assert links(shown) == [f"/token/{BASE}/0x{'ab' * 20}"]
    listed = re.findall(r"/token/[^\"]+", read(site, f"/chain/{BASE}"))
    assert listed == [f"/token/{BASE}/0x{'ab' * 20}"]


def test_a_list_that_could_not_be_refreshed_shows_its_age(site, transport, monkeypatch):
    known = app.current().catalog.listed_featured([BASE])
    monkeypatch.setattr(
        Catalog, "listed_featured", lambda *_: replace(known, age=timedelta(minutes=20), error=Unreachable())
    )
    shown = read(site, f"/tokens?chain={BASE}")
    assert "Couldn't refresh. Showing a list from 20 min ago." in visible_text(shown)
    assert len(rows(shown)) == 5


def main_text(page: str) -> str:
    return visible_text(re.sub(r"(?s)^.*<main[^>]*>", "", page))


def test_an_address_that_is_not_hex_is_used_as_written(site, transport):
    transport.changes["GetChains"] = lambda answer: {
        "chains": [*answer["chains"], {"id": SOLANA_CHAIN, "name": "Solana"}]
    }
    token = {"chainId": SOLANA_CHAIN, "address": SOLANA, "symbol": "USDC", "name": "USD Coin", "decimals": 6}
    transport.scripts[LIST] = lambda body: {"tokens": [token]} if body["chainIds"] == [SOLANA_CHAIN] else None
    shown = read(site, f"/token/{SOLANA_CHAIN}/{SOLANA}")
    assert "USDC USD Coin on Solana" in main_text(shown)
    assert "Listed On the service's list" in main_text(shown)
    assert f'href="https://solscan.io/account/{SOLANA}"' in shown
    assert transport.requests(PRICES) == [{"tokens": [{"chainId": SOLANA_CHAIN, "tokenAddress": SOLANA}]}]


def test_a_token_that_is_not_listed_is_searched_in_external_lists(site, transport):
    read(site, f"/token/{BASE}/{SPOOF}")
    searches = [body for body in transport.requests(LIST) if "tokenAddress" in body]
    assert searches == [{"chainIds": [BASE], "tokenAddress": SPOOF, "limit": 1}]


@pytest.mark.usefixtures("response_cache")
def test_recent_transfers_of_the_token_say_how_many_were_checked(site, transport):
    shown = read(site, f"/token/{BASE}/{USDC}/intents", **PARTIAL)
    said = main_text(shown)
    assert re.search(r"Recent transfers \d+ in the newest 30 from and 30 to Base", said)
    requests = sorted(transport.requests(HISTORY), key=str)
    assert [(body["page"]["pageSize"], body.get("originChainId"), body.get("destinationChainId"))
            for body in requests] == [(30, None, BASE), (30, BASE, None)]  # fmt: skip
    found = re.findall(r"<tr>.*?</tr>", shown, re.DOTALL)[1:]
    assert 0 < len(found) <= 10
    assert all("USDC" in main_text(row) and "Base" in main_text(row) for row in found)
    read(site, f"/token/{BASE}/{ZERO}/intents", **PARTIAL)
    assert len(transport.requests(HISTORY)) == 2
