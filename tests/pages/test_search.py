"""Search: one hit redirects, several are listed with reasons, none shows possible causes."""

import html
import json
import re
from collections import Counter
from urllib.parse import urlencode

import pytest
from django.test import Client

from intents_ui import app
from intents_ui.emulator.app import Emulator
from intents_ui.service import operations
from intents_ui.service.models import Page
from intents_ui.tokens import names
from tests.pages.cases import cases
from tests.pages.reading import visible_text

NOTHING = "0x" + "12" * 32


@pytest.mark.parametrize("case", cases("search"))
def test_a_search_says(pages, case):
    pages.check(case)


def test_a_rejected_search_has_the_services_retry_time(site, emulator):
    """With up to 10% jitter, so that clients don't retry at once."""
    emulator.inject("*", "busy-60")
    assert 29 <= int(site.get("/search", {"q": NOTHING})["Retry-After"]) <= 31


def test_several_hits_are_listed_newest_first_with_the_reason_for_each(site, emulator):
    owner = emulator.finished(2)["ownerAddress"]
    page = site.get("/search", {"owner": owner})
    times = re.findall(r'<time class="sub" datetime="([^"]+)"', page.content.decode())
    assert page.status_code == 200
    assert len(times) > 1
    assert times == sorted(times, reverse=True)
    assert page.content.decode().count(">owner</td>") == len(times)


def intent_and_deposit_hash(site: Client, emulator: Emulator, which: int = 2) -> tuple[str, str]:
    """Return an Intent ID and the hash of its deposit."""
    intent_id = emulator.finished(which)["intentId"]
    receipt = site.get(f"/intent/{intent_id}/raw/receipt.json").json()
    return intent_id, receipt["depositTransaction"]["txnHash"]


def test_ten_hits_are_reported_as_possibly_incomplete(site, emulator):
    newest = app.current().service.ask(operations.get_intent_history(page=Page.first(size=100))).intents
    busiest, _ = Counter(entry.receipt.owner_address for entry in newest if entry.receipt).most_common(1)[0]
    emulator.inject("SearchIntents", "search-capped")
    page = site.get("/search", {"owner": busiest}).content.decode()
    assert "10 transfers found" in re.sub(r"\s+", " ", page)
    assert "only the 10 most recent transfers" in page


@pytest.mark.parametrize(
    ("key", "field"),
    [
        ("intent", "intentId"),
        ("owner", "ownerAddress"),
        ("origin", "originIntentAddress"),
        ("destination", "destinationIntentAddress"),
        ("project", "projectId"),
    ],
)
def test_every_key_of_the_intent_can_be_searched(site, emulator, key, field):
    intent = emulator.play(2, age=26)
    emulator.inject("SearchIntents", "search-capped")  # or a project has hundreds
    found = site.get("/search", {key: intent[field]})
    if found.status_code == 302:
        assert found["Location"].startswith(f"/intent/{intent['intentId']}")
    else:
        assert f'href="/intent/{intent["intentId"]}"' in found.content.decode()


@pytest.mark.parametrize("key", ["transaction", "deposit"])
def test_every_transaction_of_a_transfer_can_be_searched(site, emulator, key):
    intent = emulator.finished(2)
    receipt = site.get(f"/intent/{intent['intentId']}/raw/receipt.json").json()
    found = site.get("/search", {key: receipt["depositTransaction"]["txnHash"]})
    assert found.status_code == 302


def test_an_invalid_search_shows_how_it_was_read(site):
    answer = site.get("/search", {"q": "0x" + "ab" * 19 + "\u202ea" + " and more of it" * 700})
    page = answer.content.decode()
    assert answer.status_code == 400
    echo = re.search(r'Read as: <bdi class="mono">([^<]*)</bdi>', page)
    assert echo
    assert "⟨U+202E⟩" in echo[1]
    assert len(echo[1]) == 200


def test_a_transaction_redirects_to_its_transfer_which_marks_the_step(site, emulator):
    intent_id = emulator.finished(2)["intentId"]
    receipt = site.get(f"/intent/{intent_id}/raw/receipt.json").json()
    for leg in ("deposit", "origin", "destination"):
        page = site.get(f"/tx/{receipt[f'{leg}Transaction']['txnHash']}", follow=True)
        assert page.redirect_chain[-1][0].startswith(f"/intent/{intent_id}?tx=")
        assert f"You searched for the {leg} transaction of this transfer." in page.content.decode()


def test_a_link_to_the_explorer_of_another_chain_is_pointed_out(site, emulator):
    intent_id, txn_hash = intent_and_deposit_hash(site, emulator)
    deposit = site.get(f"/intent/{intent_id}/raw/receipt.json").json()["depositTransaction"]
    hosts = {1: "etherscan.io", 10: "optimistic.etherscan.io", 8453: "basescan.org", 42161: "arbiscan.io"}
    own = hosts.pop(deposit["chainId"])
    for host, is_other in ((own, False), (hosts.popitem()[1], True)):
        answer = site.get("/search", {"q": f"https://{host}/tx/{txn_hash}"}, follow=True)
        assert ("This hash is on" in visible_text(answer)) == is_other


def test_the_results_have_pages_of_20_with_each_transfer_once(site, emulator):
    project = emulator.finished(2)["projectId"]
    url, listed = f"/search?project={project}", []
    for _ in range(3):
        page = site.get(url).content.decode()
        rows = re.findall(r'<tr[^>]*>.*?href="/intent/(0x[0-9a-f]{64})"', page, re.DOTALL)
        assert len(set(rows)) == 20
        assert "Delivered" in page  # the headline, which needs the receipt
        listed += dict.fromkeys(rows)
        [url] = re.findall(r'rel="next" href="([^"]+)"', page)
        url = html.unescape(url)
    assert len(set(listed)) == 60
    assert site.get(f"/search?project={project}&page=abc").status_code == 200


BASE = 8453
USDC = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
LIST, CHAINS = "GetTokenList", "GetChains"


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
