"""`/address/<address>`: the transfers of other owners that paid it, from the mirror, with how complete they are."""

import re
from html import unescape
from pathlib import Path

import pytest
from django.test import Client

from intents_ui.display.transfers import statuses
from intents_ui.emulator.app import Emulator
from intents_ui.settings import ENV
from intents_ui.web import operator_auth
from tests.mirror import ledgers
from tests.mirror.conftest import on_each_engine, read
from tests.mirror.past import NOW
from tests.mirror.test_readonly import corrupt, counted

pytestmark = pytest.mark.usefixtures("still")

PAID = "0x" + "0d" * 20
PATH = f"/address/{PAID}"


def card(page: str, key: str) -> str:
    """Return the visible text of a card."""
    found = re.search(rf'<section class="card" aria-labelledby="{key}">.*?</section>', page, re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", found[0])).split()) if found else ""


def links(page: str) -> list[str]:
    """Return the IDs of the transfers that the page lists."""
    return re.findall(r'class="row-link" href="/intent/(0x\w+)"', page)


@on_each_engine
@pytest.mark.usefixtures("ledger")
def test_an_address_that_only_received_has_its_transfers_newest_first(site: Client) -> None:
    older = ledgers.pay(PAID, now=NOW, age=7200, number=1)
    newer = ledgers.pay(PAID, now=NOW, age=60, number=2, status="FAILED")
    refunded = ledgers.pay(PAID, now=NOW, role="refund", status="REFUNDED", number=3)
    page = read(site, PATH)
    recipient, refund = card(page, "recipient"), card(page, "refund")
    assert recipient.startswith("As recipient 2 transfers")
    assert re.search(r"Failed 1 min ago.*Succeeded 2 h ago", recipient)
    assert "Complete since 2026-11-18 13:00 UTC" in recipient
    assert refund.startswith("Refunded to 1 transfer ")
    assert re.search(r"Refunded (just now|[0-9]+ s ago)", refund)
    assert links(page) == [newer, older, refunded]


@pytest.mark.usefixtures("ledger")
def test_a_status_has_the_label_of_lists(site: Client) -> None:
    ledgers.pay(PAID, now=NOW, status="COMMITTED", age=30, number=1)
    ledgers.pay(PAID, now=NOW, status="COMMITTED", age=700, number=2)
    ledgers.pay(PAID, now=NOW, status="EXECUTING", age=800, number=3)
    ledgers.pay(PAID, now=NOW, status="TELEPORTING", age=900, number=4)
    shown = card(read(site, PATH), "recipient")
    words = [statuses.intent(each, now=NOW).word for each in ("COMMITTED", "EXECUTING", "TELEPORTING")]
    words.insert(1, statuses.EXPIRED.word)
    assert re.search(".*".join(words), shown)


@pytest.mark.usefixtures("ledger")
def test_fifty_are_shown_with_the_count_of_all(site: Client) -> None:
    for number in range(1, 54):
        ledgers.pay(PAID, now=NOW, age=number, number=number)
    page = read(site, PATH)
    assert "Showing 50 of 53" in card(page, "recipient")
    assert page.count('class="row-link"') == 50


@pytest.mark.usefixtures("mirrored")
def test_an_address_of_nothing_says_how_complete_the_copy_is(site: Client) -> None:
    ledgers.whole(NOW, holes=(30,))
    page = read(site, PATH, 404)
    shown = card(page, "recipient")
    assert "This is a recipient address" not in page
    assert "No transfer of another owner paid this address" in shown
    assert "The local copy has holes" in shown


def test_a_copy_that_cannot_be_read_is_no_empty_list(site: Client, emulator: Emulator, mirrored_file: Path) -> None:
    corrupt(mirrored_file)
    for path, status in ((f"/address/{emulator.finished(3)['ownerAddress']}", 200), (PATH, 404)):
        page = read(site, path, status)
        assert "The local copy can't be read" in card(page, "recipient")
        assert ("This is a recipient address" in page) is (status == 404)
        assert "No transfer of another owner" not in page


def test_without_a_mirror_there_is_no_such_card(site: Client, emulator: Emulator) -> None:
    for path, status in ((f"/address/{emulator.finished(3)['ownerAddress']}", 200), (PATH, 404)):
        assert "As recipient" not in read(site, path, status)


@pytest.mark.usefixtures("ledger")
def test_who_was_paid_is_seen_by_staff_only_where_the_setting_says_so(
    site: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ENV, "intents_insight", "staff")
    paid = ledgers.pay(PAID, now=NOW)
    with counted() as queries:
        page = read(site, PATH, 404)
    assert "Only staff can see" in card(page, "recipient")
    assert paid not in page
    assert not [each for each in queries if "mirror_transferaddress" in each]
    monkeypatch.setattr(operator_auth, "remembered_until", lambda request: NOW)
    assert paid in read(site, PATH)
    monkeypatch.setattr(ENV, "intents_insight", "off")
    assert "As recipient" not in read(site, PATH, 404)
