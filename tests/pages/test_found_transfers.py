"""Pages of addresses and searches find transfers in the mirror, and say how complete it is."""

import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client
from pydantic import SecretStr

from intents_ui import app
from intents_ui.emulator.app import Emulator
from intents_ui.mirror import entry
from intents_ui.mirror.models import Window
from intents_ui.mirror.reader import Reading, Task
from intents_ui.mirror.windows import HOUR
from intents_ui.service import operations
from intents_ui.service.models import IntentHistory, Page
from intents_ui.settings import ENV
from intents_ui.transfers import statuses, summary
from intents_ui.web import reading
from intents_ui.web.search import CHECK
from tests.fenced import json_of
from tests.helpdesk import signing
from tests.mirror import past
from tests.mirror.conftest import card, copy, links, mirrored, on_each_engine, postgres, read
from tests.mirror.past import NOW
from tests.mirror.test_access import OLD, PAID, SHORT
from tests.pages.test_mcp import call
from tests.pages.test_triage import UNKNOWN, legs, send, short, visible_text

__all__ = ["copy", "mirrored", "postgres"]  # fixtures of a mirror
pytestmark = pytest.mark.usefixtures("still", "ledger")

PATH = f"/address/{PAID}"


@pytest.fixture
def ledger(mirrored: None) -> None:
    """Let the mirror have a complete ledger of three days until the site's time."""
    past.whole(NOW)


@on_each_engine
def test_an_address_that_only_received_has_its_transfers_newest_first(site: Client) -> None:
    older = past.pay(PAID, now=NOW, age=7200, number=1)
    newer = past.pay(PAID, now=NOW, age=60, number=2, status="FAILED")
    refunded = past.pay(PAID, now=NOW, role="refund", status="REFUNDED", number=3)
    page = read(site, PATH)
    recipient, refund = card(page, "recipient"), card(page, "refund")
    assert recipient.startswith("Received from others 2 transfers")
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
    assert "No one else has paid this address" in shown
    assert "The local copy has holes" in shown


def test_a_recipient_leads_to_its_transfers(site: Client) -> None:
    for number, role in enumerate(("refund", "recipient"), 1):
        paid = f"0x{number:040x}"
        past.pay(paid, now=NOW, role=role, number=number)
        answer = site.get("/search", {"q": paid})
        assert (answer.status_code, answer.headers["Location"]) == (302, f"/address/{paid}#{role}")


def mirror(entries: Iterable[IntentHistory]) -> None:
    """Write entries of the history to the copy."""
    at = int(NOW.timestamp())
    columns = [entry.read(each, now=NOW) for each in entries if each.status != "QUOTED"]
    past.lead(at).commit(Reading(task=Task(at - 3600), at=at * 1000, entries=columns), now=at)


@pytest.fixture
def mirrored_history(emulator: Emulator, site: Client) -> dict[str, Any]:
    """Let the mirror have the newest hundred transfers. Return one of them."""
    known: dict[str, Any] = emulator.play(2, age=60)
    mirror(app.current().service.ask(operations.get_intent_history(page=Page.first(size=100))).intents)
    return known


def possible(page: Any) -> str:
    """Return the visible text of the card with possible matches."""
    return card(page if isinstance(page, str) else page.content.decode(), "candidates")


@on_each_engine
def test_a_shortened_id_is_found_although_the_service_does_not_return_its_transfer(site: Client) -> None:
    found = past.pay(PAID, now=NOW, age=9 * 86_400, number=OLD)
    past.pay(PAID, now=NOW, number=OLD + 1)  # another end
    past.pay(PAID, now=NOW, number=OLD + (1 << 240))  # another start
    page = read(site, SHORT)
    assert re.findall(r'href="/intent/(0x\w+)"', page) == [found]
    assert "Couldn't load 1 of them" in possible(page)
    assert "Complete since" in possible(page)
    assert "<title>Possible matches" in page
    assert "Compare the full value." in page


@pytest.mark.parametrize("form", ["{head}…{tail}", "{head}...{tail}", "{head}..{tail}", "{head}ab…"])
def test_a_shortened_intent_id_lists_the_transfer_and_does_not_redirect(
    site: Client, mirrored_history: dict[str, Any], form: str
) -> None:
    intent_id = mirrored_history["intentId"]
    query = form.format(head=intent_id[:6], tail=intent_id[-4:]).replace(f"{intent_id[:6]}ab", intent_id[:12])
    page = read(site, f"/search?{urlencode({'q': query})}")
    assert links(page) == [intent_id]
    assert "Intent ID matches." in possible(page)


def test_each_shortened_hash_or_address_finds_its_transfer_and_says_which_matched(
    site: Client, mirrored_history: dict[str, Any]
) -> None:
    intent_id = mirrored_history["intentId"]
    found = legs(site, intent_id)
    assert "deposit" in found
    for leg, value in found.items():
        page = site.get("/search", {"q": f"my wallet says {short(value).upper().replace('0X', '0x')}, help"})
        assert links(page.content.decode()) == [intent_id]
        assert f"{leg.capitalize()} transaction matches." in possible(page)
    assert "Owner matches." in possible(site.get("/search", {"q": short(mirrored_history["ownerAddress"])}))
    deposit_address = short(mirrored_history["originIntentAddress"])
    assert "Deposit address matches." in possible(site.get("/search", {"q": deposit_address}))


def test_a_miss_says_what_was_searched(site: Client) -> None:
    for query in ("0x12ab…34cd", "…5b43e"):
        page = read(site, f"/search?{urlencode({'q': query})}", 404)
        assert "Nothing in the local copy of the history matches." in possible(page)


def test_ten_of_many_are_shown_and_the_others_are_on_other_pages(site: Client) -> None:
    for number in range(23):
        past.pay(PAID, now=NOW, age=number, number=OLD + (number << 32))
    first, last = read(site, SHORT), read(site, f"{SHORT}&candidates=3")
    assert "1 to 10 of 23" in possible(first)
    assert "21 to 23 of 23" in possible(last)
    assert "candidates=2" in first
    assert "candidates=2" in last


def test_triage_looks_for_a_shortened_id_in_the_copy(mirrored_history: dict[str, Any]) -> None:
    intent_id = mirrored_history["intentId"]
    first, second = send(f"Where is {short(intent_id)}? And {UNKNOWN}").rows
    assert "Possible match in the local copy" in visible_text(first)
    assert "Intent ID matches." in visible_text(first)
    assert f'href="/intent/{intent_id}"' in first
    assert "Nothing in the local copy of the history matches. Request the full ID." in visible_text(second)


def test_triage_knows_an_address_that_was_only_paid_by_others(site: Client) -> None:
    for number in (1, 2, 3):
        past.pay(PAID, now=NOW, number=number)
    (row,) = send(f"Our shop is {PAID}").rows
    assert "Paid by others" in visible_text(row)
    assert "Received from others: 3" in visible_text(row)
    assert f'href="/address/{PAID}"' in row
    assert "never used" not in row


def test_transfers_in_words_have_candidates_everywhere_and_no_reply_is_about_one(
    site: Client, mirrored_history: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ENV, "intents_embed_hosts", ["https://desk.acme.example"])
    monkeypatch.setattr(ENV, "intents_slack_signing_secret", SecretStr(signing.SECRET))
    intent_id = mirrored_history["intentId"]
    told = f"sent {summary.of(reading.read(intent_id)).sent} today, got nothing"
    searched = site.get("/search", {"q": told}).content.decode()
    assert "<title>No exact match" in searched
    for page in (searched, site.post("/triage", {"q": told}).content.decode()):
        assert "Candidates, not answers." in possible(page)
        assert "Amount, token" in possible(page)
        assert intent_id in page
        assert "Reply" not in possible(page)
    body = urlencode({"text": told})
    headers = signing.slack_headers(body)
    answer = site.post("/slack/command", body, content_type="application/x-www-form-urlencoded", headers=headers).json()
    slack = "\n".join(block["text"]["text"] for block in answer["blocks"])
    side_bar = site.post(signing.PATH, {"q": told}).content.decode()
    for shown in (slack, side_bar):
        assert CHECK in shown
        assert "Amount, token" in shown
        assert f"/intent/{intent_id}" in shown
    assert "textarea class=" not in side_bar
    for tool in ("triage_ticket", "look_up"):
        result = json_of(call(site, tool, text=told))
        assert intent_id in [each["intentId"] for each in result["candidates"]["shown"]]
    for found in (
        site.get("/api/v1/lookup", {"q": told}).json()["candidates"],
        site.post("/api/v1/triage", {"text": told}, content_type="application/json").json()["candidates"],
    ):
        assert (found["searched"], found["count"] >= 1) == ("Searched the local copy of the history.", True)
        why = {each["transfer"]["intentId"]: each["why"] for each in found["shown"]}[intent_id]
        assert why.startswith("Amount, token")
    assert site.get("/api/v1/lookup", {"q": intent_id}).json()["candidates"] is None
    page = send(f"{told}, my wallet is {mirrored_history['ownerAddress']}").page
    assert "Address, amount, token" in possible(page)


def test_several_matches_of_a_shortened_id_are_listed_in_its_row(site: Client, emulator: Emulator) -> None:
    owner = str(emulator.finished(2)["ownerAddress"])
    history = operations.get_intent_history(by_owner_address=owner, page=Page.first(size=20))
    entries = [each for each in app.current().service.ask(history).intents if each.status != "QUOTED"][:7]
    ids = [each.intent_id for each in entries]
    assert len(ids) > 1
    mirror(entries)
    (row,) = send(f"Where is {short(owner)}?").rows
    assert f"{len(ids)} possible matches in the local copy" in visible_text(row)
    listed = re.findall(r'href="/intent/(0x\w+)"', row)
    assert len(listed) == min(len(ids), 5)
    assert set(listed) <= set(ids)
    assert "Compare it with the full value before you rely on it." in visible_text(row)
    assert "All possible matches" in visible_text(row)
    assert "Reply" not in row


def test_triage_does_not_search_a_copy_that_only_staff_may_see(site: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    past.pay(PAID, now=NOW, number=OLD)
    monkeypatch.setattr(ENV, "intents_insight", "staff")
    (row,) = send("Where is 0x21ed…b43e?").rows
    assert "Only staff can search the local copy" in visible_text(row)
    assert "No match" in visible_text(row)
    assert "21ed5555" not in row
