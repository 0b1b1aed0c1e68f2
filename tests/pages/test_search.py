"""One hit redirects, several are listed with the reason of each, none is an explained miss."""

import re
from collections import Counter

import pytest
from django.test import Client

from intents_ui import wiring
from intents_ui.emulator.app import Emulator
from intents_ui.service.wire import Page

NOBODY = "0x" + "12" * 20
NOTHING = "0x" + "12" * 32


def text_of(html: bytes) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html.decode()))


def test_several_hits_are_listed_newest_first_with_the_reason_of_each(site: Client, emulator: Emulator) -> None:
    owner = emulator.finished(2)["ownerAddress"]
    page = site.get("/search", {"q": owner})
    times = re.findall(r'<time datetime="([^"]+)"', page.content.decode())
    assert page.status_code == 200
    assert len(times) > 1
    assert times == sorted(times, reverse=True)
    assert page.content.decode().count(">owner</td>") == len(times)


def test_the_same_intent_found_by_several_keys_stands_once(site: Client, emulator: Emulator) -> None:
    intent = emulator.finished(1)
    assert intent["originIntentAddress"]
    found = site.get("/search", {"q": intent["originIntentAddress"]})
    assert found.status_code == 302
    assert found["Location"] == f"/intent/{intent['intentId']}"


@pytest.mark.parametrize(
    ("pasted", "looks_like", "asked"),
    [
        pytest.param(NOTHING, "an intent id or a transaction hash", ["intent id", "transaction hash"], id="hash"),
        pytest.param(NOBODY, "an address", ["owner", "deposit address", "destination"], id="address"),
        pytest.param("order 4711-0815", "a text", ["text"], id="words"),
        pytest.param(f"https://basescan.org/tx/{NOTHING}", "a transaction hash", ["transaction hash"], id="link"),
    ],
)
def test_a_miss_says_what_it_looks_like_and_what_was_asked(
    site: Client, emulator: Emulator, pasted: str, looks_like: str, asked: list[str]
) -> None:
    miss = site.get("/search", {"q": pasted})
    words = text_of(miss.content)
    assert miss.status_code == 404
    assert f"It looks like {looks_like}" in words
    assert all(key in words for key in asked)
    assert "Why there may be nothing" in words


def test_a_missed_hash_can_be_looked_at_on_every_chain(site: Client, emulator: Emulator) -> None:
    page = site.get("/search", {"q": NOTHING}).content.decode()
    assert f"https://etherscan.io/tx/{NOTHING}" in page
    assert f"https://basescan.org/tx/{NOTHING}" in page


@pytest.mark.parametrize(
    "pasted",
    [
        pytest.param("0x" + "ab" * 19 + "a", id="an address that is one digit short"),
        pytest.param("0x" + "ab" * 31 + "a", id="a hash that is one digit short"),
        pytest.param("0x" + "zz" * 20, id="letters that are no digits"),
        pytest.param("vitalik.eth", id="a name"),
        pytest.param("x" * 20_000, id="too long"),
        pytest.param("a\x00b", id="NUL"),
        pytest.param("0x1234…abcd", id="shortened by somebody else"),
    ],
)
def test_what_cannot_be_looked_up_is_explained_and_nothing_is_asked(
    site: Client, emulator: Emulator, pasted: str
) -> None:
    emulator.behave("*", "failing-500")  # whatever were asked would be a failure
    answer = site.get("/search", {"q": pasted})
    assert answer.status_code == 400
    assert 'role="alert"' in answer.content.decode()


def test_a_search_that_could_not_ask_everything_does_not_say_that_there_is_nothing(
    site: Client, emulator: Emulator
) -> None:
    emulator.behave("SearchIntents", "failing-500")
    answer = site.get("/search", {"q": NOTHING})
    assert answer.status_code == 503
    assert "Not everything could be asked" in answer.content.decode()
    assert "Nothing found" not in answer.content.decode()


def test_a_hit_stands_beside_what_could_not_be_asked(site: Client, emulator: Emulator) -> None:
    emulator.behave("SearchIntents", "failing-500")
    intent_id = emulator.finished(2)["intentId"]
    answer = site.get("/search", {"q": intent_id})
    assert answer.status_code == 200
    assert f'href="/intent/{intent_id}"' in answer.content.decode()
    assert "Could not be asked as transaction hash" in answer.content.decode()


def test_ten_hits_are_not_taken_for_all(site: Client, emulator: Emulator) -> None:
    newest = wiring.service().get_intent_history(page=Page.first(size=100)).intents
    busiest, _ = Counter(entry.receipt.owner_address for entry in newest if entry.receipt).most_common(1)[0]
    emulator.behave("SearchIntents", "search-capped")
    page = site.get("/search", {"q": busiest}).content.decode()
    assert "10 intents found" in re.sub(r"\s+", " ", page)
    assert "there can be more" in page


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
def test_every_key_of_the_intent_can_be_searched_by(site: Client, emulator: Emulator, key: str, field: str) -> None:
    intent = emulator.finished(2)
    found = site.get("/search", {key: intent[field]})
    if found.status_code == 302:
        assert found["Location"].startswith(f"/intent/{intent['intentId']}")
    else:
        assert f'href="/intent/{intent["intentId"]}"' in found.content.decode()


@pytest.mark.parametrize("key", ["transaction", "deposit"])
def test_transactions_can_be_searched_by(site: Client, emulator: Emulator, key: str) -> None:
    intent = emulator.finished(2)
    receipt = site.get(f"/intent/{intent['intentId']}/raw/receipt.json").json()
    found = site.get("/search", {key: receipt["depositTransaction"]["txnHash"]})
    assert found.status_code == 302


def test_a_memo_can_be_searched_by(site: Client, emulator: Emulator) -> None:
    found = site.get("/search", {"text": "Order #48213"})
    assert found.status_code in (200, 302)


@pytest.mark.parametrize(
    ("key", "value"), [("project", "many"), ("owner", "0x12"), ("transaction", "0x12"), ("text", "x" * 101)]
)
def test_a_key_that_was_filled_in_wrongly_is_marked_and_nothing_is_asked(
    site: Client, emulator: Emulator, key: str, value: str
) -> None:
    emulator.behave("*", "failing-500")
    answer = site.get("/search", {key: value})
    assert answer.status_code == 400
    assert 'aria-invalid="true"' in answer.content.decode()


def test_a_transaction_leads_to_its_intent_which_says_the_step(site: Client, emulator: Emulator) -> None:
    intent_id = emulator.finished(2)["intentId"]
    receipt = site.get(f"/intent/{intent_id}/raw/receipt.json").json()
    for leg in ("deposit", "origin", "destination"):
        page = site.get(f"/tx/{receipt[f'{leg}Transaction']['txnHash']}", follow=True)
        assert page.redirect_chain[-1][0].startswith(f"/intent/{intent_id}?tx=")
        assert f"is the {leg} transaction of this transfer" in page.content.decode()


def test_a_transaction_is_written_in_one_way(site: Client) -> None:
    shouted = site.get(f"/tx/8453/{NOTHING[2:].upper()}")
    assert shouted.status_code == 301
    assert shouted["Location"] == f"/tx/8453/{NOTHING}"


def test_a_missed_transaction_of_a_known_chain_is_looked_at_there_alone(site: Client, emulator: Emulator) -> None:
    page = site.get(f"/tx/8453/{NOTHING}").content.decode()
    assert re.findall(r'href="(https://[^"]+)"', page) == [f"https://basescan.org/tx/{NOTHING}"]
