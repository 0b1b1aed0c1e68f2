"""Write access: levels, the operator token, remembered browsers, limits on wrong tokens, and confirmations."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from pydantic import SecretStr

from intents_ui import app, settings, startup
from intents_ui.http import limits, operator_auth
from intents_ui.http.operator_auth import read_confirmed, sign

TOKEN = "canary-token-of-the-operator"


@pytest.fixture(autouse=True)
def clock() -> Iterator[time_machine.Traveller]:
    app.use(startup.build())
    with time_machine.travel("2026-11-21T12:00:00Z", tick=False) as traveller:
        yield traveller


@pytest.fixture
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings.ENV, "intents_console", "write")
    monkeypatch.setattr(settings.ENV, "intents_console_token", SecretStr(TOKEN))


def form(address: str = "203.0.113.7", cookies: dict[str, str] | None = None, **fields: str) -> HttpRequest:
    names = {name.replace("_", "-"): value for name, value in fields.items()}
    request = RequestFactory().post("/console", names, REMOTE_ADDR=address)
    request.COOKIES.update(cookies or {})
    return request


def remembered(**fields: str) -> dict[str, str]:
    """Return the cookies of a browser whose form was accepted."""
    request, response = form(**fields), HttpResponse()
    assert operator_auth.refusal(request) is None
    operator_auth.remember(request, response)
    return {name: morsel.value for name, morsel in response.cookies.items()}


@pytest.mark.parametrize(
    ("console", "service", "level"),
    [
        pytest.param(None, None, "write", id="embedded"),
        pytest.param("read", None, "read", id="embedded, read"),
        pytest.param(None, "https://service.example", "off", id="a real service"),
        pytest.param("read", "https://service.example", "read", id="a real service, read"),
    ],
)
def test_writes_to_a_real_service_are_off_by_default(
    monkeypatch: pytest.MonkeyPatch, console: Any, service: Any, level: str
) -> None:
    monkeypatch.setattr(settings.ENV, "intents_console", console)
    monkeypatch.setattr(settings.ENV, "intents_service_url", service)
    assert settings.ENV.console == level
    assert operator_auth.may_write(form()) is (level == "write")
    assert (operator_auth.refusal(form()) is None) is (level == "write")


def guess(address: str, count: int) -> list[int]:
    """Send wrong tokens, and return the status of each."""
    refusals = (operator_auth.refusal(form(address, operator_token="wrong")) for _ in range(count))
    return [each.status for each in refusals if each]


@pytest.mark.usefixtures("token")
def test_tokens_count_as_many_pages_each_right_or_wrong(clock: time_machine.Traveller) -> None:
    most = limits.units("203.0.113.7") // limits.TOKEN
    assert guess("203.0.113.7", most + 1) == [403] * most + [429]
    refused = operator_auth.refusal(form(operator_token=TOKEN))
    assert refused is not None
    assert (refused.status, refused.wait) == (429, 1)
    assert "Try again in 1 second." in refused.sentence
    clock.shift(timedelta(seconds=1))
    assert operator_auth.refusal(form(operator_token=TOKEN)) is None


@pytest.mark.usefixtures("token")
def test_a_browser_is_remembered_for_half_an_hour_on_request(clock: time_machine.Traveller) -> None:
    assert remembered(operator_token=TOKEN) == {}
    cookies = remembered(operator_token=TOKEN, remember="on")
    assert TOKEN not in str(cookies)
    assert operator_auth.refusal(form(cookies=cookies)) is None
    assert operator_auth.TokenPrompt(form(cookies=cookies)).token is False
    clock.shift(timedelta(minutes=30))
    assert operator_auth.refusal(form(cookies=cookies)) == operator_auth.MISSING
    assert operator_auth.TokenPrompt(form(cookies=cookies)).token is True


@pytest.mark.usefixtures("token")
def test_a_remembered_token_expires_with_the_token_and_cannot_be_forged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cookies = remembered(operator_token=TOKEN, remember="on")
    value = cookies[operator_auth.COOKIE]
    for changed in (value[:-1], "x" + value, "", "a:b", signing.TimestampSigner().sign("9999999999")):
        assert operator_auth.may_write(form(cookies={operator_auth.COOKIE: changed})) is False
    monkeypatch.setattr(settings.ENV, "intents_console_token", SecretStr("another-token-of-the-operator"))
    assert operator_auth.may_write(form(cookies=cookies)) is False


def test_without_a_token_there_is_no_token_page() -> None:
    assert Client().get("/operator").status_code == 404


@pytest.mark.usefixtures("token")
def test_the_operator_signs_in_and_out_without_a_write_operation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings.ENV, "intents_console", "off")
    browser = Client()
    page = browser.get("/operator")
    assert "This browser is not signed in." in page.content.decode()
    assert page["Cache-Control"] == "no-store"
    wrong = browser.post("/operator", {"operator-token": "wrong"})
    assert (wrong.status_code, operator_auth.COOKIE in wrong.cookies) == (403, False)
    assert operator_auth.WRONG.sentence in wrong.content.decode()
    assert '<input type="hidden" name="remember" value="on">' in wrong.content.decode()
    assert browser.post("/operator", {"operator-token": TOKEN, "remember": "on"}).status_code == 302
    page = browser.get("/operator")
    assert "signed in as operator until" in page.content.decode()
    assert ">12:30 UTC</time>" in page.content.decode()
    assert browser.post("/operator").headers["Location"] == "/operator"
    assert "This browser is not signed in." in browser.get("/operator").content.decode()


@pytest.mark.usefixtures("token")
def test_wrong_tokens_at_the_token_page_are_limited() -> None:
    assert 429 not in guess("127.0.0.1", 110)
    statuses = [Client().post("/operator", {"operator-token": "wrong"}).status_code for _ in range(11)]
    assert statuses == [403] * 10 + [429], "also from this machine"


LONG = "x" * 10_000


@pytest.mark.parametrize(("minutes", "holds"), [(59, True), (61, False)])
def test_a_confirmation_holds_for_an_hour(minutes: int, holds: bool) -> None:
    signed = sign("shown", "0x1", "one")
    with time_machine.travel(datetime.now(UTC) + timedelta(minutes=minutes)):
        assert bool(read_confirmed(signed, "0x1", "one", max_age=3600)) is holds


def test_the_end_of_a_long_text_is_confirmed_too() -> None:
    confirmed = read_confirmed(sign(LONG, "CommitIntent"), "CommitIntent")
    assert confirmed
    assert confirmed.is_of(LONG)
    assert not confirmed.is_of(f"{LONG[:-1]}y")
