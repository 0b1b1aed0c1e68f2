"""Slack: a command and links, only with Slack's signature, and without markup from transfers."""

import json
import logging
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from django.conf import settings
from django.test import Client
from pydantic import SecretStr

from intents_ui.emulator.app import Emulator
from intents_ui.helpdesk import slack as slack_page
from intents_ui.service import request_context
from intents_ui.transfers import summary
from intents_ui.triage.lookup import MORE, TicketRows, rows_of
from intents_ui.web import reading
from intents_ui.web.search import NO_MIRROR
from tests.helpdesk import signing
from tests.pages.recorded import recorded
from tests.service.scripted_server import Script, ScriptedServer, answering, serving
from tests.waiting import PATIENCE

pytestmark = pytest.mark.usefixtures("slack")

REFUNDED, RECOVERABLE, SPOOF = 8, 25, 18
NOTHING = "0x" + "12" * 32
BOT_TOKEN = "xoxb-the-token-of-the-bot"
COMMAND, EVENTS = "/slack/command", "/slack/events"
FORM, JSON = "application/x-www-form-urlencoded", "application/json"
OF_NO_TIME = f"v0={signing.digest(signing.SECRET, b'v0:x:text=x')}"


def id_of(emulator: Emulator, scenario: int = REFUNDED) -> str:
    return str(emulator.finished(scenario)["intentId"])


def sent(site: Client, path: str, body: str, **how: Any) -> Any:
    return site.post(
        path, body, content_type=FORM if path == COMMAND else JSON, headers=signing.slack_headers(body, **how)
    )


def command(site: Client, text: str, **how: Any) -> Any:
    return sent(site, COMMAND, urlencode({"command": "/intents", "text": text, "team_id": "T1"}), **how)


def event(site: Client, **fields: Any) -> Any:
    return sent(site, EVENTS, json.dumps(fields))


def shared(site: Client, *urls: str, **fields: str) -> Any:
    links = [{"url": url, "domain": "testserver"} for url in urls]
    return event(site, type="event_callback", event={"type": "link_shared", "links": links, **fields})


def texts(blocks: list[dict[str, Any]], kind: str) -> str:
    return "\n".join(block["text"]["text"] for block in blocks if block["text"]["type"] == kind)


# Signatures.


@pytest.mark.parametrize("path", [COMMAND, EVENTS])
def test_without_its_secret_there_is_no_slack(site: Client, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    monkeypatch.setattr(settings.ENV, "intents_slack_signing_secret", None)
    assert sent(site, path, "text=x").status_code == 404


@pytest.mark.parametrize(
    "how",
    [
        pytest.param({"age": 301}, id="stale"),
        pytest.param({"age": -301}, id="of the future"),
        pytest.param({"secret": "another secret"}, id="another secret"),
        pytest.param({"signed": "text=another"}, id="another body"),
    ],
)
@pytest.mark.parametrize("path", [COMMAND, EVENTS])
def test_a_request_with_a_wrong_signature_is_rejected(
    site: Client, emulator: Emulator, path: str, how: dict[str, Any]
) -> None:
    body = (
        urlencode({"text": NOTHING}) if path == COMMAND else json.dumps({"type": "url_verification", "challenge": "x"})
    )
    with recorded(emulator) as service:
        answer = sent(site, path, body, **how)
        assert service.sent == []
        assert answer.status_code == 403
        assert answer.text == (slack_page.STALE if "age" in how else slack_page.WRONG)
        assert sent(site, path, body, age=290).status_code == 200


@pytest.mark.parametrize("path", [COMMAND, EVENTS])
def test_a_request_without_a_signature_is_rejected(site: Client, path: str) -> None:
    signed = {"X-Slack-Request-Timestamp": "x", "X-Slack-Signature": OF_NO_TIME}
    for headers, why in (
        ({}, slack_page.NOT_SIGNED),
        ({"X-Slack-Signature": "v0=" + "0" * 64}, slack_page.WRONG),
        (signed, slack_page.WRONG),
    ):
        answer = site.post(path, "text=x", content_type=FORM, headers=headers)
        assert (answer.status_code, answer.text, answer["Cache-Control"]) == (403, why, "no-store")


# The command.


@pytest.mark.parametrize("scenario", [REFUNDED, RECOVERABLE])
def test_a_command_answers_its_user_as_the_transfers_page_does(site: Client, emulator: Emulator, scenario: int) -> None:
    intent_id = id_of(emulator, scenario)
    answer = command(site, f"what about {intent_id}").json()
    assert answer["response_type"] == "ephemeral"
    assert answer["text"] == "1 identifier resolved: 1 found."
    result = summary.of(reading.read(intent_id))
    for words in (result.headline, result.location, result.next_step):
        assert words in texts(answer["blocks"], "plain_text")
    assert f"<http://testserver/intent/{intent_id}|View transfer>" in texts(answer["blocks"], "mrkdwn")


@pytest.mark.parametrize(("text", "words"), [("", slack_page.USAGE), ("  ", slack_page.USAGE), ("hello", "No ")])
def test_a_command_without_identifiers_says_what_to_add(site: Client, text: str, words: str) -> None:
    answer = command(site, text).json()
    assert answer["response_type"] == "ephemeral"
    assert answer["text"].startswith(words)


def test_a_command_looks_up_five_identifiers_and_says_so(site: Client) -> None:
    answer = command(site, " ".join(f"0x{number:064x}" for number in range(1, 8))).json()
    assert answer["text"] == "All 5 identifiers resolved: 5 not found."
    assert answer["blocks"][-1]["text"]["text"] == MORE.format(most=5, found=7)
    assert len(answer["blocks"]) <= 50


def test_markup_in_the_text_of_a_command_is_not_markup_in_its_answer(site: Client) -> None:
    answer = command(site, "<!channel> *bold* <https://evil.example|x> & 0x12").json()
    for written in (answer["text"], texts(answer["blocks"], "mrkdwn")):
        assert "<!channel>" not in written
        assert "evil.example|" not in written


def test_names_of_tokens_are_sent_as_plain_text_only(site: Client, emulator: Emulator) -> None:
    for scenario in (SPOOF, 20):
        answer = command(site, id_of(emulator, scenario)).json()
        links = [block["text"] for block in answer["blocks"] if block["text"]["type"] == "mrkdwn"]
        assert all(link["verbatim"] and link["text"].startswith("<http://testserver/") for link in links)
        plain = [block["text"] for block in answer["blocks"] if block["text"]["type"] == "plain_text"]
        assert all(not each["emoji"] for each in plain)
        assert answer["text"] == answer["text"].translate(slack_page.ENTITIES)


def test_a_command_ends_before_slack_gives_up(site: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[float | None] = []

    def seen(*args: Any, **kwargs: Any) -> TicketRows:
        left.append(request_context.seconds_left())
        return rows_of(*args, **kwargs)

    monkeypatch.setattr(slack_page, "rows_of", seen)
    assert command(site, NOTHING).status_code == 200
    assert left[0] is not None
    assert left[0] <= slack_page.SECONDS < 3


def test_a_failed_look_up_is_answered_too(site: Client, emulator: Emulator) -> None:
    emulator.inject("*", "failing-500")
    assert command(site, NOTHING).json()["text"].startswith("Identifier not resolved: ")


# Links.


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch, slack: None) -> Iterator[ScriptedServer]:
    """Yield Slack's API. The bot has a token."""
    with serving(answering({"ok": True})) as server:
        monkeypatch.setattr(slack_page, "API", f"{server.url}/api")
        monkeypatch.setattr(slack_page, "API_SECONDS", PATIENCE)
        monkeypatch.setattr(settings.ENV, "intents_slack_bot_token", SecretStr(BOT_TOKEN))
        yield server


def test_slack_can_verify_the_url_of_events(site: Client) -> None:
    answer = event(site, type="url_verification", challenge="<b>challenge</b>", token="x")
    assert (answer.status_code, answer.text) == (200, "<b>challenge</b>")
    assert answer["Content-Type"] == "text/plain; charset=utf-8"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"unfurl_id": "U1", "source": "composer", "channel": "COMPOSER", "message_ts": "x"},
            {"unfurl_id": "U1", "source": "composer"},
        ),
        ({"channel": "C1", "message_ts": "1.2"}, {"channel": "C1", "ts": "1.2"}),
    ],
    ids=["typed", "posted"],
)
def test_a_link_to_a_transfer_shows_its_answer(
    site: Client, emulator: Emulator, api: ScriptedServer, fields: dict[str, str], message: dict[str, str]
) -> None:
    link, unknown = f"http://testserver/intent/{id_of(emulator)}", f"http://testserver/intent/{NOTHING}"
    answer = shared(site, link, unknown, "http://testserver/help", **fields)
    assert (answer.status_code, answer.text) == (200, "")
    [call] = api.visits
    assert call.head.startswith("POST /api/chat.unfurl ")
    assert call.headers["authorization"] == f"Bearer {BOT_TOKEN}"
    body = json.loads(call.body)
    assert {name: body[name] for name in message} == message
    assert body.keys() == {*message, "unfurls"}
    assert body["unfurls"].keys() == {link}
    assert "Refunded" in texts(body["unfurls"][link]["blocks"], "plain_text")


def test_without_a_bot_token_or_a_transfer_slack_is_not_called(
    site: Client, emulator: Emulator, api: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert shared(site, "http://testserver/help", channel="C1", message_ts="1.2").status_code == 200
    monkeypatch.setattr(settings.ENV, "intents_slack_bot_token", None)
    link = f"http://testserver/intent/{id_of(emulator)}"
    assert shared(site, link, channel="C1", message_ts="1.2").status_code == 200
    assert api.visits == []


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (answering({"ok": False, "error": "cannot_unfurl_url"}), "cannot_unfurl_url"),
        (answering("oops", status=500), "JSONDecodeError"),
        (answering("[]"), "TypeError"),
    ],
    ids=["refused", "failed", "odd"],
)
def test_a_failure_of_slack_is_logged_without_the_token(
    site: Client,
    emulator: Emulator,
    api: ScriptedServer,
    caplog: pytest.LogCaptureFixture,
    answer: Script,
    words: str,
) -> None:
    api.script = answer
    with caplog.at_level(logging.WARNING):
        assert (
            shared(site, f"http://testserver/intent/{id_of(emulator)}", channel="C1", message_ts="1").status_code == 200
        )
    assert words in caplog.text
    assert BOT_TOKEN not in caplog.text


def test_an_event_that_cannot_be_read_is_rejected(site: Client) -> None:
    for body in ("", "x", "[]", '{"type": 5}', '{"event": {}}'):
        assert sent(site, EVENTS, body).status_code == 400, body


def test_without_a_mirror_a_transfer_in_words_has_a_sentence_that_says_so(site: Client) -> None:
    answer = command(site, "sent 2000 USDT Polygon to Katana this morning").json()
    assert answer["text"].startswith("No transaction hash, address or intent ID found.")
    assert NO_MIRROR in texts(answer["blocks"], "plain_text")
