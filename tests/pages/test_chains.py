"""The list of chains, its filters, the page of each chain, and that of each route provider."""

import html
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client

from intents_ui import app, startup
from intents_ui.emulator.app import Emulator
from intents_ui.service import health
from intents_ui.service.catalog import Catalog
from intents_ui.service.client import ServiceClient
from intents_ui.tokens import names
from tests.emulator.driving import call
from tests.faults import corpus
from tests.pages.cases import cases
from tests.pages.reading import read, visible_text
from tests.pages.recorded import Recorded, refusal
from tests.waiting import until

BASE, BASE_SEPOLIA, SOLANA = 8453, 84532, 792703809
NATIVE = "0x" + "0" * 40
HOUR = 3600.0
RELAY = "/provider/RELAY"
LINK = 'href="/provider/RELAY"'


class Transport(Recorded):
    """With the clock of the response cache."""

    def __init__(self, emulator: Emulator) -> None:
        super().__init__(emulator)
        self.emulator = emulator
        self.now = 0.0

    def ask(self, operation: str, **body: Any) -> Any:
        """Return the raw response."""
        return call(self.emulator, operation, body)


@pytest.fixture
def way(emulator: Emulator) -> Iterator[Transport]:
    way = Transport(emulator)
    with ServiceClient(app.service_config(), transport=way, clock=lambda: way.now) as client:
        objects = startup.build(emulator=emulator, service=client)
        app.use(replace(objects, catalog=Catalog(client, clock=lambda: way.now)))
        yield way


def down(body: Any) -> Any:
    return refusal(9001, "Unavailable", 503)


def rows(page: str) -> list[list[str]]:
    """Return the cells of the list of chains."""
    table = re.search(r'<table class="rows chains">.*?<tbody>(.*?)</tbody>', page, re.DOTALL)
    found = re.findall(r"<tr>(.*?)</tr>", table[1], re.DOTALL) if table else []
    return [[visible_text(cell) for cell in re.split(r"<t[hd][^>]*>", row)[1:]] for row in found]


def ids(page: str) -> list[int]:
    return [int(re.findall(r"\d+$", row[0])[0]) for row in rows(page)]


def section(page: str, name: str) -> str:
    found = re.search(rf'<section class="card" aria-labelledby="{name}">(.*?)</section>', page, re.DOTALL)
    assert found, name
    return found[1]


def named(site: Client, path: str) -> list[str]:
    return re.findall(r'class="row-link" href="/chain/\d+"><bdi>([^<]*)', read(site, path))


@pytest.mark.parametrize("case", cases("chains"))
def test_a_page_says(pages, case):
    pages.check(case)


# The list


@pytest.mark.parametrize("form", ["", "chains-flat", "chains-nested"], ids=["both forms", "flat", "nested"])
def test_every_chain_is_listed_whatever_its_json_form(way, site, emulator, form):
    known = way.ask("GetChains")["chains"]
    if form:
        emulator.inject("GetChains", form)
    page = read(site, "/chains")
    assert ids(page) == [chain["id"] for chain in known]
    for row, chain in zip(rows(page), known, strict=True):
        native = chain["nativeCurrency"]
        assert chain["name"] in row[0]
        assert row[1].startswith(native["symbol"])
        assert f"{native['decimals']} decimals" in row[1]
        assert native["name"] in row[1]
        kind = "Testnet" if chain["isTestnet"] else "Mainnet"
        assert row[2] == ("unknown" if form == "chains-nested" else kind)
        assert row[3] == ("unknown" if form == "chains-nested" else "Yes")
        assert f'href="{chain["blockExplorer"]["url"]}"' in page
    assert "24 supported chains" in page


def test_the_featured_tokens_of_all_chains_are_counted_with_one_request(way, site):
    chain_ids = [chain["id"] for chain in way.ask("GetChains")["chains"]]
    counts = Counter(token["chainId"] for token in way.ask("GetTokenList", chainIds=chain_ids)["tokens"])
    shown = {chain_id: row[4] for chain_id, row in zip(chain_ids, rows(read(site, "/chains")), strict=True)}
    assert shown == {chain_id: str(counts[chain_id]) for chain_id in chain_ids}
    assert way.requests("GetTokenList") == [{"chainIds": chain_ids}]
    read(site, "/chains?network=testnet")
    assert len(way.sent) == 2


def test_an_empty_chain_list_is_different_from_a_failure(way, site, emulator):
    way.scripts["GetChains"] = down
    read(site, "/chains", status=503)
    way.scripts.clear()
    emulator.catalogue.listed = ()
    assert "No chains returned" in read(site, "/chains")


# Filters


def test_mainnets_and_testnets_are_counted_and_can_be_filtered(way, site):
    assert "All 24 Mainnets 19 Testnets 5" in visible_text(read(site, "/chains"))
    testnets = read(site, "/chains?network=testnet")
    assert {row[2] for row in rows(testnets)} == {"Testnet"}
    assert len(ids(testnets)) == 5
    assert "<title>Testnets · Intents</title>" in testnets
    assert len(ids(read(site, "/chains?network=mainnet"))) == 19


@pytest.mark.parametrize("provider", ["CCTP", "RELAY", "SOMNIA_SWAP"])
def test_a_route_provider_filters_the_chains(way, site, provider):
    wanted = [chain["id"] for chain in way.ask("GetChains", routeProvider=provider)["chains"]]
    page = read(site, f"/chains?provider={provider}")
    assert ids(page) == wanted
    assert f"{len(wanted)} of 24 supported chains, those served by" in visible_text(page)


# One chain


def test_a_chains_tokens_link_to_their_pages_featured_ones_first(way, site):
    listed = way.ask("GetTokenList", chainIds=[BASE], includeAllListed=True)["tokens"]
    featured = [token["symbol"] for token in listed if token["featured"]]
    tokens = section(read(site, f"/chain/{BASE}"), "tokens")
    shown = re.findall(r'href="/token/8453/(0x[0-9a-f]+)"><bdi>([^<]+)', tokens)
    assert [symbol for _, symbol in shown][: len(featured)] == featured
    assert {symbol for _, symbol in shown} == {token["symbol"] for token in listed}
    assert ("0x" + "0" * 40, "ETH") in shown
    assert f"{len(featured)} featured of {len(listed)} listed" in visible_text(tokens)
    assert 'href="/tokens?chain=8453&amp;show=listed"' in tokens


@pytest.mark.parametrize(("side", "field"), [("origin", "originChainId"), ("destination", "destinationChainId")])
def test_a_chain_page_shows_the_newest_transfers_of_each_side(way, site, side, field):
    page = section(read(site, f"/chain/{BASE}"), side)
    requested = next(body for body in way.requests("GetIntentHistory") if field in body)
    assert requested[field] == BASE
    assert requested["page"]["pageSize"] == 5
    found = [entry["intentId"] for entry in way.ask("GetIntentHistory", **requested)["intents"]]
    assert len(found) == 5
    assert len(set(re.findall(r'href="/intent/(0x[0-9a-f]{64})"', page)) & set(found)) >= 4
    assert f'href="/history?{side}={BASE}"' in page


PARTS = {
    "tokens": ("GetTokenList", "chainIds", "load tokens: "),
    "origin": ("GetIntentHistory", "originChainId", "load transfers: "),
    "destination": ("GetIntentHistory", "destinationChainId", "load transfers: "),
    "connected": ("GetChains", "routeProvider", "t load route providers"),
}


@pytest.mark.parametrize("part", PARTS)
def test_each_part_of_a_chain_page_fails_independently(way, site, monkeypatch, part):
    monkeypatch.setattr(health, "FAILED_SHARE", 2.0)  # no circuit breaker opens for the other parts
    operation, field, sentence = PARTS[part]
    way.scripts[operation] = lambda body: down(body) if field in body else None
    page = read(site, f"/chain/{BASE}")
    assert sentence in section(page, part)
    for other in PARTS.keys() - {part}:
        assert "t load" not in section(page, other), other


# Connections


SWAPPERS = {"SUSHI", "ZEROX", "WETH", "SOMNIA_EXCHANGE", "SOMNIA_SWAP"}


def wire_connections(way: Transport, chain_id: int) -> dict[int, set[str]]:
    chains = {chain["id"]: chain["isTestnet"] for chain in way.ask("GetChains")["chains"]}
    between = set(names.KNOWN_PROVIDERS) - SWAPPERS
    found: dict[int, set[str]] = {}
    for provider in between:
        served = [chain["id"] for chain in way.ask("GetChains", routeProvider=provider)["chains"]]
        if chain_id in served:
            for other in served:
                if other != chain_id and chains[other] == chains[chain_id]:
                    found.setdefault(other, set()).add(provider)
    return found


@pytest.mark.parametrize("chain_id", [BASE, BASE_SEPOLIA, 5031])
def test_connected_chains_share_a_bridging_route_provider(way, site, chain_id):
    wanted = wire_connections(way, chain_id)
    connected = section(read(site, f"/chain/{chain_id}"), "connected")
    shown = re.findall(r'<li class="token">.*?href="/chain/(\d+)".*?tile-words">([^<]*)<', connected, re.DOTALL)
    assert {int(other) for other, _ in shown} == wanted.keys()
    for other, said in shown:
        more = re.search(r" and (\d+) more$", said)
        named = said.removesuffix(more[0] if more else "").split(", ")
        assert len(named) + (int(more[1]) if more else 0) == len(wanted[int(other)])
        assert f'href="/routes?from={chain_id}&amp;token={NATIVE}&amp;to={other}"' in connected
    assert "Chains that share a route provider with this one" in connected
    swaps = connected.partition("Swaps on this chain")[2].partition("</dd>")[0]
    for provider in SWAPPERS:
        served = way.ask("GetChains", routeProvider=provider)["chains"]
        assert (f'href="/provider/{provider}"' in swaps) == (chain_id in [chain["id"] for chain in served])
    for provider in set.union(*wanted.values()):
        assert f'href="/provider/{provider}"' in connected


def test_route_providers_that_failed_to_load_are_named(way, site):
    way.scripts["GetChains"] = lambda body: down(body) if body.get("routeProvider") == "CCTP" else None
    connected = section(read(site, f"/chain/{BASE}"), "connected")
    assert "CCTP" in connected
    assert "There may be more connections." in connected


# Unlisted chains and unusual IDs


def test_an_unlisted_chain_with_transfers_lists_them(way, site):
    page = read(site, f"/chain/{SOLANA}", status=404)
    assert "<h1>Unsupported chain: Solana</h1>" in page
    assert "There are transfers on it" in page
    leaving = section(page, "origin")
    link = f"/history?origin={SOLANA}"
    assert f'href="{link}"' in leaving
    intents = re.findall(r'href="/intent/(0x[0-9a-f]{64})"', leaving)
    assert intents
    assert set(intents) <= set(re.findall(r'href="/intent/(0x[0-9a-f]{64})"', read(site, link)))


# Changes of the service's lists


def test_an_added_renamed_or_removed_chain_is_updated_within_the_hour(way, site, emulator):
    assert "Base" in named(site, "/chains")
    emulator.catalogue.change_chain(BASE, name="Base Two")
    emulator.catalogue.change_chain(777, name="Nova Prime")
    emulator.catalogue.change_chain(10, listed=False)
    way.now += 0.89 * HOUR
    assert {"Base", "Optimism"} < set(named(site, "/chains"))
    read(site, "/chain/777", status=404)
    way.now += 0.22 * HOUR
    chains = named(site, "/chains")
    assert {"Base Two", "Nova Prime"} < set(chains)
    assert "Optimism" not in chains
    assert "<h1><bdi>Nova Prime</bdi></h1>" in read(site, "/chain/777")
    read(site, "/chain/10", status=404)


def test_during_an_outage_cached_lists_show_their_age(way, site):
    chains, page = named(site, "/chains"), read(site, f"/chain/{BASE}")
    way.now += 2 * HOUR
    way.scripts |= dict.fromkeys(("GetChains", "GetTokenList", "GetIntentHistory"), down)
    assert named(site, "/chains") == chains
    assert "Showing the list from 2 h ago." in visible_text(read(site, "/chains"))
    later = read(site, f"/chain/{BASE}")
    for part in ("tokens", "connected"):
        links = re.findall(r'href="(/(?:token|chain|routes)[^"]+)"', section(page, part))
        assert len(links) > 5
        assert re.findall(r'href="(/(?:token|chain|routes)[^"]+)"', section(later, part)) == links
    assert "Showing the list from 2 h ago." in visible_text(section(later, "tokens"))
    assert "load transfers: " in section(later, "origin")
    way.scripts.clear()
    way.now += 11
    until(lambda: "could not be asked" not in read(site, f"/chain/{BASE}"))


# Route providers


@pytest.mark.parametrize("word", ["RELAY", "CCTP", "SOMNIA_SWAP"])
def test_a_provider_has_its_chains(site, emulator, word):
    page = read(site, f"/provider/{word}")
    linked = re.findall(r'href="/chain/(\d+)"', section(page, "chains"))
    assert list(map(int, linked)) == emulator.catalogue.chains_of(word)
    assert f'href="/routes?from={linked[0]}"' in section(page, "chains")


def test_its_transfers_are_those_among_the_newest_hundred(site):
    page = read(site, RELAY)
    newest = section(page, "newest")
    shown = re.findall(r'href="/intent/(0x[0-9a-f]{64})" aria-label', newest)
    count, newest_read = re.findall(r"<span>(\d+) among the newest (\d+)</span>", newest)[0]
    assert (len(shown), newest_read) == (10, "100")
    assert f"Showing 10 of {count}." in newest
    assert newest.count(LINK) == 10
    counts = [int(each) for each in re.findall(r"tile-words\">(\d+) transfers?<", section(page, "used-routes"))]
    assert len(counts) == 12
    assert counts == sorted(counts, reverse=True)
    assert 12 <= sum(counts) <= int(count)


def test_a_route_of_an_unlisted_chain_has_no_link(site, emulator):
    emulator.play(30)
    routes = section(read(site, RELAY), "used-routes")
    assert "<li><div><span><bdi>Solana</bdi> → <bdi>Base</bdi></span>" in routes
    linked = re.findall(r'href="(/routes\?[^"]+)"', routes)
    assert linked
    assert [site.get(html.unescape(link)).status_code for link in linked] == [200] * len(linked)


@pytest.mark.parametrize(
    "name", ["Wormhole", "AUTO", *(each for each in corpus.OUT_OF_A_VALUE if "/" not in each), "a" * 200]
)
def test_an_unknown_provider_lists_the_known_ones(site, name):
    page = read(site, f"/provider/{quote(name)}", status=404)
    assert "No route provider is called" in visible_text(page)
    assert not re.search(r"<(img|script)[ >][^>]*alert|<script>alert", page)
    linked = re.findall(r'href="/provider/([A-Z_]+)"', section(page, "known"))
    assert tuple(linked) == names.KNOWN_PROVIDERS
