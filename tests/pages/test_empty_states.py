"""Empty states say what is missing and offer a next step."""

import html
import re

import pytest
from django.test import Client

from intents_ui.emulator.app import Emulator

UNUSED_ADDRESS = "0x" + "77" * 20
ZERO = "0x" + "0" * 40
NEW_CHAIN = 777

# URL, what is missing, and the next step.
STATES = [
    pytest.param("/history?owner=" + UNUSED_ADDRESS, "No matching transfers", "/history", id="history, filters"),
    pytest.param(f"/address/{UNUSED_ADDRESS}", "No matches", "/search", id="address"),
    pytest.param(f"/address/{ZERO}", "be looked up. Try a wallet", "/search", id="the zero address"),
    pytest.param("/tokens?q=nobody&chain=1", "No tokens match", "/tokens?q=nobody", id="tokens, search"),
    pytest.param("/chain/84532", "No outgoing transfers yet", "/routes?from=84532", id="chain, origin"),
    pytest.param("/chain/84532", "No incoming transfers yet", "/routes?to=84532", id="chain, destination"),
    pytest.param(f"/chain/{NEW_CHAIN}", "No listed tokens on this chain", "show=external", id="chain, tokens"),
    pytest.param("/chains?provider=NOBODYS", "No chains for", "/chains", id="chains, provider"),
    pytest.param(f"/search?q=0x{'77' * 32}", "No matches", "/search", id="search"),
    pytest.param(f"/search?owner={UNUSED_ADDRESS}", "No matches", "/search", id="search by key"),
    pytest.param(f"/routes?from={NEW_CHAIN}&token={UNUSED_ADDRESS}&to=1", "No listed token", "/routes?", id="routes"),
]


@pytest.mark.parametrize(("path", "said", "way_on"), STATES)
def test_an_empty_list_offers_a_next_step(site: Client, emulator: Emulator, path: str, said: str, way_on: str) -> None:
    emulator.catalogue.change_chain(NEW_CHAIN, name="Nova Prime")
    page = html.unescape(site.get(path).content.decode().partition("<main")[2].partition("</main>")[0])
    assert said in page
    after = page[page.index(said) :]
    assert re.search(rf'href="[^"]*{re.escape(way_on)}[^"]*"', after), "no way on stands after it"


@pytest.mark.parametrize("pasted", ["hello, where is it?", "0x" + "ab" * 19 + "a"])
def test_a_text_without_an_identifier_shows_what_one_looks_like(site: Client, pasted: str) -> None:
    answer = site.post("/triage", {"q": pasted})
    page = html.unescape(answer.content.decode())
    alert = page[page.index('role="alert"') :]
    assert answer.status_code == 400
    assert pasted in alert  # the text can be corrected in the field
    assert "Intent IDs, transaction hashes, addresses and block explorer links" in alert
