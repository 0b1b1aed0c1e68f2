"""Health, status, metrics and logs: what operators of the dashboard see."""

import json
import os
import re
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import httpx
import pytest
from django.conf import settings as django_settings
from pydantic import RedisDsn, SecretStr
from selectolax.lexbor import LexborHTMLParser as HTMLParser

from intents_ui.asgi import application
from intents_ui.ops import sentry
from intents_ui.service.health import OUTCOMES
from intents_ui.service.results import ServiceState
from intents_ui.settings import Environment
from tests import canary
from tests.gunicorn_constants import PAGE_TIMEOUT, POLICIES, constants
from tests.production import ENV, SECRET, Production, figures, started, workers_of
from tests.service.scripted_server import Visit, response, serving
from tests.service.upstream import BAD, good
from tests.serving import ROOT
from tests.url_patterns import url_patterns
from tests.waiting import PATIENCE, until

OPERATIONS = ROOT / "docs" / "operations.md"


def test_readiness_reports_known_facts_without_a_service_call(production: Production) -> None:
    assert production.get(production.intent()).status_code == 200
    before = len(production.service.visits)
    answer = production.get("/readyz", Host="10.0.0.7:8000")  # as a load balancer does
    assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-store")
    result = answer.json()
    assert (result["ready"], result["stopping"], result["redis"]) == (True, False, True)
    assert result["service"]["state"] == "up"
    assert 0 <= result["service"]["last_response_seconds_ago"] < PATIENCE
    assert result["service"]["median_ms"] > 0
    assert result["service"]["degraded_for_seconds"] is None
    assert len(production.service.visits) == before
    assert production.client.post(f"{production.root}/readyz").status_code == 405


def test_a_wide_trusted_network_is_logged_and_a_stopping_process_finishes_its_requests(tmp_path: Path) -> None:
    released = threading.Event()
    numbers = count()

    def slow(visit: Visit) -> None:
        """Keep back an intent, and send an endless list slowly."""
        if visit.operation == "GetIntent":
            released.wait(PATIENCE)
        if visit.operation != "GetIntentHistory":
            good(visit)
        elif not visit.closing.wait(0.05):
            number = next(numbers)
            entry = {"intentId": f"0x{number:064x}", "status": "SUCCEEDED"}
            following = {"column": "id", "after": number, "more": True}
            visit.send(response({"intents": [entry], "nextPage": following}))

    limits = constants(**{POLICIES: {"moving": {"read": 60, "total": 60}}, PAGE_TIMEOUT: 60.0})
    limits |= {"TRUSTED_PROXIES": "203.0.113.1,8.0.0.0/8"}
    with (
        serving(slow) as service,
        started(tmp_path / "log", INTENTS_SERVICE_URL=service.url, **SECRET, **limits) as (root, process),
        httpx.Client(base_url=root, trust_env=False, timeout=PATIENCE) as client,
        ThreadPoolExecutor(2) as threads,
    ):
        before = client.get("/readyz")
        assert (before.status_code, before.json()["redis"]) == (200, None)
        warnings = [line for line in (tmp_path / "log").read_text().splitlines() if "TRUSTED_PROXIES" in line]
        assert len(warnings) == 1
        assert "8.0.0.0/8 is so wide that clients are in it" in warnings[0]
        page = threads.submit(httpx.get, f"{root}/intent/0x{1:064x}", trust_env=False, timeout=PATIENCE)
        export = threads.submit(httpx.get, f"{root}/export/history.csv", trust_env=False, timeout=PATIENCE)
        until(lambda: {"GetIntent", "GetIntentHistory"} <= {visit.operation for visit in service.visits})
        until(lambda: sum(visit.operation == "GetIntentHistory" for visit in service.visits) > 1)
        process.terminate()
        until(lambda: client.get("/readyz").status_code == 503)  # over the open connection
        assert not page.done()
        released.set()
        assert page.result(PATIENCE).status_code == 200
        assert export.result(PATIENCE).text.splitlines()[-1].endswith("dashboard restart")
        assert process.wait(PATIENCE) == 0
    # The one request read each page of the list.
    calls = [visit.headers["x-request-id"] for visit in service.visits if visit.operation == "GetIntentHistory"]
    assert len(calls) > 1
    assert len({call.partition(".")[0] for call in calls}) == 1


def test_events_are_counted(production: Production) -> None:
    intent, before = production.intent(), production.figures()
    for _ in range(3):
        assert production.get("/help").status_code == 200
    assert production.get("/nowhere/at/all?secret=1").status_code == 404
    assert production.get(intent).status_code == 200
    assert production.get(intent).status_code == 200
    more = production.more_than(before)
    assert more('intents_ui_requests_total{status="200",view="help"}') == 3
    assert more('intents_ui_request_seconds_count{status="2xx",view="help"}') == 3
    assert more('intents_ui_requests_total{status="404",view="none"}') == 1
    assert more('intents_ui_requests_total{status="200",view="intent"}') == 2
    assert more('intents_ui_upstream_seconds_count{operation="GetIntent",outcome="answered"}') == 1
    assert more('intents_ui_data_requests_total{source="service"}') >= 1
    assert more('intents_ui_data_requests_total{source="cache"}') >= 1
    assert production.figures()["process_resident_memory_bytes"] > 20e6


def test_open_connections_are_reported_while_a_page_is_live(production: Production) -> None:
    assert production.figures()["intents_ui_redis_up"] == 1
    live = production.intent("stalled-in-bridge").replace("/intent/", "/live/")
    with httpx.stream("GET", production.root + live, trust_env=False, timeout=PATIENCE) as stream:
        pieces = stream.iter_bytes()  # keeps a reference, otherwise the connection would be closed
        next(pieces)
        result = production.figures()
        assert (result["intents_ui_streams"], result["intents_ui_watched_intents"]) == (1, 1)
        assert facts(production.get("/status").text)["Open live pages"] == "1"
        assert result["intents_ui_task_restarts_total"] == 0
    until(lambda: production.figures()["intents_ui_streams"] == 0)
    assert production.figures()["intents_ui_processes"] == 1


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        pytest.param({}, 200, id="this machine"),
        pytest.param({"Host": "10.1.0.5:8000"}, 200, id="under an address"),
        pytest.param({"X-Forwarded-For": "10.1.2.3"}, 200, id="a network that is named"),
        pytest.param({"X-Forwarded-For": "203.0.113.7"}, 403, id="another"),
        pytest.param({"X-Forwarded-For": "127.0.0.1, 203.0.113.7"}, 403, id="another that says it is us"),
        pytest.param({"Host": "evil.example"}, 403, id="a name that somebody points at us"),
    ],
)
def test_metrics_are_visible_only_to_allowed_clients(
    production: Production, headers: dict[str, str], status: int
) -> None:
    assert production.get("/metrics", **headers).status_code == status


STRANGER = {"X-Forwarded-For": "203.0.113.7"}


def test_readiness_and_status_reveal_no_internals_to_strangers(production: Production) -> None:
    assert production.get(production.intent()).status_code == 200
    result = production.get("/readyz", **STRANGER)
    assert (result.status_code, result.json()) == (200, {"ready": True, "stopping": False})
    assert production.ready().keys() > {"ready", "stopping", "redis", "service"}
    page = facts(production.get("/status", **STRANGER).text)
    assert page.keys() == {"state", "Chains", "Tokens", "Updated", "Coverage"}
    assert facts(production.get("/status").text).keys() > page.keys()
    assert "no-store" in production.get("/status", **STRANGER).headers["Cache-Control"]


async def test_a_proxy_that_is_not_listed_is_not_trusted() -> None:
    local = httpx.ASGITransport(application, client=("127.0.0.1", 50_000))
    async with httpx.AsyncClient(transport=local, base_url="http://127.0.0.1") as client:
        assert (await client.get("/metrics")).status_code == 200
        for header in ("X-Forwarded-For", "Forwarded", "X-Real-IP", "Via"):
            assert (await client.get("/metrics", headers={header: "127.0.0.1"})).status_code == 403, header
        answer = await client.get("/help", headers={"X-Request-Id": "from-a-visitor"})
    assert re.fullmatch("[0-9a-f]{12}", answer.headers["X-Request-Id"])


def test_no_metric_label_contains_user_input(production: Production) -> None:
    production.get(f"{production.intent()}?q=hunter2")
    production.get(f"/address/0x{'3' * 40}")
    production.client.request("FROB", f"{production.root}/search")
    result = production.get("/metrics").text
    for word in ("0x", "hunter2", "FROB", "127.0.0.1"):
        assert word not in result
    views = set(re.findall(r'view="([^"]*)"', result))
    names = {pattern.name or pattern.lookup_str for pattern in url_patterns()}
    assert views <= names | {"none", "static", "live", "rpc"}


def test_the_documentation_lists_exactly_the_exported_metrics(production: Production) -> None:
    assert production.get(production.intent()).status_code == 200
    text = production.get("/metrics").text
    kinds = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE))
    rows = {
        name: (kind, set(re.findall(r"`(\w+)`", labels)), meaning)
        for name, kind, labels, meaning in re.findall(
            r"^\| `((?:intents_ui|process)_\w+)` \| (\w+) \| ([^|]*)\| (.+) \|$", OPERATIONS.read_text(), re.MULTILINE
        )
    }
    assert {name: kind for name, (kind, _, _) in rows.items()} == kinds
    for name, (_, labels, _) in rows.items():
        series = re.findall(rf"^{name}(?:_bucket|_count|_sum)?{{(.*)}} ", text, re.MULTILINE)
        found = {label for each in series for label in re.findall(r"(\w+)=", each)} - {"le"}
        assert found == labels, name
    outcomes = {"answered", "canceled", *OUTCOMES.values()}
    assert all(f"`{value}`" in rows["intents_ui_upstream_seconds"][2] for value in outcomes)
    assert 'intents_ui_mirror_seconds{condition="hole"} 14400.0' in text
    assert all(f"`{state}`" in OPERATIONS.read_text() for state in ServiceState)


@pytest.mark.programs
def test_several_processes_behind_one_port_report_their_sums(production: Production, tmp_path: Path) -> None:
    env = {**ENV, "WEB_CONCURRENCY": "2", "INTENTS_SERVICE_URL": production.service.url}
    with started(tmp_path / "log", **env) as (root, process), ExitStack() as stack:
        # A connection stays with one process, so several are needed to reach both.
        clients = [stack.enter_context(httpx.Client(trust_env=False, timeout=PATIENCE)) for _ in range(12)]

        def scraped(client: httpx.Client) -> dict[str, float]:
            return figures(client.get(f"{root}/metrics").text)

        until(lambda: scraped(clients[0])["intents_ui_processes"] == 2)
        for client in clients:
            assert client.get(f"{root}/help").status_code == 200
        of_help = 'intents_ui_requests_total{status="200",view="help"}'
        assert [scraped(client)[of_help] for client in clients] == [12] * 12
        first, second = workers_of(process.pid)
        os.kill(first, signal.SIGTERM)
        until(lambda: len(set(workers_of(process.pid)) - {first, second}) == 1)

        def settled() -> bool:
            now = figures(httpx.get(f"{root}/metrics", trust_env=False, timeout=PATIENCE).text)
            assert now[of_help] == 12
            return now["intents_ui_processes"] == 2

        until(settled)


def test_each_request_of_a_page_is_logged_on_one_line(production: Production) -> None:
    told = {"User-Agent": "hunter2", "Referer": f"{production.root}/hunter2", "X-Request-Id": "from-our-proxy-1"}
    production.get("/hunter2?secret=hunter2", **told)
    answer = production.get(production.intent())
    until(lambda: production.lines()[-1]["request_id"] == answer.headers["X-Request-Id"])
    one, other = production.lines()[-2:]
    assert (one["method"], one["view"], one["status"], one["calls"]) == ("GET", "none", 404, 0)
    assert one["request_id"] == "from-our-proxy-1"
    assert other["view"] == "intent"
    assert other["bytes"] >= len(answer.content) / 10  # as it was sent
    assert other["ms"] > 0
    calls = [visit.headers["x-request-id"] for visit in production.service.visits]
    assert sorted(each for each in calls if each.startswith(other["request_id"])) == [
        f"{other['request_id']}.{number}" for number in range(1, other["calls"] + 1)
    ]
    assert "hunter2" not in production.log.read_text()
    production.get("/healthz")
    production.get("/static/img/mark.svg")
    assert production.lines()[-1] == other


def test_in_json_mode_the_server_says_in_json_that_it_is_ready(production: Production) -> None:
    ready = json.loads(production.log.read_text().splitlines()[0])
    assert ready["message"].startswith(f"intents-ui is ready on {production.root} (127.0.0.1).")


@pytest.mark.parametrize("given", ["short", "x" * 65, "odd id with spaces", "<b>12345678</b>"])
def test_a_malformed_request_id_is_replaced(production: Production, given: str) -> None:
    answer = production.get("/help", **{"X-Request-Id": given})
    assert re.fullmatch("[0-9a-f]{12}", answer.headers["X-Request-Id"])


def test_an_error_names_its_call_and_the_call_names_its_request(
    production: Production, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One page of a failing service. More would open the circuit breaker."""
    before = production.figures()
    monkeypatch.setattr(production.service, "does", BAD)
    failure = production.get(production.intent())
    assert failure.status_code == 503
    request_id = failure.headers["X-Request-Id"]
    (reference,) = set(re.findall(rf"{request_id}\.[0-9]+", failure.text.partition("</main>")[0]))
    failed = [line for line in production.lines("intents_ui.service") if reference in line["message"]]
    assert {line["request_id"] for line in failed} == {request_id}

    more = production.more_than(before)
    assert more('intents_ui_requests_total{status="503",view="intent"}') == 1
    assert more('intents_ui_request_seconds_count{status="5xx",view="intent"}') == 1
    assert more('intents_ui_upstream_seconds_count{operation="GetIntent",outcome="unreachable"}') >= 1
    assert more('intents_ui_upstream_retries_total{outcome="sent"}') >= 1
    assert production.figures()['intents_ui_service_state{state="degraded"}'] == 1

    result = facts(production.get("/status").text)
    assert result["state"] == "Degraded"
    assert {"Degraded since", "Last response", "Last error"} < result.keys()

    # Nor does the process leave the load balancer.
    answer = production.get("/readyz")
    assert answer.status_code == 200
    result = answer.json()["service"]
    assert result["state"] == "degraded"
    assert result["degraded_for_seconds"] >= result["last_failure_seconds_ago"] >= 0
    monkeypatch.undo()
    assert production.get(production.intent()).status_code == 200
    assert production.ready()["service"]["state"] == "up"


@pytest.mark.programs
def test_a_redis_outage_does_not_make_a_process_unready(production: Production) -> None:
    production.redis.down()
    until(lambda: production.ready()["redis"] is False)
    assert production.get("/readyz").status_code == 200
    assert production.get("/help").status_code == 200
    assert production.figures()["intents_ui_redis_up"] == 0
    production.redis.up()
    until(lambda: production.ready()["redis"] is True)


def test_the_status_page_reports_the_service_without_calling_it(production: Production) -> None:
    assert production.get("/chains").status_code == 200
    answer = production.get("/status")
    result = facts(answer.text)
    assert result["state"] == "Operational"
    assert result["Last response"].endswith(" UTC")
    assert re.fullmatch(r"\d+ ms|\d+\.\d s", result["Median response time"])
    assert re.match(r"\d+ chains, last updated .* UTC", result["Chains"])
    calls = [visit.headers["x-request-id"] for visit in production.service.visits]
    assert not [each for each in calls if each.startswith(answer.headers["X-Request-Id"])]


def facts(page: str) -> dict[str, str]:
    """Return the status page's facts by name, and the service's state."""
    main = HTMLParser(page).css_first("main")
    assert main is not None
    rows = ((row.css_first("dt"), row.css_first("dd")) for row in main.css("dl > div"))
    result = {name.text(strip=True): value.text().strip() for name, value in rows if name and value}
    state = main.css_first(".status")
    return result | {"state": state.text(strip=True) if state else ""}


SECRET_SETTINGS = [name for name, field in Environment.model_fields.items() if "SecretStr" in str(field.annotation)]


def an_event(text: str) -> dict[str, Any]:
    """Return an error report that has the text in every kind of part, as names and as values."""
    return {
        "message": text,
        "logentry": {"message": "%s", "params": [text, 3, None, 0.5, True], "formatted": text},
        "exception": {"values": [{"value": text, "vars": {text: repr(text)}}]},
        "request": {"url": text, "query_string": quote(text), "Cookie": quote_plus(text), "data": json.dumps([text])},
    }


@pytest.mark.parametrize("name", SECRET_SETTINGS)
def test_no_part_of_an_error_report_has_a_secret(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    secret = f"postgres://name:{canary.KEY}%2F'\"\\é&@host/x,second:{canary.KEY}:x"
    monkeypatch.setattr(sentry.ENV, name, SecretStr(secret))
    hidden = sentry.without_secrets(an_event(f"with {secret} and more"))
    assert "canary" not in repr(hidden)
    assert hidden["message"] == "with … and more"
    assert hidden["logentry"]["params"][1:] == [3, None, 0.5, True]
    for part in (f"password={canary.KEY}/'\"\\é&", f"second:{canary.KEY}:x"):
        assert "canary" not in repr(sentry.without_secrets(an_event(part)))


@pytest.mark.parametrize(
    "url",
    [
        "redis://:canary@127.0.0.1:6379/0",
        "rediss://default:canary%2F@host.example/0?ssl=1",
        "postgres://name:p@ss:canary@db/mirror",
        "https://canary@sentry.example/4711",
        "could not connect to HTTPS://user:canary@[::1]:443/path: refused",
    ],
)
def test_no_part_of_an_error_report_has_the_user_of_a_url(url: str) -> None:
    hidden = sentry.without_secrets(an_event(url))
    assert "canary" not in repr(hidden)
    assert hidden["message"] == re.sub("://.*@", "://…@", url)


def test_no_part_of_an_error_report_has_the_password_of_redis_or_the_generated_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sentry.ENV, "redis_url", RedisDsn("redis://:canary%2F4711@127.0.0.1:6379/0"))
    for written in ("canary%2F4711", "canary/4711", django_settings.SECRET_KEY):
        assert written not in repr(sentry.without_secrets(an_event(f"AUTH {written} failed")))
