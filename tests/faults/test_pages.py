"""Every page under every failure of the service, on a real socket.

Checks the invariants that hold on every page. The dashboard has an empty cache here. Stale responses are tested in
`test_stale.py`.
"""

import re
import time
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import httpcore
import httpx
import pytest
from django.conf import settings
from selectolax.lexbor import LexborHTMLParser

from intents_ui import app, startup
from intents_ui.emulator.errors import TABLE
from intents_ui.formatting.failures import BY_CODE
from intents_ui.service import health, request_context
from intents_ui.service.client import ServiceClient
from intents_ui.service.operations import POLICIES
from tests.faults.site import PAGE_SECONDS, Log, layout_problems, main_text
from tests.faults.upstream import SLOW, STATUSES, TRANSPORT, refusing
from tests.pages.asgi import ask
from tests.pages.conftest import switch_to
from tests.pages.reading import PARTIAL, visible_text
from tests.policies import policies, seconds
from tests.service.clients import CANARY
from tests.service.scripted_server import Script
from tests.serving import ROOT, free_port
from tests.tables import toml

# One for each way in which pages treat them. `tests/transfers/test_failures.py` has all codes, and
# `tests/service/test_error_mapping.py` each code in both envelopes.
ROWS = [TABLE[code] for code in (-7, -2, 1004, 1006, 1101, 1201, 2000, 8000, 9000, 9001)]
HONEST = {200, 301, 302, 304, 400, 403, 404, 405, 413, 414, 429, 431, 503}
REFERENCE = re.compile(r"(?:[Rr]eference|[Rr]equest ID)\s*(?:<[^>]*>\s*)*([0-9a-f]{12}(?:\.\d+)?)\b")
WHEN = re.compile(r"Retry after \d\d:\d\d:\d\d UTC \(in \d+ s\)")
LONG = policies(**seconds(600))  # the page's own time ends it
QUICK = policies(**seconds(0.3))


FAULTS: dict[str, Script] = {**TRANSPORT, **STATUSES}
# One of each class of failures, for every page. The others of a class are for one page.
CLASSES = {"reset in the body", "slow down", "paused", "not found"}
# Error responses about the request, which the operator doesn't need to know of.
ANSWERS = {"invalid", "not found", "an unknown code, 400"}
# The service was reached, and responded with a readable error.
SAID = {"no credentials", "slow down", "invalid", "not found", "not here", "an unknown code, 400"}


def said_nothing_wrong(answer: Any, log: Log, fault: str) -> Iterator[str]:
    """Yield what no response may have: another status, internals, or a reference that isn't logged once."""
    if answer.status_code not in HONEST:
        yield f"status {answer.status_code}"
    if answer.status_code == 503 and fault in SAID:
        yield "503 because of an answer"
    result = answer.body + repr(answer.headers)
    hidden = ("Traceback", CANARY, settings.SECRET_KEY, str(ROOT), "upstream-page", "rpc/Service")
    yield from (f"tells {word}" for word in hidden if word in result)
    shown = set(REFERENCE.findall(answer.body))
    for reference in shown:
        lines = [line for line in log.lines if re.search(rf"{re.escape(reference)}(?![.\d])", line)]
        if len(lines) != 1:
            yield f"reference {reference} in {len(lines)} lines"


def is_a_page_of_ours(answer: Any) -> Iterator[str]:
    """Yield what the full layout lacks, and what a failure doesn't say."""
    yield from layout_problems(answer.body)
    if answer.status_code == 503:
        if not WHEN.search(visible_text(answer.body)):
            yield "does not say when it is asked again"
        if not answer.get("Retry-After", "").isdigit():
            yield "no Retry-After"


@pytest.mark.parametrize("fault", FAULTS)
def test_every_page_reports_every_failure_in_the_full_layout(dashboard, paths, fault):
    dashboard.service.inject(FAULTS[fault])
    wrong = {}
    for name in paths if fault in CLASSES else ["intent running"]:
        answer = dashboard.open(paths[name], how_long=POLICIES, seconds=PAGE_SECONDS)
        found = [*said_nothing_wrong(answer, dashboard.log, fault)]
        if answer.status_code not in (301, 302):
            found += is_a_page_of_ours(answer)
        if answer.status_code >= 400 and fault not in ANSWERS and not REFERENCE.search(answer.body):
            found.append("no reference")
        if found:
            wrong[name] = (answer.status_code, found)
    assert wrong == {}


def fragments(paths: dict[str, str]) -> list[str]:
    parts = [f"{paths['intent running']}/{part}" for part in ("receipt", "proof", "balances", "reply", "route-stats")]
    lists = ["/newest", "/overview", "/tokens/rows?chain=1", "/history?recoverable=1", "/attention"]
    return [*parts, *lists, *(paths[name] for name in ("intents of a token", "tokens searched", "chains", "address"))]


def files(paths: dict[str, str]) -> list[str]:
    intent = paths["intent running"]
    of_intent = [f"{intent}{end}" for end in (".json", "/raw/intent.json", "/card.png", "/feed.atom")]
    return [
        *of_intent,
        f"{paths['address']}/feed.atom",
        "/export/history.csv",
        "/export/attention.json",
        f"/embed{intent}",
    ]


@pytest.mark.parametrize("fault", ["reset in the body", "slow down", "paused"])
def test_every_fragment_and_file_reports_failures_in_its_own_format(dashboard, paths, fault):
    dashboard.service.inject(FAULTS[fault])
    wrong = {}
    for path in fragments(paths):
        answer = dashboard.open(path, headers=PARTIAL)
        found = [*said_nothing_wrong(answer, dashboard.log, fault)]
        if "<html" in answer.body:
            found.append("a whole page")
        if found:
            wrong[path] = (answer.status_code, found)
    for path in files(paths):
        answer = dashboard.open(path)
        found = [*said_nothing_wrong(answer, dashboard.log, fault)]
        if answer.status_code == 200 and not path.startswith("/export"):
            found.append("nothing wrong")
        if found:
            wrong[path] = (answer.status_code, found)
    assert wrong == {}


@pytest.mark.parametrize("name", ["history", "address"])
def test_a_part_of_a_list_that_failed_to_load_leaves_the_list_on_the_page(dashboard, paths, name):
    dashboard.service.inject(FAULTS["502 with a page"], "GetIntentHistory")
    answer = dashboard.open(paths[name], headers=PARTIAL | {"HX-Target": "div#list"})
    assert answer.status_code == 503
    assert (answer["HX-Reswap"], answer["HX-Push-Url"]) == ("afterbegin", "false")
    assert f'href="{paths[name]}" hx-boost:inherited="target:#list"' in answer.body
    assert "Try again" in answer.body
    assert 'id="list"' not in answer.body


def test_a_page_reports_a_refused_connection(dashboard, paths):
    port = free_port()
    answer = dashboard.open(paths["intent"], url=f"http://127.0.0.1:{port}")
    assert [*said_nothing_wrong(answer, dashboard.log, "refused"), *is_a_page_of_ours(answer)] == []
    assert not re.search(rf"\b{port}\b", answer.body)  # not within an ID


@pytest.mark.parametrize("fault", SLOW)
def test_a_page_with_a_silent_service_ends_at_its_deadline(dashboard, paths, fault):
    dashboard.service.inject(SLOW[fault])
    for name in ("intent running", "tokens"):
        answer = dashboard.open(paths[name], how_long=LONG, seconds=0.2)
        assert [*said_nothing_wrong(answer, dashboard.log, fault), *is_a_page_of_ours(answer)] == []
        assert answer.status_code == 503


class SilentService(httpx.BaseTransport):
    """Never responds. Each call takes as long as it may, on a clock of its own."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.now += request_context.time_left(3600.0, expired=httpcore.ReadTimeout) or 0.0
        raise httpcore.ReadTimeout


@pytest.mark.parametrize("name", ["search", "history", "address", "intent running", "one route"])
def test_a_page_waits_for_the_service_for_8_seconds_at_most(dashboard, paths, monkeypatch, name):
    dashboard.visit("/chains")
    catalog, service = app.current().catalog, SilentService()
    monkeypatch.setattr(request_context, "time", SimpleNamespace(**{**vars(time), "monotonic": service.monotonic}))
    client = ServiceClient(replace(app.service_config(), policies=LONG), transport=service, clock=service.monotonic)
    switch_to(replace(startup.build(emulator=app.current().emulator, service=client), catalog=catalog))
    answer = ask("GET", paths[name])
    assert answer.status_code == 503
    assert PAGE_SECONDS / 2 < service.now - 1000.0 <= PAGE_SECONDS


@pytest.mark.parametrize(
    ("row", "is_nested"), [pytest.param(row, number % 2 > 0, id=row["name"]) for number, row in enumerate(ROWS)]
)
def test_each_service_error_is_shown_by_its_code_in_either_envelope(dashboard, paths, row, is_nested):
    script = refusing(row["code"], row["name"], row["status"], msg="What it said itself.", is_nested=is_nested)
    dashboard.service.inject(script, "GetIntent")
    answer = dashboard.open(paths["intent"])
    words, tree = BY_CODE[row["code"]], LexborHTMLParser(answer.body)
    shown = main_text(answer)
    assert [*said_nothing_wrong(answer, dashboard.log, row["name"]), *is_a_page_of_ours(answer)] == []
    assert answer.status_code in (400, 403, 404, 429, 503)
    assert tree.css_first("h1").text() == words.title
    assert words.what in shown
    assert words.todo in shown
    assert "What it said itself." in shown
    assert "for those who run it" not in answer.body
    assert paths["intent"].rpartition("/")[2] in shown


PARTS = toml(__file__, "requests")["failed_parts"]


@pytest.mark.parametrize("row", PARTS.values(), ids=PARTS)
def test_one_failed_part_leaves_the_rest_of_the_page(dashboard, paths, monkeypatch, row):
    monkeypatch.setattr(health, "FAILED_SHARE", 2.0)  # no breaker opens for the other parts
    dashboard.service.inject(refusing(-7, "WebrpcInternalError", 500), row["operation"])
    answer = dashboard.open(paths[row["page"]])
    shown = LexborHTMLParser(answer.body).body.text(separator=" ")
    assert answer.status_code == 200
    assert [*said_nothing_wrong(answer, dashboard.log, row["operation"]), *is_a_page_of_ours(answer)] == []
    assert row["says"] in shown
    assert re.search(row["stands"], shown), shown
    assert row["operation"] in shown
    assert REFERENCE.search(answer.body)
