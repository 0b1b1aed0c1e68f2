"""Chains and tokens that match the text in the search box."""

import json
from urllib.parse import urlencode

import pytest
from django.test import Client

from intents_ui.tokens import names
from tests.pages.recorded import refusal

BASE = 8453
USDC = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
LIST, CHAINS = "GetTokenList", "GetChains"
DOWN = refusal(9001, "Unavailable", 503)


def found(site: Client, words: str) -> list[dict[str, str]]:
    answer = site.get(f"/suggest?{urlencode({'q': words})}")
    assert answer.status_code == 200
    return list(json.loads(answer.content)["found"])


def test_chains_come_before_tokens_and_there_are_at_most_eight(site, transport):
    suggested = found(site, "eth")
    assert suggested[0] == {"name": "Ethereum", "note": "Chain 1", "url": "/chain/1"}
    assert len(suggested) == 8
    kinds = [each["url"].split("/")[1] for each in suggested]
    assert kinds == sorted(kinds)
    assert {"chain", "token"} == set(kinds)


def test_each_word_may_be_of_the_token_or_of_its_chain(site, transport):
    (usdc, *_) = found(site, "  USDC   base ")
    assert usdc == {"name": "USDC", "note": "USD Coin on Base", "url": f"/token/{BASE}/{USDC}"}
    assert found(site, "coin base")[0] == usdc
    assert {"name": "Base", "note": "Chain 8453", "url": "/chain/8453"} in found(site, "8453")
    assert found(site, "nothing like it") == []


def test_statuses_and_providers_are_found(site, transport):
    assert found(site, "failed")[0] == {
        "name": "Failed",
        "note": "Transfers with this status",
        "url": "/history?status=FAILED",
    }
    assert {"name": "Relay", "note": "Route provider", "url": "/provider/RELAY"} in found(site, "relay")
    for words in ("providers", "Route prov", "bridges"):
        urls = {each["url"] for each in found(site, words)}
        assert urls >= {f"/provider/{word}" for word in names.KNOWN_PROVIDERS}


@pytest.mark.parametrize("address", ["ibc/27394FB092D2ECCD", "factory/a/b"])
def test_a_token_whose_address_fits_no_url_has_no_page_and_breaks_no_list(site, transport, address):
    token = {"chainId": BASE, "address": address, "symbol": "ATOMIC", "name": "Atomic", "featured": True}
    transport.changes[LIST] = lambda answer: {"tokens": [token, *answer["tokens"]]}
    assert found(site, "atomic") == []
    assert len(found(site, "usdc")) == 8
    [told] = [each for each in site.get("/api/v1/tokens?chain=8453").json()["tokens"] if each["symbol"] == "ATOMIC"]
    assert told["url"] is None
    for path in ("/tokens", "/tokens?q=atomic", f"/chain/{BASE}"):
        assert site.get(path).status_code == 200
