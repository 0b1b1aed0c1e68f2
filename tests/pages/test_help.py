"""Help: transfer statuses with their next steps, linked from every headline."""

import html
import re
from urllib.parse import urlsplit

import pytest
from django.test import Client

from intents_ui.service.models import IntentStatus, TransactionStatus
from intents_ui.transfers import status_help as display
from intents_ui.transfers import statuses
from intents_ui.transfers.rules import MESSAGES, SCAM_WARNING
from tests.pages.kinds import EVERY_SCENARIO

EVERY = sorted({*IntentStatus, *TransactionStatus})


def read(site: Client, path: str) -> str:
    answer = site.get(path)
    assert answer.status_code == 200
    return html.unescape(answer.content.decode())


def article(page: str, key: str) -> str:
    found = re.search(rf'<article class="situation" id="{re.escape(key)}".*?</article>', page, re.DOTALL)
    assert found, key
    return found[0]


def test_every_status_has_a_meaning_and_a_next_step(site):
    page = read(site, "/help")
    for state in (*display.transfers(), *display.transactions()):
        row = next(row for row in re.findall(r"<tr>.*?</tr>", page, re.DOTALL) if state.shown.meaning in row)
        assert f"<code>{state.name}</code>" in row
        assert state.shown.word in row
        assert state.next in row
        assert f'href="/help/status/{state.name}"' in row
    assert {state.name for state in display.transfers()} == {*IntentStatus, "EXPIRED"}
    assert len(display.transactions()) == len(TransactionStatus)


@pytest.mark.parametrize("status", EVERY)
def test_every_status_has_a_page(site, status):
    page = read(site, f"/help/status/{status}")
    of_intent, of_transaction = display.named(status)
    assert ('aria-label="Transaction"' in page) == (of_transaction is not None)
    for state in (of_intent, of_transaction):
        assert not state or state.shown.meaning in page
    for key, row in MESSAGES.items():
        assert (f'id="{key}"' in page) == (status in row.statuses)
    assert "{" not in re.sub(r"<head>.*?</head>", "", page, flags=re.DOTALL)


@pytest.mark.parametrize("path", ["/help", "/help/status/FAILED", "/help/status/unheard-of"])
def test_the_help_warns_of_fake_support_once(site, path):
    assert html.unescape(site.get(path).content.decode()).count(SCAM_WARNING) == 1


def test_an_expired_quote_has_a_row_and_a_page(site):
    listing = read(site, "/help")
    assert 'href="/help/status/EXPIRED"' in listing
    page = read(site, "/help/status/EXPIRED")
    assert statuses.EXPIRED.word in page
    assert statuses.EXPIRED.meaning in page
    for key in ("quoted.expired", "committed.overdue"):
        assert MESSAGES[key].headline in article(page, key)


@pytest.mark.parametrize("scenario", EVERY_SCENARIO)
def test_every_headline_links_to_its_row(site, emulator, scenario):
    intent = emulator.finished(scenario.slug)
    page = read(site, f"/intent/{intent['intentId']}")
    link, headline = re.findall(r'<h1><a class="explained" href="([^"]+)">([^<]+)</a></h1>', page)[0]
    there = article(read(site, urlsplit(link).path), urlsplit(link).fragment)
    row = MESSAGES[urlsplit(link).fragment]
    if "{" not in row.headline:
        assert headline.startswith(row.headline) or row.headline.startswith(headline) or row.stem
        assert display.OWN_WORDS.get(row.key, {}).get("headline", row.title or row.headline) in there
    own_words = display.OWN_WORDS.get(row.key, {})
    for template in (own_words.get("sentence", row.sentence), own_words.get("next", row.next)):
        assert all(words in there for words in re.split(r"\{\w+\}", template) if not words.startswith(" "))


def test_a_headline_without_a_status_links_to_the_list(site):
    page = read(site, "/help")
    for key in ("unknown.status", "receipt.unread", "notfound", "stale"):
        assert article(page, key)
    assert {row.key for row in MESSAGES.values() if not row.statuses} == {"receipt.unread", "unknown.status"}


def test_a_situation_names_nothing_that_only_a_transfer_has():
    """Placeholders have words for all transfers. A row with other ones has words of its own."""
    rows = [*(each for state in display.transfers() for each in (*state.usual, *state.rare)), *display.of_any_status()]
    for row in rows:
        words = " ".join((row.headline, row.sentence, row.where, row.next))
        assert not re.search(
            r"\bthe (last chain|refund chain|refund wallet|reported status)\b|some time|: (reported|the amount)", words
        ), row
    assert not display.IN_GENERAL.keys() & {"refund_chain", "refund_to", "last_chain", "running", "age", "raw"}


@pytest.mark.parametrize(
    ("status", "key", "warns"),
    [("EXECUTING", "executing.stalled", True), ("SUCCEEDED", "succeeded.cross_chain", False)],
)
def test_help_warns_of_a_second_deposit_where_it_would_be_harmful(site, status, key, warns):
    said = article(read(site, f"/help/status/{status}"), key)
    assert ("Do not deposit again for this transfer." in said) is warns
