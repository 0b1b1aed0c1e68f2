"""Who sees what is in the copy, and what all pages say without one or if it can't be read."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client

from intents_ui import probes
from intents_ui.api.models import Problem
from intents_ui.emulator.app import Emulator
from intents_ui.http import operator_auth
from intents_ui.insight import access
from intents_ui.settings import ENV
from tests.mirror import past
from tests.mirror.conftest import card, counted, links, read, text
from tests.mirror.past import NOW
from tests.mirror.test_readonly import corrupt, missing
from tests.pages.test_mcp import failure

RELAY = "/insight/route/RELAY/8453/42161"
TOKEN = f"/insight/token/8453/{'0x' + '11' * 20}"
FIGURES = ("/insight", RELAY, "/insight/provider/RELAY", "/insight/chain/8453", TOKEN)
PAGES = (*FIGURES, "/insight/transfers", "/insight/incidents", "/insight/incident/1", "/late")
DATA = ("/insight.json", "/insight/incident/1.json", "/insight/incidents/feed.atom", "/late.csv")
API = ("/api/v1/insight", f"/api/v1{RELAY.replace('route', 'routes')}", "/api/v1/incidents", "/api/v1/incidents/1")
COVERAGE = "/insight/coverage"
PAID = "0x" + "0d" * 20
SHORT = "/search?q=0x21ed%E2%80%A6b43e"
OLD = int("21ed" + "5" * 56 + "b43e", 16)  # the number of its transfer
CARDS = {
    SHORT: "candidates",
    f"/search?q={PAID}": "recipient",
    f"/address/{PAID}": "recipient",
}  # pages without a result
ROUTE = {"origin": "base", "destination": "42161"}


@pytest.mark.usefixtures("still")
def test_without_a_mirror_pages_of_one_say_how_to_turn_it_on_and_no_other_speaks_of_it(
    site: Client, emulator: Emulator
) -> None:
    for path in (*PAGES, COVERAGE):
        page = text(read(site, path, 404))
        assert "local copy of the service's history" in page, path
        assert "INTENTS_DATABASE" in page, path
    for path, status in {"/status": 200, **dict.fromkeys(CARDS, 404)}.items():
        is_searched = path == SHORT  # which says what would find it
        assert ("local copy" in read(site, path, status).lower()) is is_searched, path
    assert "Received from others" not in read(site, f"/address/{emulator.finished(3)['ownerAddress']}")
    assert COVERAGE not in read(site, "/help")
    assert b"mirror" not in probes.metrics_text()


@pytest.mark.usefixtures("figures")
@pytest.mark.parametrize("spoil", [corrupt, missing])
def test_a_copy_that_cannot_be_read_is_no_empty_one(
    site: Client, emulator: Emulator, mirrored_file: Path, spoil: Callable[[Path], None]
) -> None:
    owner = f"/address/{emulator.finished(3)['ownerAddress']}"
    spoil(mirrored_file)
    for path in (*PAGES, COVERAGE):
        page = text(read(site, path, 503))
        assert "The local copy can't be read" in page, path
        assert "Nothing read yet" not in page
        assert "Holes" not in page
    for path, key in {**CARDS, owner: "recipient"}.items():
        page = read(site, path, 200 if path == owner else 404)
        assert "The local copy can't be read" in card(page, key), path
        assert "No one else has paid" not in page
    for path in ("/insight.json", "/insight/incident/1.json"):
        assert json.loads(read(site, path, 503))["error"] == access.UNREADABLE.title
    for path in API:
        assert json.loads(read(site, path, 503))["retryAfter"]
    assert "can't be read" in failure(site, "route_health", **ROUTE)
    assert b"intents_ui_mirror" not in probes.metrics_text()
    for path in ("/", f"/intent/{emulator.play('refunded-on-origin', age=600)['intentId']}"):
        read(site, path)


@pytest.mark.usefixtures("figures")
@pytest.mark.parametrize(
    ("who", "status", "says"), [("off", 404, "shows no figures"), ("staff", 403, "Only staff")], ids=["off", "staff"]
)
def test_the_setting_closes_all_pages(
    site: Client, monkeypatch: pytest.MonkeyPatch, who: str, status: int, says: str
) -> None:
    monkeypatch.setattr(ENV, "intents_insight", who)
    paid = past.pay(PAID, now=NOW, number=OLD)
    for path in (*PAGES, *DATA, *API):
        answer = site.get(path)
        assert answer.status_code == status, path
        assert "slippage" not in answer.content.decode()
        assert "no-store" in answer["Cache-Control"]
        if path in API:
            Problem.model_validate(answer.json())
    assert says in failure(site, "route_health", **ROUTE)
    for path, key in CARDS.items():
        with counted() as queries:
            page = read(site, path, 404)
        assert ("Only staff can" in card(page, key)) is (who == "staff"), path
        assert paid not in page
        assert not [each for each in queries if "mirror_transfer" in each], path
    assert ('href="/insight"' in read(site, "/help")) is (who == "staff")
    monkeypatch.setattr(operator_auth, "remembered_until", lambda request: NOW)
    assert site.get("/late").status_code == (200 if who == "staff" else 404)
    assert links(read(site, f"/address/{PAID}", 200 if who == "staff" else 404)) == [paid] * (who == "staff")
