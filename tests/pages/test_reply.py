"""Customer reply, and the escalation with what the service or a route provider asks for, with the facts of the page."""

import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from intents_ui import app, settings, startup
from intents_ui.service import operations
from intents_ui.service.operations import HOUR, Kind
from intents_ui.settings import ENV
from intents_ui.transfers import rules
from intents_ui.transfers.rules import SECOND_DEPOSIT
from intents_ui.web import customer_reply, reading
from tests.pages.kinds import EVERY_SCENARIO
from tests.pages.reading import visible_text
from tests.policies import policies


def texts(site: Client, intent_id: str) -> dict[str, str]:
    """Return the reply and the escalation."""
    page = site.get(f"/intent/{intent_id}/reply", headers={"HX-Request-Type": "partial"}).content.decode()
    found = re.findall(r'<textarea[^>]*aria-label="([^"]+)"[^>]*>(.*?)</textarea>', page, re.DOTALL)
    return {name: unescape(text) for name, text in found}


def untimed(text: str) -> str:
    """Return the text without seconds and statistics, which a page loads later."""
    return re.sub(r"(?m):\d\d UTC|^Recent transfers.*\n", "", text)


FINE = (
    "cross-chain-fast",
    "expired-quote",
    "refunded-on-origin",
    "hostile-memo",
    "succeeded-with-nulls",
    "edge-and-extra-fields",
)


@pytest.mark.parametrize("copy", ["newest", "worst", "finished"])
@pytest.mark.parametrize("scenario", EVERY_SCENARIO)
def test_reply_and_escalation_have_the_facts_and_warnings_of_the_page(site, emulator, scenario, copy):
    intent_id = getattr(emulator, copy)(scenario.slug)["intentId"]
    path = f"/intent/{intent_id}"
    site.get(path)  # checks the balances
    page, part = (site.get(each).content.decode() for each in (path, f"{path}/receipt?once"))
    told = site.get(f"/api/v1/transfers/{intent_id}").json()["summary"]
    found = texts(site, intent_id)
    reply, escalation = found["Reply"], found["Escalation"]
    assert reply.startswith(customer_reply.body(reading.read(intent_id)))
    assert f"\n\nIntent ID: {intent_id}\n" in reply
    assert re.search(rf"Status as of 2026-11-21 12:00:\d\d UTC: http://testserver{path}\n$", reply)
    shown = unescape(re.sub(r"</?time[^>]*>", "", page))
    assert [each for each in re.findall(r"(?m)^\w+ transaction: (\S+)$", reply) if each not in shown] == []
    # The texts to copy are there: a request for them could fail, or take longer than the click that allows it.
    for markup in (page, part):
        for name, text in (("reply", reply), ("escalation", escalation)):
            [copied] = re.findall(rf'<textarea[^>]* id="{name}-plain"[^>]*>(.*?)</textarea>', markup, re.DOTALL)
            assert untimed(unescape(copied)) == untimed(text)
    assert (SECOND_DEPOSIT in page) == (SECOND_DEPOSIT in reply) == told["warnSecondDeposit"]
    # Where they offer help, page and reply warn of fake support.
    [step] = re.findall(r"<h2>Next step</h2>(.*?)<div class=\"answer-money\">", page, re.DOTALL)
    offers = re.search("contact|support|recover", visible_text(step).replace(rules.SCAM_WARNING, ""), re.IGNORECASE)
    assert visible_text(page).count(rules.SCAM_WARNING) == bool(offers)
    assert reply.count(customer_reply.SCAM_WARNING) == bool(offers)
    headline = re.search(r"<h1>.*?>([^<]+)<.*?</h1>", page, re.DOTALL)
    assert headline
    kind = re.search(rf"^(Summary|Problem): {re.escape(unescape(headline[1]))}$", escalation, re.MULTILINE)
    assert kind
    assert copy != "finished" or (kind[1] == "Summary") == (scenario.slug in FINE)
    assert ": None" not in escalation


def test_a_reply_has_the_operators_greeting_and_signature(site, emulator, monkeypatch):
    monkeypatch.setattr(settings.ENV, "intents_reply_greeting", "Bonjour,")
    monkeypatch.setattr(settings.ENV, "intents_reply_signature", "L'équipe <b>\n+33 1 23 45")
    intent_id = emulator.finished(8)["intentId"]
    reply = texts(site, intent_id)["Reply"]
    assert reply.startswith("Bonjour,\n\nYour transfer of ")
    assert "\n\nL'équipe <b>\n+33 1 23 45\n\nIntent ID: " in reply
    assert site.get(f"/api/v1/reply/{intent_id}").json()["plain"].startswith("Bonjour,\n\n")


NAME = "INTENTS_ESCALATION_TO"


def test_it_has_the_facts_of_the_page(site, emulator, monkeypatch):
    monkeypatch.setattr(operations, "POLICIES", policies(Kind.HISTORY, fresh=HOUR, renewed=HOUR, old=HOUR))
    app.use(startup.build(emulator=emulator))
    played = emulator.finished(11)
    site.get(f"/intent/{played['intentId']}/route-stats")
    text = texts(site, played["intentId"])["Escalation"]
    for fact in (played["intentId"], played["ownerAddress"], *played["quote"]["routeProvidersRequestIds"]):
        assert str(fact).lower() in text.lower()
    assert "Failed step: Destination. Not delivered on Polygon." in text
    assert "precondition not met" in text
    assert "Both intent addresses are empty." in text or "so the funds have moved on." in text
    assert "Recent transfers on this route: " in text
    assert len(re.findall("^(?:Deposit|Origin) transaction", text, re.MULTILINE)) == 2


@pytest.mark.parametrize(
    ("to", "subject", "body"),
    [
        ("desk@bridge.example", "subject", "body"),
        ("https://desk.example/new?title={subject}&text={text}&id={intentId}", "title", "text"),
    ],
)
def test_its_link_has_the_text(site, emulator, monkeypatch, to, subject, body):
    monkeypatch.setattr(ENV, NAME.lower(), to)
    intent_id = emulator.finished(11)["intentId"]
    page = unescape(site.get(f"/intent/{intent_id}/reply").content.decode())
    found = re.search(r'href="([^"]+)"[^>]*>Send escalation', page)
    assert found
    link = urlsplit(found[1])
    assert link.scheme == ("https" if to.startswith("https") else "mailto")
    query = parse_qs(link.query)
    assert query[subject][0].startswith("Funds likely refunded: transfer 0x")
    assert query[body][0][:1000] == texts(site, intent_id)["Escalation"][:1000]
    assert len(found[1]) < 8000
