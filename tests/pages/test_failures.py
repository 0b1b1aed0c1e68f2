"""Error pages: what failed, with its status code, while the rest of the page still works."""

import io
import logging
import re
from html import unescape

import pytest
from django.test import Client

from intents_ui import app
from intents_ui.emulator.app import Emulator
from intents_ui.http import startup
from intents_ui.service import operations
from intents_ui.service.client import ServiceClient
from intents_ui.service.operations import Kind
from tests.pages.reading import PARTIAL, visible_text
from tests.pages.recorded import Recorded, refusal
from tests.policies import NOT_CACHED, policies

FAULTS = [
    pytest.param("busy-60", 429, "Rate limited by the service", id="busy"),
    pytest.param("failing-500", 503, "Service error", id="a fault of the service"),
    pytest.param("html-502", 503, "Service error", id="a proxy's page"),
    pytest.param("broken-json", 503, "Unexpected response", id="no JSON"),
    pytest.param("empty-200", 503, "Unexpected response", id="nothing"),
    pytest.param("geoblocked", 403, "Not available for this wallet or region", id="refused"),
    pytest.param("disabled", 503, "Service paused", id="switched off"),
    pytest.param("not-found", 404, "Not found", id="not there"),
]


def intent_url(emulator: Emulator, which: int = 2) -> str:
    return f"/intent/{emulator.finished(which)['intentId']}"


@pytest.mark.parametrize(("fault", "status", "words"), FAULTS)
def test_a_failure_is_explained_with_its_status_code_in_the_page_frame(
    site: Client, emulator: Emulator, fault: str, status: int, words: str
) -> None:
    emulator.inject("GetIntent", fault)
    answer = site.get(intent_url(emulator))
    page = answer.content.decode()
    assert answer.status_code == status
    assert words in page
    assert 'role="search"' in page
    assert "GetIntent" in page
    fragment = site.get(intent_url(emulator), headers=PARTIAL)
    assert fragment.status_code == status
    assert words in fragment.content.decode()
    assert "<html" not in fragment.content.decode()


@pytest.mark.parametrize("path", ["/history", "/address/{owner}"])
def test_a_part_of_a_list_that_failed_to_load_leaves_the_page_unchanged(
    site: Client, emulator: Emulator, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operations, "POLICIES", policies(Kind.BALANCES, **NOT_CACHED))
    app.use(startup.build(emulator=emulator))
    path = path.format(owner=emulator.finished(2)["ownerAddress"])
    part = PARTIAL | {"HX-Target": "div#list"}
    assert "<title>" in site.get(path, headers=part).content.decode()
    emulator.inject("GetIntentHistory", "failing-500")
    answer = site.get(path, headers=part)
    page = answer.content.decode()
    assert answer.status_code == 503
    assert (answer["HX-Reswap"], answer["HX-Push-Url"]) == ("afterbegin", "false")
    assert f'hx-get="{path}"' in page
    assert "Try again" in page
    assert 'id="list"' not in page


def test_a_busy_service_shows_when_to_try_again(site: Client, emulator: Emulator) -> None:
    emulator.inject("GetIntent", "busy-60")
    answer = site.get(intent_url(emulator))
    assert 29 <= int(answer["Retry-After"]) <= 31  # however long the service says
    assert "Rate limited until" in answer.content.decode()


@pytest.mark.parametrize("fault", ["busy-60", "failing-500", "html-502", "broken-json", "geoblocked"])
def test_a_list_that_failed_to_load_is_not_shown_as_empty(site: Client, emulator: Emulator, fault: str) -> None:
    emulator.inject("GetIntentHistory", fault)
    page = unescape(site.get("/").content.decode())
    assert "Couldn't load the newest transfers" in page
    assert "No transfers yet" not in page


@pytest.mark.usefixtures("response_cache", "still")
@pytest.mark.parametrize("first", ["GetIntent", "GetIntentReceipt"])
def test_the_notice_of_old_data_has_the_time_of_the_oldest_response(
    site: Client, emulator: Emulator, first: str
) -> None:
    now, transport = [0.0], Recorded(emulator)
    intent_id = emulator.play("stalled-in-bridge", age=400)["intentId"]
    with ServiceClient(app.service_config(), transport=transport, clock=lambda: now[0]) as client:
        app.use(startup.build(emulator=emulator, service=client))
        reading = {"GetIntent": operations.get_intent, "GetIntentReceipt": operations.get_intent_receipt}
        for operation in sorted(reading, key=lambda each: each != first):
            client.ask(reading[operation](intent_id))
            now[0] += 120
        for operation in reading:
            transport.scripts[operation] = lambda body: refusal(9001, "Unavailable", 503)
        answer = site.get(f"/intent/{intent_id}")
    assert answer.status_code == 200
    assert re.search(r"Last updated 11:56 UTC \( 4 min ago \): \w", visible_text(answer))
    assert answer["Age"] == "240"


def test_names_that_failed_to_load_are_replaced_by_ids(site: Client, emulator: Emulator) -> None:
    emulator.inject("GetChains", "failing-500")
    emulator.inject("GetTokenList", "failing-500")
    answer = site.get(intent_url(emulator))
    assert answer.status_code == 200
    assert "Chain 42161" in answer.content.decode()


@pytest.mark.parametrize("path", ["/nowhere", "/intent/a/b", "/static/nothing.css"])
def test_an_unknown_url_gets_a_page_in_the_frame(site: Client, path: str) -> None:
    answer = site.get(path)
    assert answer.status_code == 404
    assert "Page not found" in answer.content.decode()


def test_an_internal_error_is_a_page_with_a_request_id(emulator: Emulator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("intents_ui.pages.home.summary.of", lambda *_, **__: 1 / 0)
    answer = Client(raise_request_exception=False).get("/")
    assert answer.status_code == 500
    assert "Something went wrong" in answer.content.decode()
    assert "ZeroDivisionError" not in answer.content.decode()


def test_a_rejected_request_leaves_one_line_in_the_log(site: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.StringIO()
    monkeypatch.setattr(logging.getHandlerByName("console"), "stream", written)
    assert site.get("/tokens", {f"a{number}": "1" for number in range(1001)}).status_code == 400
    (line,) = written.getvalue().splitlines()
    assert "WARNING django.security.TooManyFieldsSent" in line
