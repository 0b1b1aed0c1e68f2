"""Inbound rate limits and concurrency limits: who is counted, and what a rejected client sees."""

import json
import logging
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client

from intents_ui import app
from intents_ui.emulator.app import Emulator
from intents_ui.http import limits
from intents_ui.http.limits import SEARCH
from intents_ui.settings import ENV
from tests.pages.conftest import fresh
from tests.pages.recorded import Recorded, recorded

NOTHING = "0x" + "12" * 32
HERE = "203.0.113.7"
PARTIAL = {"HX-Request": "true", "HX-Request-Type": "partial"}


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel("2026-11-21T12:00:00Z", tick=False) as traveller:
        yield traveller


@pytest.fixture
def emulator(clock: time_machine.Traveller) -> Iterator[Emulator]:
    yield from fresh()


@pytest.fixture
def way(emulator: Emulator) -> Iterator[Recorded]:
    """A client may ask for one page a second, and for eight at once: it has had the others."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ENV, "intents_rate_pages", 1)
        with recorded(emulator, patch) as way:
            yield way


def has(address: str, left: int) -> None:
    """Let a client have this many units left."""
    app.current().rate_limiter.consume(address, limits.units(address) - left)


def visit(address: str, path: str = "/robots.txt", **how: Any) -> Any:
    """A request of a client, by default for something that costs little."""
    answer = Client().get(path, REMOTE_ADDR=address, **how)
    answer.close()
    return answer


def statuses(address: str, count: int, path: str = "/robots.txt", **how: Any) -> list[int]:
    return [visit(address, path, **how).status_code for _ in range(count)]


@pytest.mark.usefixtures("way")
def test_client_supplied_headers_do_not_change_who_is_counted(caplog: pytest.LogCaptureFixture) -> None:
    has(HERE, 8)
    names = ("X-Forwarded-For", "Forwarded", "X-Real-IP", "X_Forwarded_For", "Client-IP", "CF-Connecting-IP")
    for number in range(8):
        header = {names[number % len(names)]: f"192.0.2.{number}"}
        assert visit(HERE, headers=header).status_code == 200
    assert visit(HERE, headers={"X-Forwarded-For": "192.0.2.99"}).status_code == 429
    assert visit(HERE, headers={"X-Forwarded-For": "127.0.0.1"}).status_code == 429
    warnings = [record for record in caplog.records if "is not in TRUSTED_PROXIES" in record.getMessage()]
    assert warnings
    assert all(record.__dict__["once"] for record in warnings)


@pytest.mark.usefixtures("way")
def test_static_files_localhost_and_requests_without_an_address_are_not_counted() -> None:
    has(HERE, 8)
    assert statuses(HERE, 30, "/static/img/mark.svg") == [200] * 30
    assert statuses(HERE, 8) == [200] * 8
    for address in ("127.0.0.1", "127.8.8.8", "::1", ""):
        assert statuses(address, 12) == [200] * 12, address


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", f"/search?q=0x{'1' * 39}"),
        ("GET", f"/search?q={NOTHING}"),
        ("GET", f"/tx/{NOTHING}"),
        ("GET", "/export/history.csv?status=LOST"),
        ("GET", "/export/attention.csv?min=1e3"),
        ("GET", f"/export/address/0x{'1' * 40}.csv?status=LOST"),
        ("GET", "/console/GetChains?ask=json&json={}"),
        ("GET", "/api/v1/lookup?q=xx"),
        ("POST", "/api/v1/triage"),
        ("POST", "/mcp"),
    ],
)
def test_what_takes_many_service_calls_counts_as_several_pages(way: Recorded, method: str, path: str) -> None:
    path, _, query = path.partition("?")
    has(HERE, 2 * SEARCH + 3)
    asked = {"REMOTE_ADDR": HERE, "QUERY_STRING": query}
    result = [Client().generic(method, path, **asked).status_code for _ in range(3)]
    assert 429 not in result[:2]
    assert result[2] == 429
    assert statuses(HERE, 3) == [200, 200, 429], "of what was left, the search cost a page"


def test_a_body_is_counted_by_its_size(way: Recorded) -> None:
    has(HERE, 60)
    body = {"data": f"q={'+' * 50_000}", "content_type": "application/x-www-form-urlencoded"}
    assert [Client().post("/triage", **body, REMOTE_ADDR=HERE).status_code for _ in range(2)] == [400, 429]


def test_a_rejected_client_costs_the_service_nothing(way: Recorded) -> None:
    has(HERE, 0)
    way.sent.clear()
    for path in ("/", "/history", f"/intent/{NOTHING}", f"/search?q={NOTHING}", "/tokens", "/export/history.csv"):
        assert visit(HERE, path).status_code == 429, path
    assert way.sent == []


@pytest.mark.usefixtures("way")
def test_the_429_page_says_what_happened_for_how_long_and_what_to_do() -> None:
    has(HERE, 0)
    answer = visit(HERE, "/history")
    page = answer.content.decode()
    assert (answer.status_code, answer["Retry-After"]) == (429, "1")
    assert answer["Cache-Control"] == "no-store"
    assert 'role="search"' in page
    assert "<h1>Too many requests</h1>" in page
    assert "The limit for one IP address is 1 page a second on average" in page
    assert "Try again in 1 second." in page
    assert '<a class="button" data-kind="main" href="">Try again</a>' in page


@pytest.mark.usefixtures("way")
def test_fragments_files_and_feeds_get_429_in_their_own_format() -> None:
    has(HERE, 0)
    fragment = visit(HERE, "/newest", headers=PARTIAL)
    assert fragment.status_code == 429
    assert fragment.content.strip().startswith(b'<section class="card failure"')
    of_list = visit(HERE, "/history", headers=PARTIAL | {"HX-Target": "div#list"})
    assert (of_list.status_code, of_list["HX-Reswap"]) == (429, "afterbegin")
    for path in (f"/intent/{NOTHING}.json", "/export/history.json", "/export/history.ndjson"):
        file = visit(HERE, path)
        assert (file.status_code, file["Content-Type"]) == (429, "application/json")
        assert json.loads(file.content)["error"] == "Too many requests"


def test_the_default_rates_are_those_of_the_documentation() -> None:
    assert limits.units(HERE) == 2400
    assert (limits.PAGE, limits.SEARCH, limits.TOKEN) == (1, 6, 20)


@pytest.mark.usefixtures("emulator")
def test_an_office_behind_one_address_can_work(clock: time_machine.Traveller) -> None:
    """By the defaults: twenty people, each of whom looks something up every fifteen seconds, and reads on there."""
    has(HERE, 240)
    for _ in range(4):
        for _ in range(20):
            assert visit(HERE, f"/search?q=0x{'1' * 39}").status_code == 400
            assert statuses(HERE, 5) == [200] * 5
        clock.shift(timedelta(seconds=15))


@pytest.mark.usefixtures("way")
def test_a_flood_does_not_fill_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        statuses(HERE, 20)
    assert caplog.records == []
