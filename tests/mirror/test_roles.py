"""What each role sees and may do, under each setting."""

import itertools
from typing import Any

import pytest
from pydantic import SecretStr

from intents_ui.emulator import Emulator
from intents_ui.http.client_ip import Role
from intents_ui.settings import ENV
from tests.mirror import past
from tests.mirror.past import NOW
from tests.mirror.test_access import API, DATA, OLD, PAGES, PAID
from tests.signed_in import get, trust_proxy

GROUPS: dict[Role, str | None] = {
    Role.ANYONE: None, Role.VIEWER: "sales", Role.SUPPORT: "support", Role.OPERATOR: "ops",
}  # fmt: skip
INSIGHT, CONSOLE = ("public", "staff", "off"), ("off", "read", "write")
FOR_ALL = ("/", "/history", "/attention", "/chains", "/help", "/operator")
READS, WRITES = ("/console", "/console/GetChains"), ("/console/QuoteIntent",)


@pytest.fixture(autouse=True)
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
    monkeypatch: pytest.MonkeyPatch, role: Role, insight: Any, console: Any
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
def test_transfers_by_recipient_are_for_support(monkeypatch: pytest.MonkeyPatch, role: Role) -> None:
    monkeypatch.setattr(ENV, "intents_insight", "staff")
    paid = past.pay(PAID, now=NOW, number=OLD)
    page = get(f"/address/{PAID}", group=GROUPS[role]).text
    assert (paid in page) is (role >= Role.SUPPORT)
    assert ("Only staff can see" in page) is (role < Role.SUPPORT)


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("token", [None, SecretStr("a token of operators")])
def test_a_form_that_writes_says_who_may_send_it(
    emulator: Emulator, monkeypatch: pytest.MonkeyPatch, role: Role, token: SecretStr | None
) -> None:
    monkeypatch.setattr(ENV, "intents_console", "write")
    monkeypatch.setattr(ENV, "intents_console_token", token)
    page = get(f"/intent/{emulator.play('expired-quote')['intentId']}/commit", group=GROUPS[role]).text
    assert ("Signed in as ann." in page) is (role is Role.OPERATOR)
    assert ("Only operators can do this" in page) is (role < Role.OPERATOR and token is None)
    assert ('name="operator-token"' in page) is (role < Role.OPERATOR and token is not None)


def test_a_header_of_a_stranger_opens_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ENV, "intents_insight", "staff")
    assert get("/late", group="ops", peer="203.0.113.7").status_code == 403
    assert get("/late", group="ops").status_code == 200


def test_the_operator_token_is_enough_to_read_where_nothing_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"intents_user_header": None, "intents_groups_header": None, "intents_console": "off"}.items():
        monkeypatch.setattr(ENV, name, value)
    monkeypatch.setattr(ENV, "intents_console_token", SecretStr("a token of operators"))
    assert "Operator token" in get("/operator").text
