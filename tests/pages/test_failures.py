"""Error pages: what failed, with its status code, while the rest of the page still works."""

import io
import logging
from html import unescape

import pytest
from django.test import Client

from intents_ui import app, startup
from intents_ui.emulator.app import Emulator
from intents_ui.service import operations
from intents_ui.service.operations import Kind
from tests.pages.reading import PARTIAL
from tests.policies import NOT_CACHED, policies


def intent_url(emulator: Emulator, which: int = 2) -> str:
    return f"/intent/{emulator.finished(which)['intentId']}"


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


def test_a_rejected_request_leaves_one_line_in_the_log(site: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.StringIO()
    monkeypatch.setattr(logging.getHandlerByName("console"), "stream", written)
    assert site.get("/tokens", {f"a{number}": "1" for number in range(1001)}).status_code == 400
    (line,) = written.getvalue().splitlines()
    assert "WARNING django.security.TooManyFieldsSent" in line
