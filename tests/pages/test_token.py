"""Token page: listing, price, warnings and routes, also of unlisted tokens."""

import html
import re

import pytest
from django.test import Client

from tests.pages.reading import PARTIAL, read
from tests.pages.recorded import Recorded, refusal

BASE, ETHEREUM, SOLANA_CHAIN = 8453, 1, 792703809
USDC = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
SPOOF = "0xef5753e624bb76c4daf0c837eff7ec1239cc8e7f"
UNKNOWN_TOKEN = "0x" + "12" * 20
ZERO, EEE = "0x" + "0" * 40, "0x" + "Ee" * 20
SOLANA = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
LIST, PRICES, HISTORY = "GetTokenList", "GetTokenPrices", "GetIntentHistory"
ONWARD, INWARD = "GetExactInputRoutes", "GetExactOutputRoutes"
DOWN = refusal(9001, "Unavailable", 503)


def visible_text(page: str) -> str:
    """Return the visible text."""
    body = re.sub(r"(?s)^.*<main[^>]*>", "", page)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).split())


def test_a_featured_token_shows_what_the_service_lists(site: Client, transport: Recorded):
    shown = read(site, f"/token/{BASE}/{USDC}")
    said = visible_text(shown)
    assert "<title>USDC on Base · Intents</title>" in shown
    assert "USDC USD Coin on Base" in said
    assert "Featured rank 2 Featured by the service." in said
    assert re.search(r"Price \$1\.00 just now 12:00:00 UTC", said)
    assert "Decimals 6" in said
    assert "Bridging Yes" in said
    assert "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913" in said
    assert f'href="https://basescan.org/address/{USDC}"' in shown
    assert f'href="/routes?from={BASE}&amp;token={USDC}"' in shown
    assert f'href="/routes?to={BASE}&amp;for={USDC}"' in shown
    assert "Be careful" not in said
    assert "does not list" not in said


def test_a_testnet_token_has_no_value(site: Client, transport: Recorded):
    said = visible_text(read(site, f"/token/84532/{ZERO}"))
    assert "Price No value Testnet tokens have no value." in said
    assert "$" not in said.partition("Decimals")[0]


def test_tokens_with_the_same_symbol_are_listed(site: Client, transport: Recorded):
    shown = read(site, f"/token/{BASE}/{USDC}")
    assert "USDC on Ethereum 0xA0b869…06eB48" in visible_text(shown)
    assert "USDC on Base 0x833589" not in visible_text(shown)
    assert "USDC on Base 0x833589…A02913" in visible_text(read(site, f"/token/{BASE}/{SPOOF}"))


def test_the_native_token_is_one_token_under_both_addresses(site: Client, transport: Recorded):
    answer = site.get(f"/token/{ETHEREUM}/{EEE}")
    assert (answer.status_code, answer["Location"]) == (301, f"/token/{ETHEREUM}/{ZERO}")
    shown = visible_text(read(site, f"/token/{ETHEREUM}/{ZERO}"))
    assert "ETH Ether on Ethereum" in shown
    assert "The native token has none." in shown
    assert "Price $3,100.00" in shown


def test_an_address_that_is_not_hex_is_used_as_written(site: Client, transport: Recorded):
    transport.changes["GetChains"] = lambda answer: {
        "chains": [*answer["chains"], {"id": SOLANA_CHAIN, "name": "Solana"}]
    }
    token = {"chainId": SOLANA_CHAIN, "address": SOLANA, "symbol": "USDC", "name": "USD Coin", "decimals": 6}
    transport.scripts[LIST] = lambda body: {"tokens": [token]} if body["chainIds"] == [SOLANA_CHAIN] else None
    shown = read(site, f"/token/{SOLANA_CHAIN}/{SOLANA}")
    assert "USDC USD Coin on Solana" in visible_text(shown)
    assert "Listed On the service's list" in visible_text(shown)
    assert f'href="https://solscan.io/account/{SOLANA}"' in shown
    assert transport.requests(PRICES) == [{"tokens": [{"chainId": SOLANA_CHAIN, "tokenAddress": SOLANA}]}]


def test_a_spoofed_token_of_an_external_list_has_warnings_with_reasons(site: Client, transport: Recorded):
    shown = visible_text(read(site, f"/token/{BASE}/{SPOOF}"))
    assert "Token warnings" in shown
    assert (
        "Looks like USDC. Its symbol looks like USDC, which the service features on Base at 0x833589…A02913." in shown
    )
    assert "Unlisted." in shown
    assert "External list" in shown
    assert "Decimals 18" in shown
    assert "No price available" in shown
    searches = [body for body in transport.requests(LIST) if "tokenAddress" in body]
    assert searches == [{"chainIds": [BASE], "tokenAddress": SPOOF, "limit": 1}]


def test_an_unlisted_token_has_its_own_page(site: Client, transport: Recorded):
    shown = read(site, f"/token/{BASE}/{UNKNOWN_TOKEN}")
    said = visible_text(shown)
    assert "<title>0x121212…121212 on Base · Intents</title>" in shown
    assert "Unlisted token" in said
    assert "What to check" in said
    assert "Not listed On none of the service's token lists" in said
    assert "Decimals Unknown" in said
    assert f'href="https://basescan.org/address/{UNKNOWN_TOKEN}"' in shown
    assert "Featured tokens with this symbol" not in said


def test_an_unavailable_list_does_not_make_a_token_unlisted(site: Client, transport: Recorded):
    transport.scripts[LIST] = transport.scripts[PRICES] = lambda body: DOWN
    answer = site.get(f"/token/{BASE}/{USDC}")
    shown = visible_text(answer.content.decode())
    assert (answer.status_code, answer["Retry-After"]) == (503, "10")
    assert "Couldn't load the listing: Service error." in shown
    assert "Unknown Couldn't load the price." in shown
    assert "does not list" not in shown
    assert "unlisted" not in shown
    assert "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913" in shown


def test_a_failed_search_does_not_make_a_token_unlisted(site: Client, transport: Recorded):
    transport.scripts[LIST] = lambda body: DOWN if "tokenAddress" in body else None
    shown = visible_text(read(site, f"/token/{BASE}/{UNKNOWN_TOKEN}", status=503))
    assert "Couldn't load the listing" in shown
    assert "Unlisted token" not in shown


@pytest.mark.parametrize(
    ("price", "said"),
    [
        ({"priceUsd": 0.9998, "updatedAt": "2026-11-21T11:59:00Z"}, "Price $0.9998 1 min ago"),
        ({"priceUsd": "0.00001234"}, "Price $0.00001234 time not reported"),
        ({"priceUsd": 0}, "Price $0.00"),
        ({"priceUsd": 1e-30}, "Price <$0.000000000001"),
        ({"priceUsd": None}, "Price No price available"),
        ({"priceUsd": "lots"}, "Price No price available"),
    ],
)
def test_the_price_has_a_time_and_no_price_is_not_zero(site: Client, transport: Recorded, price: dict, said: str):
    token = {"chainId": BASE, "tokenAddress": USDC}
    transport.scripts[PRICES] = lambda body: {"tokenPrices": [{"token": token} | price]}
    assert said in visible_text(read(site, f"/token/{BASE}/{USDC}"))


def test_routes_from_and_to_the_token_are_grouped_by_chain(site: Client, transport: Recorded):
    shown = read(site, f"/token/{BASE}/{USDC}/routes", **PARTIAL)
    said = visible_text(shown)
    assert "<html" not in shown
    assert re.search(r"Routes from this token .*Ethereum 12 tokens .*ETH USDC USDT DAI and 8 more", said)
    assert re.search(r"Routes to this token .*Ethereum 6 tokens", said)
    assert "And on 11 more chains." in said
    assert transport.requests(ONWARD) == [{"originChainId": BASE, "originTokenAddress": USDC}]
    assert transport.requests(INWARD) == [{"destinationChainId": BASE, "destinationTokenAddress": USDC}]


def test_each_direction_fails_independently_and_none_listed_rules_out_nothing(site: Client, transport: Recorded):
    transport.scripts[ONWARD] = lambda body: DOWN
    transport.scripts[INWARD] = lambda body: {"tokens": []}
    shown = visible_text(read(site, f"/token/{BASE}/{USDC}/routes", **PARTIAL))
    assert "Couldn't load routes: Service error. " in shown
    assert "No listed routes to this token. A route may still exist" in shown


@pytest.mark.usefixtures("response_cache")
def test_recent_transfers_of_the_token_say_how_many_were_checked(site: Client, transport: Recorded):
    shown = read(site, f"/token/{BASE}/{USDC}/intents", **PARTIAL)
    said = visible_text(shown)
    assert re.search(r"Recent transfers \d+ in the newest 30 from and 30 to Base", said)
    requests = sorted(transport.requests(HISTORY), key=str)
    assert [(body["page"]["pageSize"], body.get("originChainId"), body.get("destinationChainId"))
            for body in requests] == [(30, None, BASE), (30, BASE, None)]  # fmt: skip
    found = re.findall(r"<tr>.*?</tr>", shown, re.DOTALL)[1:]
    assert 0 < len(found) <= 10
    assert all("USDC" in visible_text(row) and "Base" in visible_text(row) for row in found)
    read(site, f"/token/{BASE}/{ZERO}/intents", **PARTIAL)
    assert len(transport.requests(HISTORY)) == 2


def test_transfers_of_other_tokens_are_excluded(site: Client, transport: Recorded):
    shown = visible_text(read(site, f"/token/{BASE}/{UNKNOWN_TOKEN}/intents", **PARTIAL))
    assert "0 in the newest 30 from and 30 to Base" in shown
    assert "None of these transfers uses this token." in shown


def test_a_failed_side_leaves_the_transfers_of_the_other(site: Client, transport: Recorded):
    transport.scripts[HISTORY] = lambda body: DOWN if "originChainId" in body else None
    shown = visible_text(read(site, f"/token/{BASE}/{USDC}/intents", **PARTIAL))
    assert "Couldn't load transfers from Base: Service error." in shown
    assert re.search(r"\d+ in the newest 30 to Base", shown)
