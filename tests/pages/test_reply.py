"""Customer reply: the text of the page, and nothing else."""

import re
from html import unescape

import pytest
from django.test import Client

from intents_ui import settings
from intents_ui.display.sharing.customer_reply import to_the_owner
from intents_ui.display.summary.rules import SECOND_DEPOSIT
from intents_ui.display.transfers import assistance
from intents_ui.display.transfers.transfer_data import Facts
from intents_ui.emulator.app import Emulator
from intents_ui.emulator.scenario_engine import Scenario
from intents_ui.service.models import Intent, QuoteIntentRequest
from tests.pages.kinds import EVERY_SCENARIO
from tests.pages.reading import visible_text


def texts(site: Client, intent_id: str) -> dict[str, str]:
    """Return the reply and the escalation."""
    page = site.get(f"/intent/{intent_id}/reply", headers={"HX-Request-Type": "partial"}).content.decode()
    found = re.findall(r'<textarea[^>]*aria-label="([^"]+)"[^>]*>(.*?)</textarea>', page, re.DOTALL)
    return {name: unescape(text) for name, text in found}


def untimed(text: str) -> str:
    """Return the text without seconds and statistics, which a page loads later."""
    return re.sub(r"(?m):\d\d UTC|^Recent transfers.*\n", "", text)


TO_SELF, TO_ANOTHER = (
    Facts.of(
        Intent(intent_id="x", owner_address="0x01", quote_request=QuoteIntentRequest(destination_to_address=to)), None
    )
    for to in ("0x01", "0x02")
)


@pytest.mark.parametrize("scenario", EVERY_SCENARIO)
def test_the_reply_says_what_the_page_says(site: Client, emulator: Emulator, scenario: Scenario) -> None:
    intent_id = emulator.finished(scenario.slug)["intentId"]
    page = unescape(re.sub(r"</?time[^>]*>", "", site.get(f"/intent/{intent_id}").content.decode()))
    reply = texts(site, intent_id)["Reply"]
    told = site.get(f"/api/v1/transfers/{intent_id}").json()["summary"]
    for words in (told["headline"], told["location"], told["nextStep"]):
        assert words in page
        assert any(to_the_owner(words, facts) in reply for facts in (TO_SELF, TO_ANOTHER))
    assert (SECOND_DEPOSIT in reply) == told["warnSecondDeposit"]
    for each in re.findall(r"transaction \(.*\): (\S+)", reply):
        assert each in page
    for link in re.findall(r"(?m)^  (https\S+)$", reply):
        assert link in page
    assert re.search(rf"Status as of 2026-11-21 12:00:\d\d UTC: http://testserver/intent/{intent_id}\n$", reply)


@pytest.mark.parametrize("scenario", EVERY_SCENARIO)
def test_page_and_fragment_have_the_texts_to_copy_up_to_their_link(
    site: Client, emulator: Emulator, scenario: Scenario
) -> None:
    """So that copying them needs no request, which could fail, or take longer than the click that allows it."""
    intent_id = emulator.finished(scenario.slug)["intentId"]
    site.get(f"/intent/{intent_id}")  # checks the balances
    found = texts(site, intent_id)
    for path in (f"/intent/{intent_id}", f"/intent/{intent_id}/receipt?once"):
        page = site.get(path).content.decode()
        for name, text in (("reply", found["Reply"]), ("escalation", found["Escalation"])):
            [copied] = re.findall(rf'<data id="{name}-to-copy" value="([^"]*)"', page)
            assert untimed(f"{unescape(copied)}http://testserver/intent/{intent_id}\n") == untimed(text)


def test_a_receipt_that_failed_to_load_gives_no_reply(site: Client, emulator: Emulator) -> None:
    intent_id = emulator.finished(4)["intentId"]
    emulator.inject("GetIntentReceipt", "failing-500")
    assert site.get(f"/intent/{intent_id}/reply").status_code == 503
    assert "-to-copy" not in site.get(f"/intent/{intent_id}").content.decode()


def test_page_and_reply_link_the_operators_contacts(
    site: Client, emulator: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings.ENV, "intents_recovery_url", "https://app.example/recover?a=1&b=2")
    monkeypatch.setattr(settings.ENV, "intents_support_contact", "support@app.example")
    intent_id = emulator.finished(29)["intentId"]
    page = site.get(f"/intent/{intent_id}").content.decode()
    assert f'<a href="https://app.example/recover?a=1&amp;b=2" rel="noopener">{assistance.RECOVER}</a>' in page
    assert f'<a href="mailto:support@app.example" rel="noopener">{assistance.SUPPORT}</a>' in page
    reply = texts(site, intent_id)["Reply"]
    assert "https://app.example/recover?a=1&b=2" in reply
    assert "support@app.example" in reply


@pytest.mark.parametrize("copy", ["newest", "finished"])
@pytest.mark.parametrize("scenario", EVERY_SCENARIO)
def test_page_and_reply_warn_of_fake_support_where_they_offer_help(
    site: Client, emulator: Emulator, scenario: Scenario, copy: str
) -> None:
    intent_id = getattr(emulator, copy)(scenario.slug)["intentId"]
    page = site.get(f"/intent/{intent_id}").content.decode()
    [step] = re.findall(r"<h2>Next step</h2>(.*?)<div class=\"answer-money\">", page, re.DOTALL)
    offers = re.search(
        "contact|support|recover", visible_text(step).replace(assistance.SCAM_WARNING, ""), re.IGNORECASE
    )
    assert visible_text(page).count(assistance.SCAM_WARNING) == bool(offers)
    assert texts(site, intent_id)["Reply"].count(assistance.SCAM_WARNING) == bool(offers)


def test_page_and_reply_name_the_app_without_the_operators_contacts(site: Client, emulator: Emulator) -> None:
    intent_id = emulator.play(27, age=120)["intentId"]
    assert assistance.BOTH_IN_THE_APP in site.get(f"/intent/{intent_id}").content.decode()
    assert assistance.BOTH_IN_THE_APP in texts(site, intent_id)["Reply"]
