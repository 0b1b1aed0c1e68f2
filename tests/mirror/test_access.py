"""Who sees what is in the copy, and what all pages say without one or if it can't be read."""

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from pydantic import SecretStr

from intents_ui import probes
from intents_ui.api.models import Problem
from intents_ui.emulator.app import Emulator
from intents_ui.http import operator_auth
from intents_ui.http.client_ip import Role
from intents_ui.insight import access
from intents_ui.settings import ENV
from tests.mirror import past
from tests.mirror.conftest import card, read, text
from tests.mirror.past import NOW
from tests.mirror.test_database import corrupt, missing
from tests.pages.test_mcp import failure
from tests.signed_in import get, trust_proxy

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
        page = read(site, path, 404)
        assert ("Only staff can" in card(page, key)) is (who == "staff"), path
        assert paid not in page
    assert ('href="/insight"' in read(site, "/help")) is (who == "staff")
    monkeypatch.setattr(operator_auth, "remembered_until", lambda request: NOW)  # by the operator token
    assert site.get("/late").status_code == (200 if who == "staff" else 404)
    assert (paid in read(site, f"/address/{PAID}", 200 if who == "staff" else 404)) is (who == "staff")


# Roles

GROUPS: dict[Role, str | None] = {
    Role.ANYONE: None, Role.VIEWER: "sales", Role.SUPPORT: "support", Role.OPERATOR: "ops",
}  # fmt: skip
INSIGHT, CONSOLE = ("public", "staff", "off"), ("off", "read", "write")
FOR_ALL = ("/", "/history", "/attention", "/chains", "/help", "/operator")
READS, WRITES = ("/console", "/console/GetChains"), ("/console/QuoteIntent",)


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch, figures: None) -> None:
    trust_proxy(monkeypatch)


def needed(path: str, *, insight: str, console: str) -> Role | None:
    """Return the role from which a page is open, or None if it is closed for all."""
    if path in (*PAGES, *DATA, *API):
        return {"public": Role.ANYONE, "staff": Role.SUPPORT, "off": None}[insight]
    if path in WRITES:
        return Role.SUPPORT if console == "write" else None
    if path in READS:
        return None if console == "off" else Role.SUPPORT
    return Role.ANYONE


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize(("insight", "console"), [*itertools.product(INSIGHT, CONSOLE)])
def test_every_page_is_open_from_its_role_on(
    proxy: None, monkeypatch: pytest.MonkeyPatch, role: Role, insight: Any, console: Any
) -> None:
    monkeypatch.setattr(ENV, "intents_insight", insight)
    monkeypatch.setattr(ENV, "intents_console", console)
    for path in (*PAGES, *DATA, *API, *READS, *WRITES, *FOR_ALL):
        least = needed(path, insight=insight, console=console)
        expected = 404 if least is None else 200 if role >= least else 403
        if path in WRITES and console == "read" and role < Role.SUPPORT:
            expected = 403  # nor may it read in the console
        assert get(path, group=GROUPS[role]).status_code == expected, path


@pytest.mark.parametrize("role", Role)
def test_transfers_by_recipient_are_for_support(proxy: None, monkeypatch: pytest.MonkeyPatch, role: Role) -> None:
    monkeypatch.setattr(ENV, "intents_insight", "staff")
    paid = past.pay(PAID, now=NOW, number=OLD)
    page = get(f"/address/{PAID}", group=GROUPS[role]).text
    assert (paid in page) is (role >= Role.SUPPORT)
    assert ("Only staff can see" in page) is (role < Role.SUPPORT)


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("token", [None, SecretStr("a token of operators")])
def test_a_form_that_writes_says_who_may_send_it(
    proxy: None, emulator: Emulator, monkeypatch: pytest.MonkeyPatch, role: Role, token: SecretStr | None
) -> None:
    monkeypatch.setattr(ENV, "intents_console", "write")
    monkeypatch.setattr(ENV, "intents_console_token", token)
    page = get(f"/intent/{emulator.play('expired-quote')['intentId']}/commit", group=GROUPS[role]).text
    assert ("Signed in as ann." in page) is (role is Role.OPERATOR)
    assert ("Only operators can do this" in page) is (role < Role.OPERATOR and token is None)
    assert ('name="operator-token"' in page) is (role < Role.OPERATOR and token is not None)


def test_a_header_of_a_stranger_opens_nothing(proxy: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ENV, "intents_insight", "staff")
    assert get("/late", group="ops", peer="203.0.113.7").status_code == 403
    assert get("/late", group="ops").status_code == 200
