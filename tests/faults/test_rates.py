"""Inbound rate limits: who is counted, what a rejected client sees, and that nothing it sends passes its limit."""

import hashlib
import ipaddress
import json
import logging
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, Final

import httpx
import pytest
import time_machine
from django.core.signals import request_started
from django.test import Client

from intents_ui import app
from intents_ui.emulator.app import Emulator
from intents_ui.http import api_access, limits
from intents_ui.http.limits import REQUESTS, SEARCH
from intents_ui.service.health import Health
from intents_ui.settings import ENV
from tests.faults.test_shares import in_hand
from tests.pages import asgi
from tests.pages.conftest import fresh
from tests.pages.reading import PARTIAL
from tests.pages.recorded import Recorded, recorded
from tests.tables import toml

NOTHING = "0x" + "12" * 32
HERE, OTHER = "203.0.113.7", "198.51.100.7"
LIMITS: Final = toml(__file__, "requests")["limits"]
TOKEN, USED_UP = "a token of the test", "a token without units"


@pytest.fixture
def emulator(clock: time_machine.Traveller) -> Iterator[Emulator]:
    yield from fresh()


@pytest.fixture
def way(emulator: Emulator) -> Iterator[Recorded]:
    """A client may ask for one page a second, and for eight at once: it has had the others."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ENV, "intents_rate_pages", 1)
        with recorded(emulator) as way:
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
def test_an_untrusted_proxy_is_logged_once(caplog):
    assert visit(HERE, headers={"X-Forwarded-For": "192.0.2.99"}).status_code == 200
    warnings = [record for record in caplog.records if "is not in TRUSTED_PROXIES" in record.getMessage()]
    assert warnings
    assert all(record.__dict__["once"] for record in warnings)


@pytest.mark.usefixtures("way")
def test_behind_a_trusted_proxy_each_client_has_a_limit(monkeypatch):
    monkeypatch.setattr(ENV, "trusted_proxies", [ipaddress.ip_network("10.0.0.0/8")])
    for number in range(3):
        has(f"203.0.113.{number}", 8)
        passed_on = {"X-Forwarded-For": f"192.0.2.99, 203.0.113.{number}"}
        assert statuses("10.0.0.1", 9, headers=passed_on) == [200] * 8 + [429]
    moved = {"X-Forwarded-For": "192.0.2.1, 203.0.113.0"}
    assert visit("10.0.0.1", headers=moved).status_code == 429, "what it wrote before the proxy did is not believed"


@pytest.mark.usefixtures("way")
def test_static_files_localhost_and_requests_without_an_address_are_not_counted():
    has(HERE, 8)
    assert statuses(HERE, 30, "/static/img/mark.svg") == [200] * 30
    assert statuses(HERE, 8) == [200] * 8
    for address in ("127.0.0.1", "127.8.8.8", "::1", ""):
        assert statuses(address, 12) == [200] * 12, address


@pytest.mark.parametrize("requested", LIMITS["costly"])
def test_what_takes_many_service_calls_counts_as_several_pages(way, requested):
    method, _, path = requested.replace("{NOTHING}", NOTHING).partition(" ")
    path, _, query = path.partition("?")
    has(HERE, 2 * SEARCH + 3)
    asked = {"REMOTE_ADDR": HERE, "QUERY_STRING": query}
    result = [Client().generic(method, path, **asked).status_code for _ in range(3)]
    assert 429 not in result[:2]
    assert result[2] == 429
    assert statuses(HERE, 3) == [200, 200, 429], "of what was left, the search cost a page"


def test_a_body_is_counted_by_its_size(way):
    has(HERE, 60)
    body = {"data": f"q={'+' * 50_000}", "content_type": "application/x-www-form-urlencoded"}
    assert [Client().post("/triage", **body, REMOTE_ADDR=HERE).status_code for _ in range(2)] == [400, 429]


def test_a_rejected_client_costs_the_service_nothing(way):
    has(HERE, 0)
    way.sent.clear()
    for path in ("/", "/history", f"/intent/{NOTHING}", f"/search?q={NOTHING}", "/tokens", "/export/history.csv"):
        assert visit(HERE, path).status_code == 429, path
    assert way.sent == []


@pytest.mark.usefixtures("way")
def test_the_429_page_says_what_happened_for_how_long_and_what_to_do():
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
def test_fragments_files_and_programs_get_429_in_their_own_format():
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
    problem = json.loads(ask(HERE, "/api/v1/transfers").text)
    assert (problem["status"], problem["retryAfter"]) == (429, 1)
    told = json.loads(ask(HERE, "/mcp", "POST").text)
    assert told["error"]["data"]["retryAfter"] == 1


@pytest.mark.usefixtures("emulator")
def test_an_office_behind_one_address_can_work(clock):
    """By the defaults: twenty people, each of whom looks something up every fifteen seconds, and reads on there."""
    has(HERE, 240)
    for _ in range(4):
        for _ in range(20):
            assert visit(HERE, f"/search?q=0x{'1' * 39}").status_code == 400
            assert statuses(HERE, 5) == [200] * 5
        clock.shift(timedelta(seconds=15))


@pytest.mark.usefixtures("way")
def test_a_flood_does_not_fill_the_log(caplog):
    with caplog.at_level(logging.INFO):
        statuses(HERE, 20)
    assert caplog.records == []


# Through the front door, with nothing left


def entry(name: str, token: str) -> str:
    return f"{name}:{hashlib.sha256(token.encode()).hexdigest()}:60"


@pytest.fixture
def used_up(emulator: Emulator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave nothing to a client, to those without an address that can be read, and to one of two tokens."""
    monkeypatch.setitem(vars(ENV), "api_tokens", api_access.parse(f"{entry('own', TOKEN)},{entry('spent', USED_UP)}"))
    for client in (HERE, "unreadable", "token spent"):
        has(client, 0)


def ask(peer: str, path: str, method: str = "GET", **headers: str) -> httpx.Response:
    return asgi.ask(method, f"http://localhost{path}", peer=peer, headers=headers)


HEADERS: Final[list[dict[str, str]]] = [
    *({"X-Forwarded-For": value} for value in LIMITS["forwarded"]),
    *({name: "192.0.2.1"} for name in LIMITS["names"]),
    *LIMITS["headers"],
]
PROGRAMS: Final = ("/api/v1/transfers?size=1", "/api/v1/lookup?q=xx", "/mcp")


def is_limited(answer: httpx.Response) -> bool:
    return answer.status_code == 429 and int(answer.headers["Retry-After"]) > 0


@pytest.mark.usefixtures("used_up")
@pytest.mark.parametrize("headers", HEADERS, ids=str)
def test_no_header_passes_the_limit(headers):
    assert is_limited(ask(HERE, "/help", **headers))
    assert not is_limited(ask(OTHER, "/help", **headers))


@pytest.mark.usefixtures("used_up")
@pytest.mark.parametrize(
    ("method", "path"),
    [*(("GET", path) for path in LIMITS["paths"]), *((method, "/help") for method in LIMITS["methods"])],
)
def test_no_path_and_no_method_passes_the_limit(method, path):
    path = path.replace("{NOTHING}", NOTHING)
    if path.startswith(("/live/", "/rpc/")):  # which are counted in the process, as all are in this test
        app.current().rate_limiter.consume_here(HERE, 1)
    assert is_limited(ask(HERE, path, method))


@pytest.mark.usefixtures("used_up")
@pytest.mark.parametrize("path", PROGRAMS)
@pytest.mark.parametrize("token", [USED_UP, "an unknown token", "", "own", TOKEN[:-1], f"{TOKEN} {USED_UP}"])
def test_no_token_but_one_with_units_passes_the_limit(path, token):
    assert is_limited(ask(HERE, path, Authorization=f"Bearer {token}"))
    assert not is_limited(ask(HERE, path, Authorization=f"Bearer {TOKEN}"))


@pytest.mark.usefixtures("used_up")
@pytest.mark.parametrize("path", ["/help", "/newest", "/static/img/mark.svg", "/api/v1/transfers", "/mcp", "/x.json"])
@pytest.mark.parametrize("headers", [{}, PARTIAL, PARTIAL | {"HX-Target": "div#list"}], ids=["page", "part", "list"])
def test_a_rejection_at_the_door_takes_neither_django_nor_a_thread(path, headers):
    begun: list[Any] = []

    def note(**_: Any) -> None:
        begun.append(path)

    request_started.connect(note)
    with in_hand(HERE, each=REQUESTS // 8):
        assert is_limited(ask(HERE, path, **headers))
    request_started.disconnect(note)
    assert begun == []


@pytest.mark.usefixtures("used_up")
def test_a_rejection_during_maintenance_is_the_same_as_after_it(monkeypatch):
    monkeypatch.setattr(Health, "is_paused", property(lambda _: True))
    with in_hand(*(f"192.0.2.{number}" for number in range(8)), each=REQUESTS // 8):
        paused = ask(OTHER, "/help")
        monkeypatch.undo()
        after = ask(OTHER, "/help")
    assert (paused.status_code, paused.text) == (503, after.text)
    assert "paused" not in paused.text
