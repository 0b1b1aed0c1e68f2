"""Committing a quote: offered, confirmed, sent once and unchanged, with the result of every outcome."""

import copy
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
import time_machine
from django.middleware.csrf import CsrfViewMiddleware
from django.test import Client, override_settings
from pydantic import SecretStr

from intents_ui import app, settings, startup
from intents_ui.console import commit
from intents_ui.emulator.app import Emulator
from intents_ui.emulator.lookups import Ask
from intents_ui.live.snapshot import Snapshot
from intents_ui.service import operations
from intents_ui.service.operations import Kind
from intents_ui.transfers.rules import MESSAGES
from intents_ui.web import intent as intent_page
from tests.pages.conftest import renew
from tests.policies import policies
from tests.serving import free_port

OFFER = ">Accept</a>"
TOKEN = "canary-token-of-the-operator"
AS_A_BROWSER = {"Origin": "https://intents.example", "Sec-Fetch-Site": "same-origin"}
OWNER = "0x" + "11" * 20
QUOTE = {
    "ownerAddress": OWNER,
    "originChainId": 8453,
    "originTokenAddress": "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
    "originTokenAmount": "300000000",
    "destinationChainId": 42161,
    "destinationTokenAddress": "0xaf88d065e77c8cc2239327c5edb3a432268e5831",
    "destinationToAddress": OWNER,
    "tradeType": "EXACT_INPUT",
}


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


def test_only_a_valid_quote_can_be_committed(site: Client, emulator: Emulator, quoted: str) -> None:
    assert OFFER in page(site, f"/intent/{quoted}")
    for slug in ("committed-not-executed", "cross-chain-fast", "same-chain-swap", "refunded-on-origin"):
        moved = emulator.play(slug, age=25)["intentId"]
        assert OFFER not in page(site, f"/intent/{moved}"), slug
    emulator.inject("GetIntentReceipt", "failing-500")
    assert OFFER not in page(site, f"/intent/{quoted}")
    emulator.reset()
    with time_machine.travel("2026-11-21T12:05:01Z"):
        assert OFFER not in page(site, f"/intent/{quoted}")


@pytest.mark.parametrize("console", ["off", "read"])
def test_a_read_only_dashboard_shows_no_commit_card(
    site: Client, quoted: str, recorder: Recorder, monkeypatch: pytest.MonkeyPatch, console: str
) -> None:
    whole = form(site, quoted)
    monkeypatch.setattr(settings.ENV, "intents_console", console)
    assert OFFER not in page(site, f"/intent/{quoted}")
    recorder.clear()
    assert site.get(f"/intent/{quoted}/commit").status_code == 404
    assert site.post(f"/intent/{quoted}/commit", whole).status_code == 404
    assert recorder == []


def test_live_updates_keep_the_commit_card_while_the_quote_is_valid(site: Client, quoted: str) -> None:
    def live() -> str:
        receipt = app.current().service.ask(operations.get_intent_receipt(quoted))
        return intent_page.receipt_fragment(Snapshot(quoted, receipt, learned_at=datetime.now(UTC)))

    assert OFFER in page(site, f"/intent/{quoted}/receipt")
    assert OFFER in live()
    app.current().service.ask(operations.commit_intent(app.current().service.ask(operations.get_intent(quoted))))
    assert OFFER not in page(site, f"/intent/{quoted}/receipt")
    assert OFFER not in live()


def test_the_confirmation_says_what_is_sent_until_when_and_what_follows(
    site: Client, quoted: str, recorder: Recorder
) -> None:
    result = text(page(site, f"/intent/{quoted}/commit"))
    assert "40.00 USDC on Base for 39.9156 USDC on Optimism, as quoted." in result
    assert re.search(r"Quote valid until 12:04:59 UTC \( ?4 min 5\d s ?\)", result)
    assert "The intent is submitted once, unchanged." in result
    assert re.search(r"If you accept now, the transfer can be started until 12:04:59 UTC \( ?4 min 5\d s ?\)", result)
    assert "operator's token" not in result
    assert recorder.commits == 0


def test_a_confirmed_intent_is_committed_with_one_call(browser: Client, quoted: str, recorder: Recorder) -> None:
    status, result = send(browser, quoted)
    assert status == 200
    assert "Quote accepted The service accepted the quote unchanged." in result
    assert re.search(r"Can be started until 12:04:59 UTC \( ?4 min 5\d s ?\)", result)
    assert recorder.commits == 1
    assert MESSAGES["committed.open"].headline in page(browser, f"/intent/{quoted}")


def test_a_second_click_or_a_reload_sends_nothing(browser: Client, quoted: str, recorder: Recorder) -> None:
    whole, path = form(browser, quoted), f"/intent/{quoted}/commit"
    assert browser.post(path, whole).status_code == 200
    again = browser.post(path, whole)
    assert again.status_code == 409
    assert "Already submitted" in text(again.content.decode())
    assert "Current status: Accepted." in text(again.content.decode())
    assert recorder.commits == 1


def test_a_form_with_an_unknown_outcome_is_not_sent_again(
    browser: Client, emulator: Emulator, quoted: str, recorder: Recorder
) -> None:
    whole, path = form(browser, quoted), f"/intent/{quoted}/commit"
    emulator.inject("CommitIntent", "timeout-408")
    assert browser.post(path, whole).status_code == 503
    emulator.reset()
    assert "Current status: Quoted." in text(browser.post(path, whole).content.decode())
    assert recorder.commits == 1
    assert send(browser, quoted)[0] == 200
    assert recorder.commits == 2


def test_without_the_shared_cache_a_process_sends_a_form_once(browser: Client, quoted: str, recorder: Recorder) -> None:
    away = settings.SHARED_CACHE | {"LOCATION": f"redis://127.0.0.1:{free_port()}/0"}
    whole, path = form(browser, quoted), f"/intent/{quoted}/commit"
    with override_settings(CACHES={"default": away, "own": settings.OWN_CACHE}):
        assert browser.post(path, whole).status_code == 200
        assert [commit.is_first(quoted, "a-form") for _ in range(2)] == [True, False]
    assert recorder.commits == 1
    renew("redis_guard")


UNKNOWN = "Outcome unknown", "Current status: Quoted. The request may still be in progress."
MODIFIED = "Quote not accepted The service rejected the intent: it differs from the quote", "No funds moved."


@pytest.mark.parametrize(
    ("operation", "fault", "status", "words"),
    [
        ("CommitIntent", "timeout-408", 503, UNKNOWN),
        ("CommitIntent", "html-502", 503, UNKNOWN),
        ("CommitIntent", "broken-json", 503, UNKNOWN),
        ("CommitIntent", "empty-200", 503, UNKNOWN),
        (
            "CommitIntent",
            "cut-body",
            200,
            ["The response was lost, but the service reports the quote"],
        ),
        ("CommitIntent", "disabled", 503, ["Service paused."]),
        ("CommitIntent", "geoblocked", 403, ["Not available for this wallet or region."]),
        ("CommitIntent", "busy-60", 429, ["Rate limited by the service."]),
        ("GetIntent", "extra-fields", 400, [*MODIFIED, "intent was modified:"]),
    ],
)
def test_every_outcome_is_explained_after_one_call(
    browser: Client,
    emulator: Emulator,
    quoted: str,
    recorder: Recorder,
    operation: str,
    fault: str,
    status: int,
    words: list[str],
) -> None:
    emulator.inject(operation, fault)
    answered, result = send(browser, quoted)
    assert (answered, recorder.commits) == (status, 1)
    assert [each for each in words if each not in result] == []


def test_a_slow_service_is_not_called_twice(
    browser: Client, emulator: Emulator, quoted: str, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operations, "POLICIES", policies(Kind.WRITE, total=0.6))
    app.use(startup.build(emulator=emulator))
    emulator.inject("CommitIntent", "slow-1")
    status, result = send(browser, quoted)
    assert status == 503
    assert "Outcome unknown" in result
    assert recorder.commits == 1


def test_a_quote_that_expires_before_the_click_is_not_sent(browser: Client, quoted: str, recorder: Recorder) -> None:
    whole, path = form(browser, quoted), f"/intent/{quoted}/commit"
    with time_machine.travel("2026-11-21T12:05:01Z"):
        answer = browser.post(path, whole)
        assert "Quote expired" in text(page(browser, path))
    assert answer.status_code == 409
    assert "Quote expired The quote expired before it was accepted" in text(answer.content.decode())
    assert recorder.commits == 0


def test_a_quote_that_expired_by_the_services_clock_is_reported_as_expired(
    browser: Client, emulator: Emulator, quoted: str, recorder: Recorder
) -> None:
    emulator.inject("CommitIntent", "clock-ahead")
    with time_machine.travel("2026-11-21T12:04:30Z"):
        status, result = send(browser, quoted)
    assert status == 409
    assert "Quote expired" in result
    assert recorder.commits == 1


def test_an_intent_committed_elsewhere_meanwhile_is_shown_with_its_status(
    browser: Client, emulator: Emulator, quoted: str, recorder: Recorder
) -> None:
    def by_another_client() -> None:
        document = emulator._operations["GetIntent"](Ask({"intentId": quoted}, emulator._micros(), frozenset()))
        emulator._operations["CommitIntent"](Ask(document, emulator._micros(), frozenset()))

    recorder.before = by_another_client
    status, result = send(browser, quoted)
    assert status == 409
    assert "Status has changed" in result
    assert "Current status: Accepted. The request changed nothing." in result
    assert recorder.commits == 1


def test_an_intent_that_has_progressed_is_not_sent(browser: Client, emulator: Emulator, recorder: Recorder) -> None:
    moved = emulator.play("cross-chain-fast", age=25)["intentId"]
    answer = browser.get(f"/intent/{moved}/commit")
    assert answer.status_code == 409
    assert "Current status: In progress. Nothing was sent." in text(answer.content.decode())
    assert "<form" not in answer.content.decode().split("<main")[1]


def test_an_intent_that_can_not_be_read_again_is_not_sent(
    browser: Client, emulator: Emulator, quoted: str, recorder: Recorder
) -> None:
    whole, path = form(browser, quoted), f"/intent/{quoted}/commit"
    emulator.inject("GetIntent", "failing-500")
    answer = browser.post(path, whole)
    assert answer.status_code == 503
    assert "Not sent Service error. Nothing was sent" in text(answer.content.decode())
    assert recorder.commits == 0
    emulator.reset()
    assert browser.post(path, whole).status_code == 200


@pytest.mark.parametrize("spoilt", [{}, {"csrfmiddlewaretoken": "x" * 64}], ids=["missing", "wrong"])
def test_a_form_without_its_csrf_token_is_explained_and_sends_nothing(
    browser: Client, quoted: str, recorder: Recorder, spoilt: dict[str, str]
) -> None:
    whole = form(browser, quoted)
    del whole["csrfmiddlewaretoken"]
    answer = browser.post(f"/intent/{quoted}/commit", whole | spoilt)
    assert answer.status_code == 403
    html = answer.content.decode()
    assert "Form rejected" in text(html)
    assert "Reload the page and try again" in text(html)
    assert "Main" in html
    assert recorder.commits == 0


def test_a_form_from_another_site_sends_nothing(browser: Client, quoted: str, recorder: Recorder) -> None:
    answer = browser.post(f"/intent/{quoted}/commit", form(browser, quoted), headers={"Origin": "https://evil.example"})
    assert answer.status_code == 403
    assert "the form came from another site" in text(answer.content.decode())
    assert "CSRF_TRUSTED_ORIGINS" in answer.content.decode()
    assert recorder.commits == 0


def test_a_form_without_its_own_id_sends_nothing(browser: Client, quoted: str, recorder: Recorder) -> None:
    for odd in ("", "short", "x" * 5000):
        status, result = send(browser, quoted, form=odd)
        assert (status, "The form was incomplete" in result) == (400, True)
    assert recorder.commits == 0


def test_with_a_token_only_the_operator_commits(
    browser: Client, quoted: str, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_a_signed_in_operator_commits_without_the_token_and_can_sign_out(
    browser: Client, emulator: Emulator, quoted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings.ENV, "intents_console_token", SecretStr(TOKEN))
    assert send(browser, quoted, **{"operator-token": TOKEN, "remember": "on"})[0] == 200
    another = str(emulator.play("expired-quote")["intentId"])
    result = text(page(browser, f"/intent/{another}/commit"))
    assert "Signed in as operator until 12:30 UTC" in result
    browser.post("/operator", fields(page(browser, "/operator")))
    assert "Operator token Ask your administrator" in text(page(browser, f"/intent/{another}/commit"))


def test_the_operator_commits_behind_a_tls_proxy(
    browser: Client, quoted: str, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    browser: Client, emulator: Emulator, quoted: str, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
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


@pytest.mark.parametrize("spoil", [lambda seen: "", lambda seen: seen[:-1] + "!", lambda seen: seen[1:]])
def test_a_confirmation_with_an_invalid_signature_sends_nothing(
    browser: Client, quoted: str, recorder: Recorder, spoil: Callable[[str], str]
) -> None:
    whole = form(browser, quoted)
    answer = browser.post(f"/intent/{quoted}/commit", whole | {"seen": spoil(whole["seen"])})
    assert (answer.status_code, recorder.commits) == (400, 0)
    assert "The form was incomplete" in text(answer.content.decode())


def test_the_confirmation_of_one_intent_sends_no_other(
    browser: Client, emulator: Emulator, quoted: str, recorder: Recorder
) -> None:
    another = str(emulator.play("expired-quote")["intentId"])
    whole = form(browser, quoted)
    assert browser.post(f"/intent/{another}/commit", whole).status_code == 400
    assert recorder.commits == 0
