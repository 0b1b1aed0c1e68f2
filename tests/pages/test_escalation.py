"""The escalation of a transfer: every fact that the service or a route provider asks for, as text and as a link."""

import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from intents_ui import app, startup
from intents_ui.emulator.app import Emulator
from intents_ui.emulator.scenario_engine import Scenario
from intents_ui.service import operations
from intents_ui.service.operations import HOUR, Kind
from intents_ui.settings import ENV
from tests.pages.kinds import EVERY_SCENARIO
from tests.policies import policies

NAME = "INTENTS_ESCALATION_TO"


def page_of(site: Client, intent_id: str) -> str:
    return unescape(site.get(f"/intent/{intent_id}/reply").content.decode())


def escalation(page: str) -> str:
    found = re.search(r'aria-label="Escalation" spellcheck="false">(.*?)</textarea>', page, re.DOTALL)
    assert found
    return found[1]


def test_it_has_the_facts_of_the_page(site: Client, emulator: Emulator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operations, "POLICIES", policies(Kind.HISTORY, fresh=HOUR, renewed=HOUR, old=HOUR))
    app.use(startup.build(emulator=emulator))
    played = emulator.finished(11)
    site.get(f"/intent/{played['intentId']}/route-stats")
    text = escalation(page_of(site, played["intentId"]))
    for fact in (played["intentId"], played["ownerAddress"], *played["quote"]["routeProvidersRequestIds"]):
        assert str(fact).lower() in text.lower()
    assert "Failed step: Destination. Not delivered on Polygon." in text
    assert "precondition not met" in text
    assert "Both intent addresses are empty." in text or "so the funds have moved on." in text
    assert "Recent transfers on this route: " in text
    assert len(re.findall("^(?:Deposit|Origin) transaction", text, re.MULTILINE)) == 2


FINE = (
    "cross-chain-fast",
    "expired-quote",
    "refunded-on-origin",
    "hostile-memo",
    "succeeded-with-nulls",
    "edge-and-extra-fields",
)


@pytest.mark.parametrize("scenario", EVERY_SCENARIO)
def test_every_scenario_has_one(site: Client, emulator: Emulator, scenario: Scenario) -> None:
    intent_id = emulator.finished(scenario.slug)["intentId"]
    page, text = site.get(f"/intent/{intent_id}"), escalation(page_of(site, intent_id))
    headline = re.search(r"<h1>.*?>([^<]+)<.*?</h1>", page.content.decode(), re.DOTALL)
    assert headline
    found = re.search(rf"^(Summary|Problem): {re.escape(unescape(headline[1]))}$", text, re.MULTILINE)
    assert found
    assert (found[1] == "Summary") == (scenario.slug in FINE)
    assert ": None" not in text


def test_without_the_setting_it_can_only_be_copied(site: Client, emulator: Emulator) -> None:
    page = page_of(site, emulator.finished(11)["intentId"])
    assert "Send escalation" not in page
    assert "Copy escalation" in page


@pytest.mark.parametrize(
    ("to", "subject", "body"),
    [
        ("desk@bridge.example", "subject", "body"),
        ("https://desk.example/new?title={subject}&text={text}&id={intentId}", "title", "text"),
    ],
)
def test_its_link_has_the_text(
    site: Client, emulator: Emulator, monkeypatch: pytest.MonkeyPatch, to: str, subject: str, body: str
) -> None:
    monkeypatch.setattr(ENV, NAME.lower(), to)
    played = emulator.finished(11)
    page = page_of(site, played["intentId"])
    found = re.search(r'href="([^"]+)"[^>]*>Send escalation', page)
    assert found
    link = urlsplit(found[1])
    assert link.scheme == ("https" if to.startswith("https") else "mailto")
    query = parse_qs(link.query)
    assert query[subject][0].startswith("Funds likely refunded: transfer 0x")
    assert query[body][0][:1000] == escalation(page)[:1000]
    assert len(found[1]) < 8000
