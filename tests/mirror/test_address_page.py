"""`/address/<address>`: the transfers of other owners that paid it, from the mirror, with how complete they are."""

import re

import pytest
from django.test import Client

from intents_ui.display.transfers import statuses
from tests.mirror import ledgers
from tests.mirror.conftest import card, links, on_each_engine, read
from tests.mirror.past import NOW
from tests.mirror.test_access import PAID

pytestmark = pytest.mark.usefixtures("still")

PATH = f"/address/{PAID}"


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
