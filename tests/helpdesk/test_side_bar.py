"""`/embed/ticket`: who can open it, who can frame it, and that it shows the answers of triage."""

import html
import re
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from selectolax.lexbor import LexborHTMLParser

from intents_ui.emulator.app import Emulator
from intents_ui.search import input_errors
from intents_ui.transfers import summary
from intents_ui.triage import lookup
from intents_ui.web import reading
from intents_ui.web.customer_reply import Reply
from intents_ui.web.search import NO_MIRROR
from tests.helpdesk import signing
from tests.helpdesk.conftest import CHATWOOT, DESK

pytestmark = pytest.mark.usefixtures("helpdesks")

SUCCEEDED, REFUNDED, RECOVERABLE = 3, 8, 29
NOTHING = "0x" + "12" * 32


def id_of(emulator: Emulator, scenario: int = REFUNDED) -> str:
    return str(emulator.finished(scenario)["intentId"])


def visible_text(answer: Any) -> str:
    body = re.sub(r"<textarea.*?</textarea>", " ", answer.content.decode().partition("<body")[2], flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", "<body" + body)).split())


def field(answer: Any, name: str) -> str:
    found = LexborHTMLParser(answer.content).css_first(f"form [name={name}]")
    assert found is not None
    return found.attributes.get("value") or found.text()


def opened(site: Client, text: str) -> Any:
    return site.get(signing.url_of(text))


def shown(site: Client, text: str, **fields: str) -> Any:
    return site.post(signing.PATH, {"q": text, **fields})


# Who can open it.


def test_without_its_setting_there_is_no_side_bar(site: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings.ENV, "intents_embed_hosts", [])
    for url in (signing.PATH, signing.url_of(NOTHING)):
        assert site.get(url).status_code == 404
    assert shown(site, NOTHING).status_code == 404


def test_its_form_looks_up_texts(site: Client, emulator: Emulator) -> None:
    form = LexborHTMLParser(site.get(signing.PATH).content).css_first("form")
    assert form is not None
    assert form.attributes["data-hosts"] == f"{CHATWOOT} {DESK}"
    answer = shown(site, f"Where are my funds? {id_of(emulator)}")
    assert "Refunded" in visible_text(answer)
    assert answer["Cache-Control"] == "no-store"


# Who can frame it.


@pytest.mark.parametrize("url", [signing.PATH, f"{signing.PATH}?q=1"])
def test_only_the_named_hosts_may_frame_it(site: Client, url: str) -> None:
    answer = site.get(url)
    policy = answer["Content-Security-Policy"]
    assert f"frame-ancestors {CHATWOOT} {DESK};" in policy
    assert "form-action 'self';" in policy
    assert "X-Frame-Options" not in answer
    assert answer["X-Robots-Tag"] == "noindex"
    assert not answer.cookies


# What it shows.


@pytest.mark.parametrize("scenario", [REFUNDED, RECOVERABLE])
def test_it_shows_the_answer_of_the_transfers_page(site: Client, emulator: Emulator, scenario: int) -> None:
    intent_id = id_of(emulator, scenario)
    answer = opened(site, intent_id)
    transfer = reading.read(intent_id)
    result, said = summary.of(transfer), visible_text(answer)
    for words in (result.status.word, result.headline, result.location, result.next_step, "Demo data"):
        assert words in said
    page = LexborHTMLParser(answer.content)
    assert f"/intent/{intent_id}" in [link.attributes["href"] for link in page.css("article a")]
    reply = page.css_first("article textarea")
    assert reply is not None
    of_page = Reply([transfer], "http://testserver").written()
    assert reply.text().strip().splitlines()[:-1] == of_page.strip().splitlines()[:-1]  # without the time


def test_the_most_urgent_transfer_is_first_and_each_is_told_once(site: Client, emulator: Emulator) -> None:
    done, recoverable = id_of(emulator, SUCCEEDED), id_of(emulator, RECOVERABLE)
    page = LexborHTMLParser(opened(site, f"{done} {recoverable} {done.upper()} {NOTHING}").content)
    heads = [article.css_first("h2").text() for article in page.css("article")]
    assert heads[0] == summary.of(reading.read(recoverable)).headline
    assert len(heads) == 3
    assert len(page.css("article textarea")) == 2


def test_links_open_a_new_tab(site: Client, emulator: Emulator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings.ENV, "intents_recovery_url", "https://app.example/recover")
    links = LexborHTMLParser(opened(site, id_of(emulator, RECOVERABLE)).content).css("main a")
    assert "https://app.example/recover" in [link.attributes["href"] for link in links]
    assert {(link.attributes["target"], link.attributes["rel"]) for link in links} == {("_blank", "noopener")}


def test_a_text_without_identifiers_says_so_and_shows_the_form(site: Client) -> None:
    answer = shown(site, "Hello <b>you</b>")
    assert answer.status_code == 200
    assert input_errors.NOTHING in visible_text(answer)
    assert field(answer, "q").strip() == "Hello <b>you</b>"
    assert "<b>you" not in answer.content.decode()


def test_the_rate_limit_of_tickets_applies(site: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookup, "charge", lambda *_: 7)
    answer = shown(site, NOTHING)
    assert (answer.status_code, answer["Retry-After"]) == (429, "7")
    assert "reached the rate limit" in visible_text(answer)


def test_the_number_of_the_ticket_is_kept_for_the_script(site: Client) -> None:
    for number, kept in (("17", "17"), ("x", ""), ("1" * 21, "")):
        found = LexborHTMLParser(shown(site, NOTHING, ticket=number).content).css_first("form [name=ticket]")
        assert found is not None
        assert (found.attributes["value"] or "") == kept


def test_without_a_mirror_a_transfer_in_words_has_a_sentence_that_says_so(site: Client) -> None:
    answer = shown(site, "sent 2000 USDT Polygon to Katana this morning")
    assert f"Possible matches {NO_MIRROR}" in visible_text(answer)
