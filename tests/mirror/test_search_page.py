"""The search finds transfers by recipient and by a shortened ID in the mirror, and says how complete it is."""

from typing import Any

import pytest
from django.test import Client

from intents_ui.emulator.app import Emulator
from intents_ui.mirror import addresses
from intents_ui.settings import ENV
from tests.mirror import ledgers
from tests.mirror.conftest import card, links, on_each_engine, read
from tests.mirror.past import NOW
from tests.mirror.test_access import OLD, PAID, SHORT
from tests.pages.test_triage import send, visible_text

pytestmark = pytest.mark.usefixtures("still")


@pytest.mark.usefixtures("ledger")
def test_a_recipient_leads_to_its_transfers(site: Client) -> None:
    for number, role in enumerate(("refund", "recipient"), 1):
        paid = f"0x{number:040x}"
        ledgers.pay(paid, now=NOW, role=role, number=number)
        answer = site.get("/search", {"q": paid})
        assert (answer.status_code, answer.headers["Location"]) == (302, f"/address/{paid}#{role}")


@on_each_engine
@pytest.mark.usefixtures("ledger")
def test_a_shortened_id_is_found_among_older_transfers(site: Client) -> None:
    found = ledgers.pay(PAID, now=NOW, age=9 * 86_400, number=OLD)
    ledgers.pay(PAID, now=NOW, number=OLD + 1)  # another end
    ledgers.pay(PAID, now=NOW, number=OLD + (1 << 240))  # another start
    page = read(site, SHORT)
    assert links(page) == [found]
    assert "In the local copy 1 transfer" in card(page, "older")
    assert "Complete since" in card(page, "older")
    assert "<title>Possible matches" in page
    assert "Compare the full value." in page
    assert f'data-copy="{found}"' in page


@pytest.mark.usefixtures("ledger")
def test_any_start_of_an_id_is_compared(site: Client) -> None:
    found = ledgers.pay(PAID, now=NOW, number=OLD)
    for query in ("0x21ed5…5b43e", "0x21ed55555…", "…5555b43e", "0x21ED…B43E", "0x21e…b43e"):
        page, has_start = site.get("/search", {"q": query}).content.decode(), query.startswith("0x")
        assert links(page) == [found] * has_start, query
        assert ("needs the first characters" in card(page, "older")) is not has_start, query


@on_each_engine
@pytest.mark.usefixtures("ledger")
def test_too_many_ids_with_one_start_are_not_compared(site: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "MOST_COMPARED", 2)
    for step in range(3):
        ledgers.pay(PAID, now=NOW, number=OLD + (step << 32))
    assert "Too many intent IDs" in card(read(site, SHORT, 404), "older")


@pytest.mark.usefixtures("ledger")
def test_a_match_among_the_newest_transfers_is_shown_once(site: Client, emulator: Emulator) -> None:
    known: dict[str, Any] = emulator.play(2, age=60)
    ledgers.pay(PAID, now=NOW, number=int(known["intentId"], 16))
    page = read(site, f"/search?q={known['intentId'][:8]}%E2%80%A6{known['intentId'][-6:]}")
    assert links(page) == [known["intentId"]]
    assert "No other intent ID matches" in card(page, "older")


@pytest.mark.usefixtures("ledger")
def test_triage_compares_a_shortened_id_with_the_copy(site: Client) -> None:
    found = ledgers.pay(PAID, now=NOW, age=9 * 86_400, number=OLD)
    (row,) = send("Where is 0x21ed…b43e?").rows
    assert "Possible match in the local copy" in visible_text(row)
    assert "Succeeded, created" in visible_text(row)
    assert f'href="/intent/{found}"' in row
    ledgers.pay(PAID, now=NOW, number=OLD + (1 << 32))
    (row,) = send("Where is 0x21ed…b43e?").rows
    assert "2 possible matches in the local copy" in visible_text(row)
    (row,) = send("Where is 0x21ed…b43f?").rows
    assert "Searched the intent IDs of the local copy. No match there." in visible_text(row)


@pytest.mark.usefixtures("ledger", "site")
def test_triage_does_not_speak_of_a_copy_that_it_did_not_search(monkeypatch: pytest.MonkeyPatch) -> None:
    ledgers.pay(PAID, now=NOW, number=OLD)
    for ticket, who in (("…5b43e", "public"), ("0x21ed…b43e", "staff")):
        monkeypatch.setattr(ENV, "intents_insight", who)
        (row,) = send(f"Where is {ticket}?").rows
        assert "local copy" not in visible_text(row)
        assert "No match" in visible_text(row)
