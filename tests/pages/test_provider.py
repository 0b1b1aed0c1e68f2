"""The page of a route provider, and the links to it."""

import html
import re
from urllib.parse import quote

import pytest
from django.http import HttpResponse
from django.test import Client

from intents_ui.emulator.app import Emulator
from intents_ui.tokens import names
from tests.faults import corpus
from tests.pages.reading import visible_text

RELAY = "/provider/RELAY"
LINK = 'href="/provider/RELAY"'


def section(answer: HttpResponse, name: str) -> str:
    found = re.search(
        rf'<section class="card" aria-labelledby="{name}">.*?</section>', answer.content.decode(), re.DOTALL
    )
    assert found, name
    return found[0]


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("RELAY", "that bridges between chains Chains 24 of 24 supported Name in the API RELAY"),
        ("CCTP", "Can take up to 30 min Name in the API CCTP"),
        ("SOMNIA_SWAP", "that swaps on one chain Chains 1 of 24 supported"),
    ],
)
def test_a_provider_has_its_facts_and_chains(site: Client, emulator: Emulator, word: str, said: str) -> None:
    answer = site.get(f"/provider/{word}")
    assert answer.status_code == 200
    assert said in visible_text(answer)
    linked = re.findall(r'href="/chain/(\d+)"', section(answer, "chains"))
    assert list(map(int, linked)) == emulator.catalogue.chains_of(word)
    assert f'href="/routes?from={linked[0]}"' in section(answer, "chains")


def test_its_transfers_are_those_among_the_newest_hundred(site: Client) -> None:
    answer = site.get(RELAY)
    newest = section(answer, "newest")
    shown = re.findall(r'href="/intent/(0x[0-9a-f]{64})" aria-label', newest)
    count, read = re.findall(r"<span>(\d+) among the newest (\d+)</span>", newest)[0]
    assert (len(shown), read) == (10, "100")
    assert f"Showing 10 of {count}." in newest
    assert newest.count(LINK) == 10
    counts = [int(each) for each in re.findall(r"tile-words\">(\d+) transfers?<", section(answer, "used-routes"))]
    assert len(counts) == 12
    assert counts == sorted(counts, reverse=True)
    assert 12 <= sum(counts) <= int(count)


def test_a_route_of_an_unlisted_chain_has_no_link(site: Client, emulator: Emulator) -> None:
    emulator.play(30)
    routes = section(site.get(RELAY), "used-routes")
    assert "<li><div><span><bdi>Solana</bdi> → <bdi>Base</bdi></span>" in routes
    linked = re.findall(r'href="(/routes\?[^"]+)"', routes)
    assert linked
    assert [site.get(html.unescape(link)).status_code for link in linked] == [200] * len(linked)


def test_transfers_that_cannot_be_read_are_not_an_empty_list(site: Client, emulator: Emulator) -> None:
    emulator.inject("GetIntentHistory", "failing-500")
    answer = site.get(RELAY)
    assert answer.status_code == 200
    assert "Couldn't load transfers: " in visible_text(answer)
    assert "None of the newest" not in visible_text(answer)
    assert 'href="/chain/8453"' in section(answer, "chains")


def test_chains_that_cannot_be_read_are_not_an_empty_list(site: Client, emulator: Emulator) -> None:
    emulator.inject("GetChains", "failing-500")
    answer = site.get(RELAY)
    assert answer.status_code == 200
    assert "Chains unknown" in visible_text(answer)
    assert "Couldn't load chains: " in visible_text(answer)
    assert "no chains for this provider" not in visible_text(answer)
    assert re.search(r"\d+ among the newest 100", visible_text(answer))


@pytest.mark.parametrize(
    "name", ["Wormhole", "AUTO", *(each for each in corpus.OUT_OF_A_VALUE if "/" not in each), "a" * 200]
)
def test_an_unknown_provider_lists_the_known_ones(site: Client, name: str) -> None:
    answer = site.get(f"/provider/{quote(name)}")
    assert answer.status_code == 404
    assert "No route provider is called" in visible_text(answer)
    assert not re.search(r"<(img|script)[ >][^>]*alert|<script>alert", answer.content.decode())
    linked = re.findall(r'href="/provider/([A-Z_]+)"', section(answer, "known"))
    assert tuple(linked) == names.KNOWN_PROVIDERS


def test_providers_are_linked_where_they_are_named(site: Client, emulator: Emulator) -> None:
    intent_id = emulator.finished(2)["intentId"]
    paths = [
        f"/intent/{intent_id}",
        f"/intent/{intent_id}/route-stats",
        "/history",
        "/chain/8453",
        "/chains?provider=RELAY",
        "/routes?from=8453&to=42161",
    ]
    assert [path for path in paths if LINK not in site.get(path).content.decode()] == []


def test_an_unknown_provider_of_a_transfer_has_no_link(site: Client, emulator: Emulator) -> None:
    page = site.get(f"/intent/{emulator.finished(17)['intentId']}").content.decode()
    assert '<a class="provider-link" href="/provider/EVERLONG">Everlong</a>, <bdi>FUTURE_BRIDGE</bdi>' in page
