"""Invalid input is explained next to its field without a request, and an empty list offers a next step."""

import html
import re
from pathlib import Path

import pytest
from django.test import Client
from selectolax.lexbor import LexborHTMLParser

from intents_ui.emulator.app import Emulator
from tests.pages.reading import PARTIAL, visible_text

NOTHING = "0x" + "12" * 32
KNOWN = {
    "nothing": NOTHING, "nothing_61": NOTHING[:-3], "nothing_63": NOTHING[:-1], "address_39": "0x" + "ab" * 19 + "a",
    "owner": "0x" + "1" * 40, "native": "0x" + "0" * 40, "now": str(1_795_262_400),  # 2026-11-21T12:00:00Z
    "hidden": ",".join(f"0x{number:040x}" for number in range(51)), "101": "x" * 101, "201": "i" * 201,
}  # fmt: skip
ROWS = [
    [cell.strip() for cell in line.split("|")]
    for line in Path(__file__).with_name("invalid_urls.txt").read_text().splitlines()[1:]
]


@pytest.mark.parametrize(("status", "path", "field", "said"), ROWS, ids=[path for _, path, *_ in ROWS])
def test_an_invalid_url_is_explained_next_to_its_field(
    site: Client, operations: list[str], status: str, path: str, field: str, said: str
) -> None:
    path = re.sub(r"{(\w+)}", lambda name: KNOWN[name[1]], path)
    for headers in ({}, PARTIAL) if field != "-" else ({},):
        answer = site.get(path, headers=headers)
        assert answer.status_code == int(status)
        assert said in visible_text(answer)
        assert "<script>" not in answer.content.decode().partition("<main")[2]
    if field != "-":
        marked = LexborHTMLParser(site.get(path).content).css('[aria-invalid="true"]')
        assert {each.attributes.get("name") for each in marked} == {field}
    assert {*operations} <= {"GetChains", "GetTokenList"}


def test_an_invalid_filter_opens_its_group_and_keeps_the_others(site: Client) -> None:
    page = site.get("/history?status=foo&balances=1").content.decode()
    assert 'details name="filter" open' in page
    assert 'name="balances" value="1"' in page
    assert re.search(r'<fieldset class="checks" aria-describedby="about-status"', page)


UNUSED_ADDRESS = "0x" + "77" * 20
ZERO = "0x" + "0" * 40
NEW_CHAIN = 777

# URL, what is missing, and the next step.
STATES = [
    pytest.param("/history?owner=" + UNUSED_ADDRESS, "No matching transfers", "/history", id="history, filters"),
    pytest.param(f"/address/{UNUSED_ADDRESS}", "No matches", "/search", id="address"),
    pytest.param(f"/address/{ZERO}", "be looked up. Try a wallet", "/search", id="the zero address"),
    pytest.param("/tokens?q=absent&chain=1", "No tokens match", "/tokens?q=absent", id="tokens, search"),
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
