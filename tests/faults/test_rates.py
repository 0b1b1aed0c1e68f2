"""Inbound rate limits and concurrency limits: who is counted, and what a rejected visitor sees."""

import ipaddress
import json
import logging
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client

from intents_ui.emulator.app import Emulator
from intents_ui.middleware import request_limits
from intents_ui.settings import ENV
from intents_ui.web.rate_limiter import Limit
from tests.pages.conftest import fresh, renew
from tests.pages.recorded import Recorded, recorded

NOTHING = "0x" + "12" * 32
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
    """A visitor may ask for one page a second, eight at once, and for two searches a minute."""
    renew("redis_guard")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ENV, "intents_rate_pages", 1)
        patch.setattr(ENV, "intents_rate_searches", 2)
        with recorded(emulator, patch) as way:
            yield way


def visit(address: str, path: str = "/robots.txt", **how: Any) -> Any:
    """Somebody who comes from there; what he asks for as a rule costs little."""
    answer = Client().get(path, REMOTE_ADDR=address, **how)
    answer.close()
    return answer


def statuses(address: str, count: int, path: str = "/robots.txt", **how: Any) -> list[int]:
    return [visit(address, path, **how).status_code for _ in range(count)]


@pytest.mark.usefixtures("way")
def test_an_address_has_a_burst_and_then_a_steady_rate_of_pages(clock: time_machine.Traveller) -> None:
    assert statuses("203.0.113.7", 10) == [200] * 8 + [429] * 2
    clock.shift(timedelta(seconds=2))
    assert statuses("203.0.113.7", 3) == [200, 200, 429]
    clock.shift(timedelta(seconds=60))
    assert statuses("203.0.113.7", 9) == [200] * 8 + [429]


@pytest.mark.usefixtures("way")
def test_client_supplied_headers_do_not_change_who_is_counted(caplog: pytest.LogCaptureFixture) -> None:
    names = ("X-Forwarded-For", "Forwarded", "X-Real-IP", "X_Forwarded_For", "Client-IP", "CF-Connecting-IP")
    for number in range(8):
        header = {names[number % len(names)]: f"192.0.2.{number}"}
        assert visit("203.0.113.7", headers=header).status_code == 200
    assert visit("203.0.113.7", headers={"X-Forwarded-For": "192.0.2.99"}).status_code == 429
    assert visit("203.0.113.7", headers={"X-Forwarded-For": "127.0.0.1"}).status_code == 429
    warnings = [record for record in caplog.records if "is not in TRUSTED_PROXIES" in record.getMessage()]
    assert warnings
    assert all(record.__dict__["once"] for record in warnings)


@pytest.mark.usefixtures("way")
def test_behind_a_trusted_proxy_each_visitor_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ENV, "trusted_proxies", [ipaddress.ip_network("10.0.0.0/8")])
    for number in range(3):
        passed_on = {"X-Forwarded-For": f"192.0.2.99, 203.0.113.{number}"}
        assert statuses("10.0.0.1", 9, headers=passed_on) == [200] * 8 + [429]
    moved = {"X-Forwarded-For": "192.0.2.1, 203.0.113.0"}
    assert visit("10.0.0.1", headers=moved).status_code == 429, "what he wrote before the proxy did is not believed"


@pytest.mark.usefixtures("way")
def test_static_files_localhost_and_requests_without_an_address_are_not_counted() -> None:
    assert statuses("203.0.113.7", 30, "/static/img/mark.svg") == [200] * 30
    assert statuses("203.0.113.7", 8) == [200] * 8
    for address in ("127.0.0.1", "127.8.8.8", "::1", ""):
        assert statuses(address, 12) == [200] * 12, address


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", f"/search?q=0x{'1' * 39}"),
        ("GET", f"/search?q={NOTHING}"),
        ("GET", f"/tx/{NOTHING}"),
        ("GET", "/export/history.csv?status=LOST"),
        ("POST", "/triage"),
    ],
)
def test_pages_with_many_service_calls_have_a_limit_of_their_own(way: Recorded, method: str, path: str) -> None:
    path, _, query = path.partition("?")
    ask = {"REMOTE_ADDR": "203.0.113.7", "QUERY_STRING": query}
    result = [Client().generic(method, path, **ask).status_code for _ in range(3)]
    assert 429 not in result[:2]
    assert result[2] == 429
    assert visit("203.0.113.7").status_code == 200, "other pages are not meant"


def test_a_rejected_visitor_costs_the_service_nothing(way: Recorded) -> None:
    statuses("203.0.113.7", 8)
    way.sent.clear()
    for path in ("/", "/history", f"/intent/{NOTHING}", f"/search?q={NOTHING}", "/tokens", "/export/history.csv"):
        assert visit("203.0.113.7", path).status_code == 429, path
    assert way.sent == []


@pytest.mark.usefixtures("way")
def test_the_429_page_says_what_happened_for_how_long_and_what_to_do() -> None:
    statuses("203.0.113.7", 8)
    answer = visit("203.0.113.7", "/history")
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
    statuses("203.0.113.7", 8)
    fragment = visit("203.0.113.7", "/newest", headers=PARTIAL)
    assert fragment.status_code == 429
    assert fragment.content.strip().startswith(b'<section class="card failure"')
    of_list = visit("203.0.113.7", "/history", headers=PARTIAL | {"HX-Target": "div#list"})
    assert (of_list.status_code, of_list["HX-Reswap"]) == (429, "afterbegin")
    for path in (f"/intent/{NOTHING}.json", "/export/history.json", "/export/history.ndjson"):
        file = visit("203.0.113.7", path)
        assert (file.status_code, file["Content-Type"]) == (429, "application/json")
        assert json.loads(file.content)["error"] == "Too many requests"


def test_the_default_rates_are_those_of_the_documentation() -> None:
    assert request_limits.pages() == Limit("pages", 160, 8)
    assert request_limits.searches() == Limit("searches", 120, 60)


@pytest.mark.usefixtures("emulator")
def test_an_office_behind_one_address_can_work(clock: time_machine.Traveller) -> None:
    """By the defaults: twenty people, each of whom looks something up every fifteen seconds, and reads on there."""
    for _ in range(4):
        for _ in range(20):
            assert visit("203.0.113.7", f"/search?q=0x{'1' * 39}").status_code == 400
            assert statuses("203.0.113.7", 5) == [200] * 5
        clock.shift(timedelta(seconds=15))


@pytest.mark.usefixtures("way")
def test_streams_of_an_address_are_counted_as_pages() -> None:
    assert [request_limits.wait_to_stream("203.0.113.7") for _ in range(9)] == [0] * 8 + [1]
    assert [request_limits.wait_to_stream(each) for each in ("203.0.113.8", "127.0.0.1", None)] == [0, 0, 0]


@pytest.mark.usefixtures("way")
def test_a_flood_does_not_fill_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        statuses("203.0.113.7", 20)
    assert caplog.records == []
