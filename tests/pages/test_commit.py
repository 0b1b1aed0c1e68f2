"""Committing a quote: offered, confirmed, sent once and unchanged, with the result of every outcome."""

import copy
import json
import re
from collections.abc import Callable
from contextlib import nullcontext
from datetime import UTC, datetime

import pytest
import time_machine
from django.middleware.csrf import CsrfViewMiddleware
from django.test import Client, override_settings
from pydantic import SecretStr

from intents_ui import app, settings, startup
from intents_ui.console import commit
from intents_ui.emulator.app import Emulator
from intents_ui.emulator.errors import Ask
from intents_ui.live.snapshot import Snapshot
from intents_ui.service import operations
from intents_ui.service.operations import Kind
from intents_ui.transfers.rules import MESSAGES
from intents_ui.web import intent as intent_page
from tests.pages.cases import cases
from tests.pages.conftest import renew
from tests.policies import policies
from tests.serving import free_port

OFFER = ">Accept</a>"
TOKEN = "canary-token-of-the-operator"
AS_A_BROWSER = {"Origin": "https://intents.example", "Sec-Fetch-Site": "same-origin"}


@pytest.fixture
def quoted(emulator: Emulator) -> str:
    return str(emulator.play("expired-quote")["intentId"])


@pytest.fixture
def browser(emulator: Emulator) -> Client:
    """Client that enforces CSRF checks, as for a real browser."""
    return Client(enforce_csrf_checks=True)


class Recorder(list[str]):
    """Recorded operations. `before`: called just before the next commit reaches the service."""

    before: Callable[[], object] | None = None

    @property
    def commits(self) -> int:
        return self.count("CommitIntent")


@pytest.fixture
def recorder(emulator: Emulator, monkeypatch: pytest.MonkeyPatch) -> Recorder:
    record, real = Recorder(), emulator.faults.for_request

    def for_request(operation: str) -> frozenset[str]:
        record.append(operation)
        on = real(operation)
        if operation == "CommitIntent" and record.before:
            record.before()
        return on

    monkeypatch.setattr(emulator.faults, "for_request", for_request)
    return record


def text(html: str) -> str:
    main = html[html.index("<main") :]
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", main)).replace("&#39;", "'").replace(" ,", ",")


def fields(html: str) -> dict[str, str]:
    return dict(re.findall(r'<input type="hidden" name="([\w-]+)" value="([^"]*)">', html))


def form(browser: Client, intent_id: str) -> dict[str, str]:
    return fields(browser.get(f"/intent/{intent_id}/commit").content.decode())


def send(browser: Client, intent_id: str, **more: str) -> tuple[int, str]:
    """Open the confirmation and confirm it."""
    answer = browser.post(f"/intent/{intent_id}/commit", form(browser, intent_id) | more)
    return answer.status_code, text(answer.content.decode())


def page(site: Client, path: str) -> str:
    return str(site.get(path).content.decode())


@pytest.mark.parametrize("case", cases("commit"))
def test_a_confirmation_is_sent_once_or_not_at_all(browser, emulator, quoted, recorder, case):
    path, whole = f"/intent/{quoted}/commit", form(browser, quoted)
    for step in case:
        if step.get("reset"):
            emulator.reset()
        for operation, fault in step.get("faults", {}).items():
            emulator.inject(operation, fault)
        if step.get("reopen"):
            whole = form(browser, quoted)
        sent = {name: value for name, value in (whole | step.get("changed", {})).items() if value}
        with time_machine.travel(step["at"]) if "at" in step else nullcontext():
            answer = browser.post(path, sent, headers=step.get("headers", {}))
        result = text(answer.content.decode())
        assert (answer.status_code, recorder.commits) == (step["status"], step["commits"])
        assert [words for words in step.get("says", ()) if words not in result] == []
        assert [words for words in step.get("lacks", ()) if words in result] == []


def test_only_a_valid_quote_can_be_committed(site, emulator, quoted):
    assert OFFER in page(site, f"/intent/{quoted}")
    for slug in ("committed-not-executed", "cross-chain-fast", "same-chain-swap", "refunded-on-origin"):
        moved = emulator.play(slug, age=25)["intentId"]
        assert OFFER not in page(site, f"/intent/{moved}"), slug
    emulator.inject("GetIntentReceipt", "failing-500")
    assert OFFER not in page(site, f"/intent/{quoted}")
    emulator.reset()
    with time_machine.travel("2026-11-21T12:05:01Z"):
        assert OFFER not in page(site, f"/intent/{quoted}")
        assert "Quote expired" in text(page(site, f"/intent/{quoted}/commit"))


@pytest.mark.parametrize("console", ["off", "read"])
def test_a_read_only_dashboard_shows_no_commit_card(site, quoted, recorder, monkeypatch, console):
    whole = form(site, quoted)
    monkeypatch.setattr(settings.ENV, "intents_console", console)
    assert OFFER not in page(site, f"/intent/{quoted}")
    recorder.clear()
    assert site.get(f"/intent/{quoted}/commit").status_code == 404
    assert site.post(f"/intent/{quoted}/commit", whole).status_code == 404
    assert recorder == []


def test_live_updates_keep_the_commit_card_while_the_quote_is_valid(site, quoted):
    def live() -> str:
        receipt = app.current().service.ask(operations.get_intent_receipt(quoted))
        return intent_page.receipt_fragment(Snapshot(quoted, receipt, learned_at=datetime.now(UTC)))

    assert OFFER in page(site, f"/intent/{quoted}/receipt")
    assert OFFER in live()
    app.current().service.ask(operations.commit_intent(app.current().service.ask(operations.get_intent(quoted))))
    assert OFFER not in page(site, f"/intent/{quoted}/receipt")
    assert OFFER not in live()


def test_the_confirmation_says_what_is_sent_until_when_and_what_follows(site, quoted, recorder):
    result = text(page(site, f"/intent/{quoted}/commit"))
    assert "40.00 USDC on Base for 39.9156 USDC on Optimism, as quoted." in result
    assert re.search(r"Quote valid until 12:04:59 UTC \( ?4 min 5\d s ?\)", result)
    assert "The intent is submitted once, unchanged." in result
    assert re.search(r"If you accept now, the transfer can be started until 12:04:59 UTC \( ?4 min 5\d s ?\)", result)
    assert "operator's token" not in result
    assert recorder.commits == 0


def test_a_confirmed_intent_is_committed_with_one_call(browser, quoted, recorder):
    status, result = send(browser, quoted)
    assert status == 200
    assert "Quote accepted The service accepted the quote unchanged." in result
    assert re.search(r"Can be started until 12:04:59 UTC \( ?4 min 5\d s ?\)", result)
    assert recorder.commits == 1
    assert MESSAGES["committed.open"].headline in page(browser, f"/intent/{quoted}")


def test_without_the_shared_cache_a_process_sends_a_form_once(browser, quoted, recorder):
    away = settings.SHARED_CACHE | {"LOCATION": f"redis://127.0.0.1:{free_port()}/0"}
    whole, path = form(browser, quoted), f"/intent/{quoted}/commit"
    with override_settings(CACHES={"default": away, "own": settings.OWN_CACHE}):
        assert browser.post(path, whole).status_code == 200
        assert [commit.is_first(quoted, "a-form") for _ in range(2)] == [True, False]
    assert recorder.commits == 1
    renew("redis_guard")


def test_a_slow_service_is_not_called_twice(browser, emulator, quoted, recorder, monkeypatch):
    monkeypatch.setattr(operations, "POLICIES", policies(Kind.WRITE, total=0.6))
    app.use(startup.build(emulator=emulator))
    emulator.inject("CommitIntent", "slow-1")
    status, result = send(browser, quoted)
    assert status == 503
    assert "Outcome unknown" in result
    assert recorder.commits == 1


def test_an_intent_committed_elsewhere_meanwhile_is_shown_with_its_status(browser, emulator, quoted, recorder):
    def by_another_client() -> None:
        document = emulator._operations["GetIntent"](Ask({"intentId": quoted}, emulator._micros(), frozenset()))
        emulator._operations["CommitIntent"](Ask(document, emulator._micros(), frozenset()))

    recorder.before = by_another_client
    status, result = send(browser, quoted)
    assert status == 409
    assert "Status has changed" in result
    assert "Current status: Accepted. The request changed nothing." in result
    assert recorder.commits == 1


def test_an_intent_that_has_progressed_is_not_sent(browser, emulator, recorder):
    moved = emulator.play("cross-chain-fast", age=25)["intentId"]
    answer = browser.get(f"/intent/{moved}/commit")
    assert answer.status_code == 409
    assert "Current status: In progress. Nothing was sent." in text(answer.content.decode())
    assert "<form" not in answer.content.decode().split("<main")[1]


def test_with_a_token_only_the_operator_commits(browser, quoted, recorder, monkeypatch):
    monkeypatch.setattr(settings.ENV, "intents_console_token", SecretStr(TOKEN))
    assert "Operator token" in text(page(browser, f"/intent/{quoted}/commit"))
    assert send(browser, quoted)[0] == 403
    for wrong in ("wrong", TOKEN[:-1], f"{TOKEN}x", TOKEN.upper(), "é"):
        status, result = send(browser, quoted, **{"operator-token": wrong})
        assert status == 403
        assert "Wrong operator token. Nothing was sent to the service." in result
    assert recorder.commits == 0
    answer = browser.post(
        f"/intent/{quoted}/commit", form(browser, quoted) | {"operator-token": TOKEN, "remember": "on"}
    )
    assert answer.status_code == 200
    assert TOKEN not in answer.content.decode()
    assert recorder.commits == 1
    assert answer.cookies["operator"]["samesite"] == "Strict"


def test_a_signed_in_operator_commits_without_the_token_and_can_sign_out(browser, emulator, quoted, monkeypatch):
    monkeypatch.setattr(settings.ENV, "intents_console_token", SecretStr(TOKEN))
    assert send(browser, quoted, **{"operator-token": TOKEN, "remember": "on"})[0] == 200
    another = str(emulator.play("expired-quote")["intentId"])
    result = text(page(browser, f"/intent/{another}/commit"))
    assert "Signed in as operator until 12:30 UTC" in result
    browser.post("/operator", fields(page(browser, "/operator")))
    assert "Operator token Ask your administrator" in text(page(browser, f"/intent/{another}/commit"))


def test_the_operator_commits_behind_a_tls_proxy(browser, quoted, recorder, monkeypatch):
    """Behind a proxy that terminates TLS without saying so, only the browser's headers show the scheme."""
    monkeypatch.setattr(settings.ENV, "intents_console_token", SecretStr(TOKEN))
    # Django remembers CSRF_TRUSTED_ORIGINS from the first form that it checks.
    monkeypatch.setattr(CsrfViewMiddleware, "allowed_origins_exact", property(lambda _: {AS_A_BROWSER["Origin"]}))
    whole = form(browser, quoted) | {"operator-token": TOKEN, "remember": "on"}
    answer = browser.post(f"/intent/{quoted}/commit", whole, headers=AS_A_BROWSER)
    assert (answer.status_code, recorder.commits) == (200, 1)
    assert answer.cookies
    assert all(cookie["secure"] for cookie in answer.cookies.values())


RECIPIENT = "0x" + "22" * 20


def test_an_intent_that_changed_after_its_confirmation_is_not_sent_and_both_versions_are_shown(
    browser, emulator, quoted, recorder, monkeypatch
):
    real = emulator._operations["GetIntent"]

    def changed(ask: Ask) -> dict[str, object]:
        document = copy.deepcopy(real(ask))
        document["intent"]["quoteRequest"]["destinationToAddress"] = RECIPIENT
        return document

    whole, path = form(browser, quoted), f"/intent/{quoted}/commit"
    confirmed = app.current().service.ask(operations.get_intent(quoted)).raw
    monkeypatch.setitem(emulator._operations, "GetIntent", changed)
    answer = browser.post(path, whole)
    result = text(answer.content.decode())
    assert answer.status_code == 409
    assert recorder.commits == 0
    assert "The service changed this transfer after you opened this page, so nothing was sent." in result
    assert RECIPIENT in result
    assert json.loads(confirmed)["quoteRequest"]["destinationToAddress"] in result
    assert "quoteRequest.destinationToAddress" in result
    # The version shown now can be confirmed, and is the one sent.
    assert browser.post(path, fields(answer.content.decode())).status_code in (200, 400)
    assert recorder.commits == 1


@pytest.mark.parametrize("spoil", [lambda seen: seen[:-1] + "!", lambda seen: seen[1:]])
def test_a_confirmation_with_an_invalid_signature_sends_nothing(browser, quoted, recorder, spoil):
    whole = form(browser, quoted)
    answer = browser.post(f"/intent/{quoted}/commit", whole | {"seen": spoil(whole["seen"])})
    assert (answer.status_code, recorder.commits) == (400, 0)
    assert "The form was incomplete" in text(answer.content.decode())


def test_the_confirmation_of_one_intent_sends_no_other(browser, emulator, quoted, recorder):
    another = str(emulator.play("expired-quote")["intentId"])
    whole = form(browser, quoted)
    assert browser.post(f"/intent/{another}/commit", whole).status_code == 400
    assert recorder.commits == 0
