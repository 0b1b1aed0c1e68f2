"""Pages of addresses and searches find transfers in the mirror, and say how complete it is."""

import re
from typing import Any

import pytest
from django.test import Client

from intents_ui.display.transfers import statuses
from intents_ui.emulator.app import Emulator
from intents_ui.mirror import addresses
from intents_ui.mirror.models import Window
from intents_ui.mirror.windows import HOUR
from intents_ui.settings import ENV
from tests.mirror import past
from tests.mirror.conftest import card, links, on_each_engine, read
from tests.mirror.past import NOW
from tests.mirror.test_access import OLD, PAID, SHORT
from tests.pages.test_triage import send, visible_text

pytestmark = pytest.mark.usefixtures("still", "ledger")

PATH = f"/address/{PAID}"


@on_each_engine
def test_an_address_that_only_received_has_its_transfers_newest_first(site: Client) -> None:
    older = past.pay(PAID, now=NOW, age=7200, number=1)
    newer = past.pay(PAID, now=NOW, age=60, number=2, status="FAILED")
    refunded = past.pay(PAID, now=NOW, role="refund", status="REFUNDED", number=3)
    page = read(site, PATH)
    recipient, refund = card(page, "recipient"), card(page, "refund")
    assert recipient.startswith("As recipient 2 transfers")
    assert re.search(r"Failed 1 min ago.*Succeeded 2 h ago", recipient)
    assert "Complete since 2026-11-18 13:00 UTC" in recipient
    assert refund.startswith("Refunded to 1 transfer ")
    assert re.search(r"Refunded (just now|[0-9]+ s ago)", refund)
    assert links(page) == [newer, older, refunded]


def test_a_status_has_the_label_of_lists(site: Client) -> None:
    past.pay(PAID, now=NOW, status="COMMITTED", age=30, number=1)
    past.pay(PAID, now=NOW, status="COMMITTED", age=700, number=2)
    past.pay(PAID, now=NOW, status="EXECUTING", age=800, number=3)
    past.pay(PAID, now=NOW, status="TELEPORTING", age=900, number=4)
    shown = card(read(site, PATH), "recipient")
    words = [statuses.intent(each, now=NOW).word for each in ("COMMITTED", "EXECUTING", "TELEPORTING")]
    words.insert(1, statuses.EXPIRED.word)
    assert re.search(".*".join(words), shown)


def test_fifty_are_shown_with_the_count_of_all(site: Client) -> None:
    for number in range(1, 54):
        past.pay(PAID, now=NOW, age=number, number=number)
    page = read(site, PATH)
    assert "Showing 50 of 53" in card(page, "recipient")
    assert page.count('class="row-link"') == 50


def test_an_address_of_nothing_says_how_complete_the_copy_is(site: Client) -> None:
    Window.objects.filter(start=int(NOW.timestamp()) - 30 * HOUR).update(is_sealed=False, failures=1)
    page = read(site, PATH, 404)
    shown = card(page, "recipient")
    assert "This is a recipient address" not in page
    assert "No transfer of another owner paid this address" in shown
    assert "The local copy has holes" in shown


def test_a_recipient_leads_to_its_transfers(site: Client) -> None:
    for number, role in enumerate(("refund", "recipient"), 1):
        paid = f"0x{number:040x}"
        past.pay(paid, now=NOW, role=role, number=number)
        answer = site.get("/search", {"q": paid})
        assert (answer.status_code, answer.headers["Location"]) == (302, f"/address/{paid}#{role}")


@on_each_engine
def test_a_shortened_id_is_found_among_older_transfers(site: Client) -> None:
    found = past.pay(PAID, now=NOW, age=9 * 86_400, number=OLD)
    past.pay(PAID, now=NOW, number=OLD + 1)  # another end
    past.pay(PAID, now=NOW, number=OLD + (1 << 240))  # another start
    page = read(site, SHORT)
    assert links(page) == [found]
    assert "In the local copy 1 transfer" in card(page, "older")
    assert "Complete since" in card(page, "older")
    assert "<title>Possible matches" in page
    assert "Compare the full value." in page
    assert f'data-copy="{found}"' in page


def test_any_start_of_an_id_is_compared(site: Client) -> None:
    found = past.pay(PAID, now=NOW, number=OLD)
    for query in ("0x21ed5…5b43e", "0x21ed55555…", "…5555b43e", "0x21ED…B43E", "0x21e…b43e"):
        page, has_start = site.get("/search", {"q": query}).content.decode(), query.startswith("0x")
        assert links(page) == [found] * has_start, query
        assert ("needs the first characters" in card(page, "older")) is not has_start, query


@on_each_engine
def test_too_many_ids_with_one_start_are_not_compared(site: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "MOST_COMPARED", 2)
    for step in range(3):
        past.pay(PAID, now=NOW, number=OLD + (step << 32))
    assert "Too many intent IDs" in card(read(site, SHORT, 404), "older")


def test_a_match_among_the_newest_transfers_is_shown_once(site: Client, emulator: Emulator) -> None:
    known: dict[str, Any] = emulator.play(2, age=60)
    past.pay(PAID, now=NOW, number=int(known["intentId"], 16))
    page = read(site, f"/search?q={known['intentId'][:8]}%E2%80%A6{known['intentId'][-6:]}")
    assert links(page) == [known["intentId"]]
    assert "No other intent ID matches" in card(page, "older")


def test_triage_compares_a_shortened_id_with_the_copy(site: Client) -> None:
    found = past.pay(PAID, now=NOW, age=9 * 86_400, number=OLD)
    (row,) = send("Where is 0x21ed…b43e?").rows
    assert "Possible match in the local copy" in visible_text(row)
    assert "Succeeded, created" in visible_text(row)
    assert f'href="/intent/{found}"' in row
    past.pay(PAID, now=NOW, number=OLD + (1 << 32))
    (row,) = send("Where is 0x21ed…b43e?").rows
    assert "2 possible matches in the local copy" in visible_text(row)
    (row,) = send("Where is 0x21ed…b43f?").rows
    assert "Searched the intent IDs of the local copy. No match there." in visible_text(row)


def test_triage_does_not_speak_of_a_copy_that_it_did_not_search(site: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    past.pay(PAID, now=NOW, number=OLD)
    for ticket, who in (("…5b43e", "public"), ("0x21ed…b43e", "staff")):
        monkeypatch.setattr(ENV, "intents_insight", who)
        (row,) = send(f"Where is {ticket}?").rows
        assert "local copy" not in visible_text(row)
        assert "No match" in visible_text(row)
