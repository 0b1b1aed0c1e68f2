"""Search: one hit redirects, several are listed with reasons, none shows possible causes."""

import html
import re
from collections import Counter

import pytest
from django.test import Client

from intents_ui import app
from intents_ui.emulator.app import Emulator
from intents_ui.service import operations
from intents_ui.service.models import Page
from tests.pages.reading import visible_text

UNUSED_ADDRESS = "0x" + "12" * 20
NOTHING = "0x" + "12" * 32
SOLANA = "7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU"
SIGNATURE = "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW"


def test_several_hits_are_listed_newest_first_with_the_reason_for_each(site: Client, emulator: Emulator) -> None:
    owner = emulator.finished(2)["ownerAddress"]
    page = site.get("/search", {"owner": owner})
    times = re.findall(r'<time class="sub" datetime="([^"]+)"', page.content.decode())
    assert page.status_code == 200
    assert len(times) > 1
    assert times == sorted(times, reverse=True)
    assert page.content.decode().count(">owner</td>") == len(times)


@pytest.mark.parametrize("written", ["{}", "https://basescan.org/address/{}#tokentxns", "Where is it? My wallet: {}."])
def test_an_account_address_redirects_to_its_page(site: Client, emulator: Emulator, written: str) -> None:
    owner = emulator.finished(2)["ownerAddress"].lower()
    answer = site.get("/search", {"q": written.format(owner)})
    assert answer.status_code == 302
    assert answer["Location"] == f"/address/{owner}"


@pytest.mark.parametrize(
    ("pasted", "looks_like", "requested"),
    [
        pytest.param(NOTHING, "intent ID or transaction hash", ["intent ID", "transaction hash"], id="hash"),
        pytest.param(UNUSED_ADDRESS, "address", ["owner", "deposit address", "destination"], id="address"),
        pytest.param("order 4711-0815", "text", ["text"], id="words"),
        pytest.param(f"https://basescan.org/tx/{NOTHING}", "transaction hash", ["transaction hash"], id="link"),
    ],
)
def test_a_miss_shows_the_type_of_the_identifier_and_the_completed_lookups(
    site: Client, pasted: str, looks_like: str, requested: list[str]
) -> None:
    miss = site.get("/search", {"q": pasted})
    words = visible_text(miss)
    assert miss.status_code == 404
    assert f"No matches for {looks_like}" in words
    assert all(key in words for key in requested)
    assert "Possible reasons" in words


@pytest.mark.parametrize(
    "pasted",
    [
        pytest.param("0x" + "ab" * 19 + "a", id="an address that is one digit short"),
        pytest.param("vitalik.eth", id="a name"),
        pytest.param("x" * 20_000, id="too long"),
        pytest.param("a\x00b", id="NUL"),
    ],
)
def test_an_invalid_search_is_explained_without_a_request(site: Client, emulator: Emulator, pasted: str) -> None:
    emulator.inject("*", "failing-500")  # any request would fail
    answer = site.get("/search", {"q": pasted})
    assert answer.status_code == 400
    assert 'role="alert"' in answer.content.decode()


def test_an_incomplete_search_does_not_claim_no_matches(site: Client, emulator: Emulator) -> None:
    emulator.inject("SearchIntents", "failing-500")
    answer = site.get("/search", {"q": NOTHING})
    assert answer.status_code == 503
    assert "Search incomplete" in answer.content.decode()
    assert "No matches" not in answer.content.decode()
    assert "intent ID" in answer.content.decode()
    assert "Possible reasons" not in answer.content.decode()
    assert answer["Retry-After"] == "10"


@pytest.mark.parametrize(
    ("fault", "status", "retry_after"),
    [("busy-60", 429, None), ("failing-500", 503, "10"), ("broken-json", 503, "10"), ("geoblocked", 403, None)],
)
def test_without_any_response_the_status_code_is_that_of_an_error_page(
    site: Client, emulator: Emulator, fault: str, status: int, retry_after: str | None
) -> None:
    emulator.inject("*", fault)
    answer = site.get("/search", {"q": NOTHING})
    assert answer.status_code == status
    # The service's retry time plus up to 10% jitter, so that clients don't retry at once.
    result = answer.headers.get("Retry-After")
    assert result == retry_after or (status == 429 and 29 <= int(result) <= 31)
    assert "All lookups failed" in answer.content.decode()
    assert re.search("Lookup by [a-z ]+ and [a-z ]+ failed", answer.content.decode(), re.IGNORECASE)
    assert "Completed without matches" not in answer.content.decode()


@pytest.mark.parametrize("pasted", [NOTHING, UNUSED_ADDRESS, "order 4711-0815"])
def test_the_service_may_answer_an_unknown_identifier_with_not_found(
    site: Client, emulator: Emulator, pasted: str
) -> None:
    emulator.inject("SearchIntents", "not-found")
    answer = site.get("/search", {"q": pasted})
    assert answer.status_code == 404
    assert "Possible reasons" in answer.content.decode()


def test_a_hit_is_shown_along_with_the_failed_lookups(site: Client, emulator: Emulator) -> None:
    intent_id, txn_hash = intent_and_deposit_hash(site, emulator)
    emulator.inject("GetIntent", "failing-500")
    answer = site.get("/search", {"q": txn_hash})
    assert answer.status_code == 200
    assert f'href="/intent/{intent_id}"' in answer.content.decode()
    assert "Lookup by intent ID failed" in answer.content.decode()


def test_an_intent_id_redirects_to_its_transfer_even_if_other_lookups_fail(site: Client, emulator: Emulator) -> None:
    emulator.inject("SearchIntents", "failing-500")
    intent_id = emulator.finished(2)["intentId"]
    answer = site.get("/search", {"q": intent_id})
    assert answer.status_code == 302
    assert answer["Location"] == f"/intent/{intent_id}"


def intent_and_deposit_hash(site: Client, emulator: Emulator, which: int = 2) -> tuple[str, str]:
    """Return an Intent ID and the hash of its deposit."""
    intent_id = emulator.finished(which)["intentId"]
    receipt = site.get(f"/intent/{intent_id}/raw/receipt.json").json()
    return intent_id, receipt["depositTransaction"]["txnHash"]


@pytest.mark.parametrize(
    ("message", "leads"),
    [
        (f"I sent {NOTHING} and then {{hash}}, where is it?", "/intent/{id}?tx={hash}"),
        ("wallet {owner}, transaction https://arbiscan.io/tx/{hash}", "/intent/{id}?tx={hash}&link=arbiscan.io"),
        ("see http://dash.example/intent/{id}?tx={hash}.", "/intent/{id}?tx={hash}&link=dash.example"),
        (f"/intent/{{id}}?tx={NOTHING}", "/intent/{id}"),
    ],
)
def test_a_message_about_one_transfer_redirects_to_it(
    site: Client, emulator: Emulator, message: str, leads: str
) -> None:
    intent_id, txn_hash = intent_and_deposit_hash(site, emulator)
    known = {"id": intent_id, "hash": txn_hash, "owner": emulator.finished(2)["ownerAddress"]}
    answer = site.get("/search", {"q": message.format(**known)})
    assert (answer.status_code, answer["Location"]) == (302, leads.format(**known))


def test_a_message_with_two_intents_lists_both_with_the_keys_that_matched(site: Client, emulator: Emulator) -> None:
    first, txn_hash = intent_and_deposit_hash(site, emulator)
    second = emulator.finished(3)["intentId"]
    answer = site.get("/search", {"q": f"{second}, and {txn_hash} too"})
    page = answer.content.decode()
    assert answer.status_code == 200
    assert f'href="/intent/{first}"' in page
    assert f'href="/intent/{second}"' in page
    assert f"transaction hash {txn_hash[:8]}" in page
    assert f"intent ID {second[:8]}" in page


def test_a_message_with_an_unknown_hash_is_found_by_its_owner(site: Client, emulator: Emulator) -> None:
    owner = emulator.finished(2)["ownerAddress"]
    page = site.get("/search", {"q": f"wallet {owner}, transaction {NOTHING}"})
    assert page.status_code == 200
    assert f"owner {owner[:8].lower()}" in page.content.decode().lower()


USDC = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"


@pytest.mark.parametrize(
    "ticket",
    [
        pytest.param(f"token {USDC}, wallet {{}}", id="token and wallet"),
        pytest.param(
            f"https://etherscan.io/token/{USDC}?a={{}}", id="a token's page with a holder", marks=pytest.mark.slow
        ),
        pytest.param("0x0000000000000000000000000000000000000000 to {}", id="the zero address", marks=pytest.mark.slow),
        pytest.param("0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE and {}", id="native token"),
    ],
)
def test_a_token_in_a_message_with_a_wallet_is_not_looked_up_as_an_owner(
    site: Client, emulator: Emulator, ticket: str
) -> None:
    owner = emulator.finished(2)["ownerAddress"]
    page = site.get("/search", {"q": ticket.format(owner)})
    assert page.status_code == 200
    assert "<td" in page.content.decode()
    assert "Also found" in page.content.decode()


def test_a_miss_of_several_identifiers_names_each_and_the_malformed_ones(site: Client) -> None:
    other = "0x" + "34" * 32
    page = visible_text(site.get("/search", {"q": f"{NOTHING} or {other} or {UNUSED_ADDRESS[:-1]}"}))
    assert "0x121212…121212 as intent ID or transaction hash" in page
    assert "0x343434…343434 as intent ID or transaction hash" in page
    assert "This one has 39" in page


def test_ten_hits_are_reported_as_possibly_incomplete(site: Client, emulator: Emulator) -> None:
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
def test_every_key_of_the_intent_can_be_searched(site: Client, emulator: Emulator, key: str, field: str) -> None:
    intent = emulator.play(2, age=26)
    emulator.inject("SearchIntents", "search-capped")  # or a project has hundreds
    found = site.get("/search", {key: intent[field]})
    if found.status_code == 302:
        assert found["Location"].startswith(f"/intent/{intent['intentId']}")
    else:
        assert f'href="/intent/{intent["intentId"]}"' in found.content.decode()


@pytest.mark.parametrize("key", ["transaction", "deposit"])
def test_every_transaction_of_a_transfer_can_be_searched(site: Client, emulator: Emulator, key: str) -> None:
    intent = emulator.finished(2)
    receipt = site.get(f"/intent/{intent['intentId']}/raw/receipt.json").json()
    found = site.get("/search", {key: receipt["depositTransaction"]["txnHash"]})
    assert found.status_code == 302


@pytest.mark.parametrize("intent_id", ["intent_123abc", "a.b:c-d", "42"])
def test_an_intent_id_may_have_the_services_own_format(site: Client, intent_id: str) -> None:
    assert site.get("/search", {"intent": intent_id}).status_code == 404


def test_a_miss_by_one_key_has_other_reasons_than_one_by_several(site: Client) -> None:
    one = visible_text(site.get("/search", {"owner": UNUSED_ADDRESS}))
    assert "The wallet has never used this service." in one
    assert "Searched as Owner " in one
    several = visible_text(site.get("/search", {"owner": UNUSED_ADDRESS, "transaction": NOTHING}))
    assert "No single transfer matches all fields" in several
    assert "The wallet has never used this service." not in several


def test_an_invalid_search_shows_how_it_was_read(site: Client) -> None:
    answer = site.get("/search", {"q": "0x" + "ab" * 19 + "\u202ea" + " and more of it" * 700})
    page = answer.content.decode()
    assert answer.status_code == 400
    echo = re.search(r'Read as: <bdi class="mono">([^<]*)</bdi>', page)
    assert echo
    assert "⟨U+202E⟩" in echo[1]
    assert len(echo[1]) == 200


ROUTE = "100 USDC from Arbitrum to Base"


@pytest.mark.parametrize(
    ("words", "reading"),
    [
        (ROUTE, "Read as: 100 USDC, Arbitrum One to Base"),
        (f"{ROUTE} {'and more of it ' * 10}", "Read as: 100 USDC, Arbitrum One to Base"),
        (
            "sent 1.500 USDC from Base",
            "Read as: 1,500 or 1.5 USDC, from Base “1.500” could be 1,500 or 1.5.",
        ),
    ],
)
def test_a_search_for_a_transfer_in_words_shows_how_it_was_read(site: Client, words: str, reading: str) -> None:
    response = site.get("/search", {"q": words})
    assert reading in visible_text(response)
    assert response.status_code in (400, 404)


@pytest.mark.parametrize("words", ["Order #4711 of Base", "my transfer from Arbitrum to Base"])
def test_other_words_are_not_read_as_a_transfer(site: Client, words: str) -> None:
    assert "Read as: <strong>" not in site.get("/search", {"q": words}).content.decode()


def test_a_transaction_redirects_to_its_transfer_which_marks_the_step(site: Client, emulator: Emulator) -> None:
    intent_id = emulator.finished(2)["intentId"]
    receipt = site.get(f"/intent/{intent_id}/raw/receipt.json").json()
    for leg in ("deposit", "origin", "destination"):
        page = site.get(f"/tx/{receipt[f'{leg}Transaction']['txnHash']}", follow=True)
        assert page.redirect_chain[-1][0].startswith(f"/intent/{intent_id}?tx=")
        assert f"You searched for the {leg} transaction of this transfer." in page.content.decode()


def test_without_the_chain_list_any_chain_is_accepted(site: Client, emulator: Emulator) -> None:
    emulator.inject("GetChains", "failing-500")
    intent_id, txn_hash = intent_and_deposit_hash(site, emulator)
    assert site.get(f"/tx/12345/{txn_hash}")["Location"] == f"/intent/{intent_id}?tx={txn_hash}"


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("katana", "/chain/747474"),
        (" Base ", "/chain/8453"),
        ("bsc", "/chain/56"),
        ("relay", "/provider/RELAY"),
        ("LayerZero OFT", "/provider/LZ_OFT"),
    ],
)
def test_a_chain_or_provider_leads_to_its_page(site: Client, words: str, page: str) -> None:
    answer = site.get("/search", {"q": words})
    assert (answer.status_code, answer["Location"]) == (302, page)


def test_a_link_to_the_explorer_of_another_chain_is_pointed_out(site: Client, emulator: Emulator) -> None:
    intent_id, txn_hash = intent_and_deposit_hash(site, emulator)
    deposit = site.get(f"/intent/{intent_id}/raw/receipt.json").json()["depositTransaction"]
    hosts = {1: "etherscan.io", 10: "optimistic.etherscan.io", 8453: "basescan.org", 42161: "arbiscan.io"}
    own = hosts.pop(deposit["chainId"])
    for host, is_other in ((own, False), (hosts.popitem()[1], True)):
        answer = site.get("/search", {"q": f"https://{host}/tx/{txn_hash}"}, follow=True)
        assert ("This hash is on" in visible_text(answer)) == is_other


@pytest.mark.parametrize(
    ("words", "missing"),
    [
        ("my usdc is stuck on optimism", "the amount and the token, the chains it went from and to"),
        ("vitalik.eth, sent 0.5 eth from arbitrum to base", "when you sent it"),
    ],
)
def test_a_text_without_identifiers_gets_the_question_to_the_customer(site: Client, words: str, missing: str) -> None:
    for answer in (site.get("/search", {"q": words}), site.post("/triage", {"q": words})):
        page = visible_text(answer)
        assert "Please send the transaction hash of your transfer, or your wallet address." in page
        assert f"Please also tell us {missing}" in page


def test_the_results_have_pages_of_20_with_each_transfer_once(site: Client, emulator: Emulator) -> None:
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


BITCOIN, TRON = "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq", "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"
STARKNET = "0x5" + "1" * 62


@pytest.mark.parametrize(
    ("path", "words", "link"),
    [
        (f"/tx/{SIGNATURE}", "No matches for Solana transaction signature", f"https://solscan.io/tx/{SIGNATURE}"),
        (f"/search?q={SOLANA}", "on Solana", f"https://solscan.io/account/{SOLANA}"),
        (f"/tx/8453/{NOTHING}", "No matches", f"https://basescan.org/tx/{NOTHING}"),
        (f"/search?q={BITCOIN}", "No matches for Bitcoin address", f"https://mempool.space/address/{BITCOIN}"),
        (f"/search?q={TRON}", "No matches for Tron address", f"https://tronscan.org/#/address/{TRON}"),
        (f"/address/{BITCOIN}", "wner", f"https://mempool.space/address/{BITCOIN}"),
        (
            f"/search?q={STARKNET}",
            "No matches for Starknet transaction hash or address",
            f"https://voyager.online/tx/{STARKNET}",
        ),
    ],
)
def test_a_miss_names_the_kind_of_value_and_leads_to_the_explorer_of_its_chain_only(
    site: Client, path: str, words: str, link: str
) -> None:
    answer = site.get(path)
    assert answer.status_code == 404
    assert words in visible_text(answer)
    assert re.findall(r'href="(https://[^"]+)"', answer.content.decode()) == [link]


def test_a_transaction_hash_in_a_link_to_a_transfer_leads_to_its_transfer(site: Client, emulator: Emulator) -> None:
    intent_id, txn_hash = intent_and_deposit_hash(site, emulator)
    answer = site.get("/search", {"q": f"https://dash.example/intent/{txn_hash}"})
    assert answer["Location"] == f"/intent/{intent_id}?tx={txn_hash}"
