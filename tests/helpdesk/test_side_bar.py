"""`/embed/ticket`: who can open it, who can frame it, and that it shows the answers of triage."""

import html
import re
import secrets
from collections.abc import Callable
from typing import Any

import pytest
import time_machine
from django.conf import settings
from django.test import Client
from selectolax.lexbor import LexborHTMLParser

from intents_ui.display.search import input_errors
from intents_ui.display.sharing.customer_reply import Reply
from intents_ui.display.summary import summary
from intents_ui.emulator.app import Emulator
from intents_ui.settings import Environment
from intents_ui.web.helpdesk import signatures
from intents_ui.web.transfers import situations
from intents_ui.web.triage.allowance import Allowance
from tests.helpdesk import signing
from tests.helpdesk.conftest import CHATWOOT, DESK
from tests.pages.recorded import recorded

SUCCEEDED, REFUNDED, RECOVERABLE = 3, 8, 25
NOTHING = "0x" + "12" * 32
OTHER = "0x" + "34" * 32
TIMELESS = f"{signing.PATH}?q={NOTHING}"
HOURS = 3600


def id_of(emulator: Emulator, scenario: int = REFUNDED) -> str:
    return str(emulator.finished(scenario)["intentId"])


def visible_text(answer: Any) -> str:
    body = re.sub(r"<textarea.*?</textarea>", " ", answer.content.decode().partition("<body")[2], flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", "<body" + body)).split())


def field(answer: Any, name: str) -> str:
    found = LexborHTMLParser(answer.content).css_first(f"form [name={name}]")
    assert found is not None
    return found.attributes.get("value") or found.text()


def opened(site: Client, text: str) -> Any:
    return site.get(signing.signed_url(text))


def shown(site: Client, text: str, **fields: str) -> Any:
    """Submit the form of a side bar that Zendesk has opened."""
    bar = site.post(signing.PATH, {"token": signing.token()})
    return site.post(signing.PATH, {"pass": field(bar, "pass"), "q": text, **fields})


def is_rejected(answer: Any) -> bool:
    """Return whether a request was rejected in the frame, without a look-up and without a form."""
    page = answer.content.decode()
    assert answer["Cache-Control"] == "no-store"
    return answer.status_code == 403 and "Side bar not opened" in page and "<form" not in page


# Who can open it.


def test_without_settings_there_is_no_side_bar(site: Client) -> None:
    for url in (signing.PATH, signing.signed_url(NOTHING)):
        assert site.get(url).status_code == 404
    for form in ({"token": "x"}, {"q": NOTHING}):
        assert site.post(signing.PATH, form).status_code == 404


@pytest.mark.usefixtures("helpdesks", "still")
def test_a_signed_url_opens_it_for_five_minutes(site: Client) -> None:
    for age in (0, 299, -299):
        assert site.get(signing.signed_url(NOTHING, age=age)).status_code == 200
    for age in (301, 24 * HOURS, -301):
        answer = site.get(signing.signed_url(NOTHING, age=age))
        assert is_rejected(answer)
        assert signatures.STALE in visible_text(answer)


WRONG_URLS: dict[str, Callable[[], str]] = {
    "not signed": lambda: f"{signing.PATH}?q={NOTHING}",
    "another key": lambda: signing.signed_url(NOTHING, key="another key of somewhere"),
    "another text": lambda: signing.signed_url(NOTHING).replace(NOTHING, OTHER),
    "a text added": lambda: signing.signed_url(NOTHING) + f"&q={OTHER}",
    "of another page": lambda: signing.signed_url(NOTHING, path="/triage").replace("/triage", signing.PATH),
    "a later time": lambda: re.sub(r"time=\d", "time=9", signing.signed_url(NOTHING)),
    "without a time": lambda: f"{TIMELESS}&signature={signing.digest(signing.KEY, TIMELESS.encode())}",
    "another script": lambda: signing.signed_url(NOTHING)[:-1] + "\u0663",
}


@pytest.mark.usefixtures("helpdesks")
def test_a_url_with_a_wrong_signature_is_rejected(
    site: Client, emulator: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    with recorded(emulator, monkeypatch) as service:
        for name, url in WRONG_URLS.items():
            assert is_rejected(site.get(url())), name
        assert service.sent == []


@pytest.mark.usefixtures("helpdesks")
def test_zendesks_token_opens_it_and_its_form_looks_up_texts(site: Client, emulator: Emulator) -> None:
    bar = site.post(f"{signing.PATH}?origin=https://{signing.ACCOUNT}&app_guid=1", {"token": signing.token()})
    assert bar.status_code == 200
    form = LexborHTMLParser(bar.content).css_first("form")
    assert form is not None
    assert form.attributes["data-opener"] == "zendesk"
    assert form.attributes["data-origin"] == f"https://{signing.ACCOUNT}"
    answer = shown(site, f"Where are my funds? {id_of(emulator)}")
    assert "Refunded" in visible_text(answer)
    # Each answer has a new pass.
    assert site.post(signing.PATH, {"pass": field(answer, "pass"), "q": NOTHING}).status_code == 200


def ago(seconds: float) -> int:
    return int(signing.time.time() - seconds)


WRONG_TOKENS: dict[str, Callable[[], str]] = {
    "another signature": lambda: signing.token()[:-8] + "AAAAAAAA",
    "no algorithm": signing.unsigned_token,
    "issued too long ago": lambda: signing.token(iat=ago(301), nbf=ago(301)),
    "another account": lambda: signing.token(iss="evil.zendesk.com"),
    "another app": lambda: signing.token(aud=signing.AUDIENCE.replace("/1.", "/2.")),
    "without exp": lambda: signing.token(exp=None),
    "no token": lambda: "x",
}


@pytest.mark.usefixtures("helpdesks")
def test_a_wrong_token_is_rejected(site: Client) -> None:
    for name, token in WRONG_TOKENS.items():
        assert is_rejected(site.post(signing.PATH, {"token": token()})), name


@pytest.mark.usefixtures("helpdesks")
def test_the_form_needs_a_pass_of_the_last_eight_hours(
    site: Client, emulator: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = signatures.new_pass("zendesk")
    with recorded(emulator, monkeypatch) as service:
        for wrong in ("", "zendesk", given.replace("zendesk", "chatwoot"), f"x{given}", given[:-1]):
            assert is_rejected(site.post(signing.PATH, {"q": NOTHING, "pass": wrong})), wrong
        assert service.sent == []
    assert site.post(signing.PATH, {"q": NOTHING, "pass": given}).status_code == 200
    with time_machine.travel(signing.time.time() + signatures.PASS_SECONDS + 1):
        assert is_rejected(site.post(signing.PATH, {"q": NOTHING, "pass": given}))


@pytest.mark.usefixtures("helpdesks")
def test_chatwoot_opens_an_empty_one_only_with_its_setting(site: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    form = LexborHTMLParser(site.get(signing.PATH).content).css_first("form")
    assert form is not None
    assert (form.attributes["data-opener"], form.attributes["data-origin"]) == ("chatwoot", CHATWOOT)
    monkeypatch.setattr(settings.ENV, "intents_chatwoot_origin", None)
    assert is_rejected(site.get(signing.PATH))


@pytest.mark.usefixtures("helpdesks")
def test_signatures_are_compared_in_constant_time(site: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []

    def compare(given: bytes, expected: bytes) -> bool:
        compared.append((given, expected))
        return secrets.compare_digest(given, expected)

    monkeypatch.setattr(signatures.hmac, "compare_digest", compare)
    url = signing.signed_url(NOTHING)
    assert is_rejected(site.get(url[:-1]))
    assert (url[:-1].rpartition("=")[2].encode(), url.rpartition("=")[2].encode()) in compared


# Who can frame it.


@pytest.mark.usefixtures("helpdesks")
@pytest.mark.parametrize("url", [f"{signing.PATH}", f"{signing.PATH}?q=1"], ids=["opened", "rejected"])
def test_only_the_named_hosts_may_frame_it(site: Client, url: str) -> None:
    answer = site.get(url)
    policy = answer["Content-Security-Policy"]
    assert f"frame-ancestors https://{signing.ACCOUNT} {CHATWOOT} {DESK};" in policy
    assert "form-action 'self';" in policy
    assert "X-Frame-Options" not in answer
    assert answer["X-Robots-Tag"] == "noindex"
    assert not answer.cookies


# What it shows.


@pytest.mark.usefixtures("helpdesks")
@pytest.mark.parametrize("scenario", [REFUNDED, RECOVERABLE])
def test_it_shows_the_answer_of_the_transfers_page(site: Client, emulator: Emulator, scenario: int) -> None:
    intent_id = id_of(emulator, scenario)
    answer = opened(site, intent_id)
    situation = situations.read(intent_id)
    result, said = summary.of(situation), visible_text(answer)
    for words in (result.status.word, result.headline, result.location, result.next_step, "Demo data"):
        assert words in said
    page = LexborHTMLParser(answer.content)
    assert f"/intent/{intent_id}" in [link.attributes["href"] for link in page.css("article a")]
    reply = page.css_first("article textarea")
    assert reply is not None
    of_page = Reply(situation, f"http://testserver/intent/{intent_id}").plain
    assert reply.text().strip().splitlines()[:-1] == of_page.strip().splitlines()[:-1]  # without the time


@pytest.mark.usefixtures("helpdesks")
def test_the_most_urgent_transfer_is_first_and_each_is_told_once(site: Client, emulator: Emulator) -> None:
    done, recoverable = id_of(emulator, SUCCEEDED), id_of(emulator, RECOVERABLE)
    page = LexborHTMLParser(opened(site, f"{done} {recoverable} {done.upper()} {NOTHING}").content)
    heads = [article.css_first("h2").text() for article in page.css("article")]
    assert heads[0] == summary.of(situations.read(recoverable)).headline
    assert len(heads) == 3
    assert len(page.css("article textarea")) == 2


@pytest.mark.usefixtures("helpdesks")
def test_links_open_a_new_tab(site: Client, emulator: Emulator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings.ENV, "intents_recovery_url", "https://app.example/recover")
    links = LexborHTMLParser(opened(site, id_of(emulator, RECOVERABLE)).content).css("main a")
    assert "https://app.example/recover" in [link.attributes["href"] for link in links]
    assert {(link.attributes["target"], link.attributes["rel"]) for link in links} == {("_blank", "noopener")}


@pytest.mark.usefixtures("helpdesks")
def test_a_text_without_identifiers_says_so_and_shows_the_form(site: Client) -> None:
    answer = shown(site, "Hello <b>you</b>")
    assert answer.status_code == 200
    assert input_errors.NOTHING in visible_text(answer)
    assert field(answer, "q").strip() == "Hello <b>you</b>"
    assert "<b>you" not in answer.content.decode()


@pytest.mark.usefixtures("helpdesks")
def test_the_rate_limit_of_tickets_applies(site: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Allowance, "spend", lambda _: 7)
    answer = shown(site, NOTHING)
    assert (answer.status_code, answer["Retry-After"]) == (429, "7")
    assert "reached the rate limit" in visible_text(answer)


@pytest.mark.usefixtures("helpdesks")
def test_the_number_of_the_ticket_is_kept_for_the_script(site: Client) -> None:
    for number, kept in (("17", "17"), ("x", ""), ("1" * 21, "")):
        found = LexborHTMLParser(shown(site, NOTHING, ticket=number).content).css_first("form [name=ticket]")
        assert found is not None
        assert (found.attributes["value"] or "") == kept


# Settings.


@pytest.mark.parametrize(
    ("env", "name"),
    [
        pytest.param({"INTENTS_HELPDESK_KEY": "short"}, "intents_helpdesk_key", id="a key that can be guessed"),
        pytest.param({"INTENTS_HELPDESK_KEY": signing.KEY}, "INTENTS_HELPDESK_HOSTS", id="no host"),
        pytest.param({"INTENTS_HELPDESK_HOSTS": "*"}, "intents_helpdesk_hosts", id="every host"),
        pytest.param({"INTENTS_HELPDESK_HOSTS": "https://a.example/x"}, "intents_helpdesk_hosts", id="a URL"),
        pytest.param({"INTENTS_CHATWOOT_ORIGIN": "chat.acme.example"}, "intents_chatwoot_origin", id="no scheme"),
        pytest.param({"INTENTS_ZENDESK_PUBLIC_KEY": "x"}, "intents_zendesk_public_key", id="no key"),
        pytest.param({"INTENTS_SLACK_SIGNING_SECRET": "short"}, "intents_slack_signing_secret", id="a short secret"),
    ],
)
def test_an_invalid_setting_stops_the_start(monkeypatch: pytest.MonkeyPatch, env: dict[str, str], name: str) -> None:
    for setting, value in env.items():
        monkeypatch.setenv(setting, value)
    with pytest.raises(ValueError, match=name):
        Environment()
