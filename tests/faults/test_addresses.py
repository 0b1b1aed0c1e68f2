"""Addresses are shown in full, links lead where they say, and invisible characters become visible."""

import html
import itertools
import logging
import re
import socket
from typing import Final
from urllib.parse import urlsplit

import pytest
from django.test import Client
from selectolax.lexbor import LexborHTMLParser, LexborNode

from intents_ui import app
from intents_ui.emulator.app import Emulator
from intents_ui.formatting import hashes, text
from intents_ui.search import identifiers
from intents_ui.service.models import BlockExplorer, ChainInfo
from intents_ui.settings import ENV
from tests.emulator.driving import request
from tests.faults import corpus
from tests.faults.hostile import Hostile, answering, is_anything, is_word
from tests.faults.odd_pages import LISTS, OF_AN_INTENT, Sample, read
from tests.faults.test_strings import pages
from tests.pages.asgi import ask
from tests.pages.reading import content

SHORT: Final = re.compile(r"0x([0-9a-fA-F]{6})…([0-9a-fA-F]{6})")
TOKEN: Final = "/token/1/0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"
REL: Final = {"noopener", "noreferrer", "nofollow", "external"}
# Where what is not an EVM is looked at: our own choice.
OURS: Final = {"solscan.io", "mempool.space", "tronscan.org"}
FILE: Final = re.compile(r"\.(png|svg|atom|json|ndjson|csv)$")
CHAINS: Final = request(Emulator(), "GetChains", {}).document["chains"]
EXPLORERS: Final = {urlsplit(chain["blockExplorer"]["url"]).hostname for chain in CHAINS if chain.get("blockExplorer")}


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a line for each of thousands of unknown statuses. What is logged: `test_strings.py`."""
    monkeypatch.setattr(logging.getLogger("intents_ui.service.fields"), "disabled", True)


@pytest.fixture(scope="module")
def shown() -> dict[str, str]:
    """Every other page as the embedded service fills it."""
    return rendered(Hostile([], wants=lambda key, value: False), every=2)


def rendered(service: Hostile, *, every: int = 1) -> dict[str, str]:
    site = Client()
    with answering(service), pytest.MonkeyPatch.context() as patch:
        patch.setattr(ENV, "intents_max_export_rows", 60)
        answers = {path: read(site, path) for path in pages(service)[::every] if not FILE.search(path)}
    return {path: content(each) for path, each in answers.items() if each["Content-Type"].startswith("text/html")}


def elements(markup: str, selector: str) -> list[LexborNode]:
    return LexborHTMLParser(markup).css(selector)


def test_every_shortened_address_is_also_available_in_full(shown):
    wrong, seen = [], 0
    for path, markup in shown.items():
        for each in elements(markup, "a, bdi"):
            found = SHORT.search(each.text(deep=False) or "")
            if found is None or each.css_first("a a, bdi bdi"):
                continue
            seen += 1
            whole = re.compile(rf"0x{found[1]}[0-9a-fA-F]+{found[2]}")
            if not whole.search(each.attributes.get("title") or markup):
                wrong.append(f"{path}: {each.html}")
    assert seen > 50
    assert wrong == [], "\n".join(wrong)


ONE: Final = "0x0709cf2d5d4f3d38f5948d697fe64d7fb3639eb1"
TWIN: Final = f"{ONE[:9]}{'7' * 26}{ONE[-7:]}"
ADDRESS: Final = re.compile(r"0x[0-9a-f]{40}")


class Poisoned(Hostile):
    """Each address that it names is the one or the other, in turns."""

    turns = itertools.cycle((ONE, TWIN))

    def payload(self, path: str, value: str) -> str:
        return next(self.turns)


def test_addresses_that_shorten_alike_are_both_shown_in_full():
    """Whoever they are: owners, recipients, tokens, and what was pasted."""
    service = Poisoned([], wants=lambda key, value: key.lower().endswith("address") and bool(ADDRESS.fullmatch(value)))
    with answering(service):
        paths = ("/history", "/newest", "/history?recoverable=1", "/tokens?chain=1")
        found = {path: Client().get(path).content.decode() for path in paths}
        found["/triage"] = ask("POST", "/triage", data={"q": f"{TWIN} {ONE}"}).text
    short, wholes = hashes.short_address(ONE).lower(), {ONE, TWIN}
    for path, markup in found.items():
        read = words(markup).lower()
        assert short not in read, path
        assert wholes <= set(ADDRESS.findall(read)), path
        assert "lookalike" in read, path


@pytest.mark.parametrize("sent", ["0", "1"])
def test_a_row_that_sends_nothing_says_so_and_has_no_address_to_copy(sent):
    with answering(Hostile([sent], wants=lambda key, value: key.endswith("Amount"))):
        rows = elements(Client().get("/history").content.decode(), ".intents tbody tr")
    assert len(rows) > 5
    for row in rows:
        assert ("Zero value" in row.text(), row.css_first("td:not([data-column='Intent ID']) [data-copy]") is None) == (
            sent == "0",
        ) * 2


def words(markup: str) -> str:
    """Without the reasons of tokens' tags, which tell a token from the one whose name it bears and from no other."""
    page = LexborHTMLParser(markup)
    for each in page.css(".marks .visually-hidden"):
        each.decompose()
    assert page.body is not None
    return page.body.text(separator=" ")


def test_external_links_lead_to_explorers_of_listed_chains_and_say_so(shown):
    found = [(path, each) for path, markup in shown.items() for each in elements(markup, "a[href*='//']")]
    away = [
        (path, each) for path, each in found if not (each.attributes["href"] or "").startswith("http://testserver/")
    ]
    assert len(away) > 25
    for path, each in away:
        parts = urlsplit(each.attributes["href"] or "")
        assert (parts.scheme, parts.port, parts.username) == ("https", None, None), path
        assert parts.hostname in EXPLORERS | OURS, each.html
        assert set((each.attributes.get("rel") or "").split()) >= REL, each.html
        assert "xplorer" in each.text() or each.css_first("use[href$='#external-link']"), each.html


@pytest.mark.parametrize("url", corpus.URLS)
def test_no_link_is_built_from_a_malformed_address(url):
    assert hashes.explorer_root(url) is None
    info = ChainInfo(id=8453, block_explorer=BlockExplorer(url=url))
    assert identifiers.transaction_link("0x" + "ab" * 32, chain_id=8453, info=info) is None
    assert identifiers.address_link("0x" + "ab" * 20, chain_id=8453, info=info) is None


@pytest.mark.parametrize(
    ("wants", "turn"),
    [
        pytest.param(is_anything, 0, id="anything"),
        pytest.param(is_anything, 23, id="anything else", marks=pytest.mark.slow),
        pytest.param(is_word, 0, id="words", marks=pytest.mark.slow),
    ],
)
def test_no_page_links_to_other_sites_when_all_addresses_are_malformed(wants, turn):
    service = Hostile([*corpus.URLS, *corpus.ADDRESSES], corpus.URLS, wants=wants, turn=turn)
    for path, markup in rendered(service, every=2).items():
        for each in elements(markup, "[href], [src], [action], [formaction]"):
            for name in ("href", "src", "action", "formaction"):
                url = each.attributes.get(name)
                is_ours = url is None or re.match(r"(/(?![/\\])|[?#]|$|http://testserver/|[\w.-]+(/|$))", url)
                assert is_ours or urlsplit(url or "").hostname in OURS, f"{path}: {each.html}"


def test_no_url_in_a_response_is_ever_requested():
    with socket.create_server(("127.0.0.1", 0)) as server:  # connections to it wait to be accepted
        server.setblocking(False)
        port = server.getsockname()[1]
        places = [f"{root}:{port}/x.png" for root in ("http://127.0.0.1", "https://127.0.0.1", "http://localhost")]
        with answering(Hostile(places, places)) as service:
            intent = f"/intent/{service.finished(11)['intentId']}"
            for path in (intent, f"{intent}/card.png", "/chains", "/tokens?chain=1", TOKEN):
                Client().get(path)
        with pytest.raises(BlockingIOError):
            server.accept()
        socket.create_connection(("127.0.0.1", port)).close()
        server.accept()[0].close()


# Letters


# Round what runs from right to left stand marks of our own.
ISOLATED = re.compile("\u2068([^\u2068\u2069]*)\u2069")


@pytest.mark.parametrize("turn", [0, 45, 90])
def test_no_invisible_character_reaches_a_page(turn):
    service = Hostile([*corpus.UNICODE, *(f"a{each}b" for each in corpus.HIDDEN)], wants=is_word, turn=turn)
    with answering(service):
        for path in (f"/intent/{service.finished(20)['intentId']}", "/history", "/tokens?chain=1", "/chains"):
            page = ISOLATED.sub(r"\1", Client().get(path).content.decode())
            assert {each for each in set(page) - {"\n"} if text.is_hidden(each)} == set(), path


# In an attribute, in a field, or in the title before the button.
COPIED = re.compile(
    r'data-copy="([^"]*)"|<(?:textarea|input)[^>]* (?:value="([^"]*)"[^>]* )?readonly[^>]*>([^<]*)'
    r'|title="([^"]*)"[^>]*>(?:(?!title=).)*?<button class="copy" type="button" data-copy title',
    re.DOTALL,
)


def test_no_invisible_character_is_copied():
    payloads = [f"0x{each:040x}\u202e\x00{chr(0xE0041)}" for each in range(7)]
    with answering(Hostile(payloads, payloads, wants=is_anything)) as service:
        sample = Sample.of(app.current().service, service.finished(11)["intentId"])
        copied: list[tuple[str, ...]] = []
        for form in (*OF_AN_INTENT, *LISTS, "/console/GetIntentReceipt?ask=fields&intentId=ID", TOKEN):
            if FILE.search(form):
                continue
            answer = read(Client(), sample.page(form))
            if answer.headers["Content-Type"].startswith("text/html"):
                found = COPIED.findall(content(answer))
                copied += found
                hidden = {each for each in set(html.unescape("".join(map("".join, found)))) if text.is_hidden(each)}
                assert hidden <= {"\r", "\n"}, form
        assert len(copied) > 100
        assert "⟨U+2068⟩" not in repr(copied)  # no mark of our own
