"""Health, status, metrics and logs: what operators of the dashboard see."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from selectolax.lexbor import LexborHTMLParser as HTMLParser

from intents_ui.display.service_state import STATES, quick
from intents_ui.ops import metrics, telemetry
from intents_ui.service.counters import Event
from intents_ui.service.wire.results import Line, ServiceState
from tests import canary
from tests.conftest import needs
from tests.live.redis_server import RedisServer, redis_running
from tests.service.scripted_server import Script, ScriptedServer, Visit, response, serving
from tests.service.upstream import BAD, good
from tests.serving import ROOT, free_port, wait_for
from tests.url_patterns import url_patterns
from tests.waiting import PATIENCE, until

OPERATIONS = ROOT / "docs" / "operations.md"
SECRET = {"SECRET_KEY": "a key of the test"}
# The client of these tests is a trusted proxy, so that it can use any client address.
ENV = {**SECRET, "LOG_FORMAT": "json", "TRUSTED_PROXIES": "127.0.0.1", "INTENTS_METRICS": "127.0.0.1,10.1.0.0/16"}


class Service(ScriptedServer):
    """A service whose responses `does` decides."""

    def __init__(self) -> None:
        self.does: Script = good
        super().__init__(lambda visit: self.does(visit))


@dataclass
class Site:
    """A dashboard, its service and its log."""

    root: str
    process: subprocess.Popen[bytes]
    service: Service
    redis: RedisServer
    log: Path
    client: httpx.Client

    def get(self, path: str, **headers: str) -> httpx.Response:
        return self.client.get(self.root + path, headers=headers)

    def ready(self) -> dict[str, Any]:
        result: dict[str, Any] = self.get("/readyz").json()
        return result

    def figures(self) -> dict[str, float]:
        """Return each metric series with its value."""
        return figures(self.get("/metrics").text)

    def more_than(self, before: dict[str, float]) -> Callable[[str], float]:
        after = self.figures()
        return lambda name: after.get(name, 0) - before.get(name, 0)

    def lines(self, logger: str = "intents_ui.requests") -> list[dict[str, Any]]:
        lines = [json.loads(line) for line in self.log.read_text().splitlines()]
        return [line for line in lines if line["logger"] == logger]

    @property
    def requested(self) -> list[str]:
        return [visit.operation for visit in self.service.visits]


def figures(text: str) -> dict[str, float]:
    lines = (line.rpartition(" ") for line in text.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, _, value in lines}


@contextmanager
def started(log: Path, **env: str) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    port = free_port()
    command = [sys.executable, "-m", "gunicorn", "--config", "gunicorn.conf.py"]
    with log.open("wb") as file:
        process = subprocess.Popen(command, cwd=ROOT, env=os.environ | {"PORT": str(port)} | env, stderr=file)
    try:
        wait_for(f"http://127.0.0.1:{port}/healthz", process)
        yield f"http://127.0.0.1:{port}", process
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, sample_mirror: str) -> Iterator[Site]:
    service = Service()
    log = tmp_path_factory.mktemp("site") / "log"
    try:
        with (
            redis_running(needs("redis-server", "apt-get install redis-server")) as redis,
            started(
                log, INTENTS_SERVICE_URL=service.url, REDIS_URL=redis.url, INTENTS_DATABASE=sample_mirror, **ENV
            ) as (root, process),
            httpx.Client(trust_env=False, timeout=PATIENCE) as client,
        ):
            yield Site(root, process, service, redis, log, client)
    finally:
        service.close()


@pytest.fixture
def site(place: Site) -> Site:
    place.service.does = good
    return place


def intent(number: int) -> str:
    return f"/intent/0x{number:064x}"


def test_readiness_reports_known_facts_without_a_service_call(site: Site) -> None:
    assert site.get(intent(1)).status_code == 200
    before = len(site.requested)
    answer = site.get("/readyz", Host="10.0.0.7:8000")  # as a load balancer does
    assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-store")
    result = answer.json()
    assert (result["ready"], result["stopping"], result["templates"], result["redis"]) == (True, False, True, True)
    assert result["service"]["state"] == "up"
    assert 0 <= result["service"]["last_response_seconds_ago"] < PATIENCE
    assert result["service"]["median_ms"] > 0
    assert result["service"]["degraded_for_seconds"] is None
    assert len(site.requested) == before
    assert site.client.post(f"{site.root}/readyz").status_code == 405


def slow(visit: Visit) -> None:
    """Yield a slow service with an endless list."""
    number = time.monotonic_ns()
    visit.closing.wait({"GetIntent": 2.0, "GetIntentHistory": 0.2}.get(visit.operation, 0.0))
    if visit.operation == "GetIntentHistory":
        following = {"column": "id", "after": number, "more": True}
        entry = {"intentId": f"0x{number:064x}", "status": "SUCCEEDED"}
        visit.send(response({"intents": [entry], "nextPage": following}))
    else:
        good(visit)


def test_a_stopping_process_is_not_ready_and_finishes_its_requests(tmp_path: Path) -> None:
    with (
        serving(slow) as service,
        started(tmp_path / "log", INTENTS_SERVICE_URL=service.url, **SECRET) as (root, process),
        httpx.Client(base_url=root, trust_env=False, timeout=PATIENCE) as client,
        ThreadPoolExecutor(2) as threads,
    ):
        before = client.get("/readyz")
        assert (before.status_code, before.json()["redis"]) == (200, None)
        page = threads.submit(httpx.get, root + intent(1), trust_env=False, timeout=PATIENCE)
        export = threads.submit(httpx.get, f"{root}/export/history.csv", trust_env=False, timeout=PATIENCE)
        until(lambda: {"GetIntent", "GetIntentHistory"} <= {visit.operation for visit in service.visits})
        until(lambda: sum(visit.operation == "GetIntentHistory" for visit in service.visits) > 1)
        process.terminate()
        until(lambda: client.get("/readyz").status_code == 503)  # over the open connection
        assert not page.done()
        assert page.result(PATIENCE).status_code == 200
        assert export.result(PATIENCE).text.splitlines()[-1].endswith("dashboard restart")
        assert process.wait(PATIENCE) == 0
    # The one request read each page of the list.
    calls = [visit.headers["x-request-id"] for visit in service.visits if visit.operation == "GetIntentHistory"]
    assert len(calls) > 1
    assert len({call.partition(".")[0] for call in calls}) == 1


def test_events_are_counted(site: Site) -> None:
    before = site.figures()
    for _ in range(3):
        assert site.get("/help").status_code == 200
    assert site.get("/nowhere/at/all?secret=1").status_code == 404
    assert site.get(intent(10)).status_code == 200
    assert site.get(intent(10)).status_code == 200
    more = site.more_than(before)
    assert more('intents_ui_requests_total{status="200",view="help"}') == 3
    assert more('intents_ui_request_seconds_count{status="2xx",view="help"}') == 3
    assert more('intents_ui_requests_total{status="404",view="none"}') == 1
    assert more('intents_ui_requests_total{status="200",view="intent"}') == 2
    assert more('intents_ui_upstream_seconds_count{operation="GetIntent",outcome="answered"}') == 1
    assert more('intents_ui_data_requests_total{source="service"}') >= 1
    assert more('intents_ui_data_requests_total{source="cache"}') >= 1
    assert site.figures()["process_resident_memory_bytes"] > 20e6


def test_open_connections_and_pages_are_reported(site: Site) -> None:
    assert site.figures()["intents_ui_redis_up"] == 1
    with httpx.stream("GET", f"{site.root}/live/0x{20:064x}", trust_env=False, timeout=PATIENCE) as stream:
        pieces = stream.iter_bytes()
        next(pieces)
        result = site.figures()
        assert (result["intents_ui_streams"], result["intents_ui_watched_intents"]) == (1, 1)
        assert facts(site.get("/status").text)["Open live pages"] == "1"
        figures_of_bus = {name: result[name] for name in result if 'task="live bus"' in name}
        assert figures_of_bus.keys() == {
            'intents_ui_task_heartbeat_age_seconds{task="live bus"}',
            'intents_ui_task_restarts_total{task="live bus"}',
        }
    until(lambda: site.figures()["intents_ui_streams"] == 0)
    assert site.figures()["intents_ui_processes"] == 1


def test_every_background_task_has_a_heartbeat_while_a_page_is_live(site: Site) -> None:
    with httpx.stream("GET", f"{site.root}/live/0x{21:064x}", trust_env=False, timeout=PATIENCE) as stream:
        pieces = stream.iter_bytes()  # keeps a reference, otherwise the connection would be closed
        next(pieces)
        tasks = site.ready()["tasks"]
        assert tasks.keys() == {"live bus", "live streams", "watch"}
        assert {task["restarts"] for task in tasks.values()} == {0}
        assert tasks["live bus"]["heartbeat_seconds_ago"] < PATIENCE


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
def test_metrics_are_visible_only_to_allowed_clients(site: Site, headers: dict[str, str], status: int) -> None:
    assert site.get("/metrics", **headers).status_code == status


STRANGER = {"X-Forwarded-For": "203.0.113.7"}


def test_readiness_and_status_reveal_no_internals_to_strangers(site: Site) -> None:
    assert site.get(intent(40)).status_code == 200
    result = site.get("/readyz", **STRANGER)
    assert (result.status_code, result.json()) == (200, {"ready": True, "stopping": False})
    assert site.ready().keys() > {"ready", "stopping", "redis", "tasks", "service"}
    page = facts(site.get("/status", **STRANGER).text)
    assert page.keys() == {"state", "Chains", "Tokens", "Updated", "Coverage"}
    assert facts(site.get("/status").text).keys() > page.keys()
    assert "no-store" in site.get("/status", **STRANGER).headers["Cache-Control"]


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "X-Real-IP", "Via"])
def test_an_unlisted_proxy_gets_no_metrics(server: str, header: str) -> None:
    assert httpx.get(f"{server}/metrics", trust_env=False, timeout=PATIENCE).status_code == 200
    assert (
        httpx.get(f"{server}/metrics", headers={header: "127.0.0.1"}, trust_env=False, timeout=PATIENCE).status_code
        == 403
    )


def test_no_metric_label_contains_user_input(site: Site) -> None:
    site.get(f"{intent(30)}?q=hunter2")
    site.get(f"/address/0x{'3' * 40}")
    site.client.request("FROB", f"{site.root}/search")
    result = site.get("/metrics").text
    for word in ("0x", "hunter2", "FROB", "127.0.0.1"):
        assert word not in result
    views = set(re.findall(r'view="([^"]*)"', result))
    names = {pattern.name or pattern.lookup_str for pattern in url_patterns()}
    assert views <= names | {"none", "static", "live", "rpc"}


def test_the_documentation_lists_exactly_the_exported_metrics(site: Site) -> None:
    assert site.get(intent(40)).status_code == 200
    text = site.get("/metrics").text
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
    for name, values in {
        "intents_ui_upstream_seconds": {"answered", "canceled", *metrics.OUTCOMES.values()},
        "intents_ui_breaker_open": set(Line),
    }.items():
        assert all(f"`{value}`" in rows[name][2] for value in values), name
    assert 'intents_ui_mirror_seconds{condition="hole"} 14400.0' in text
    assert set(Event) - metrics.OF_EVENTS.keys() == {Event.CALL, Event.FAILED}  # the histogram has them
    assert all(f"`{state}`" in OPERATIONS.read_text() for state in ServiceState)


@pytest.mark.slow
def test_several_processes_behind_one_port_report_their_sums(site: Site, tmp_path: Path) -> None:
    env = {**ENV, "WEB_CONCURRENCY": "2", "INTENTS_SERVICE_URL": site.service.url, "LOG_FORMAT": "text"}
    with started(tmp_path / "log", **env) as (root, process), ExitStack() as stack:
        until(
            lambda: (
                figures(httpx.get(f"{root}/metrics", trust_env=False, timeout=PATIENCE).text)["intents_ui_processes"]
                == 2
            )
        )
        # A connection stays with one process, so several are needed to reach both.
        clients = [stack.enter_context(httpx.Client(trust_env=False, timeout=PATIENCE)) for _ in range(12)]
        for client in clients:
            assert client.get(f"{root}/help").status_code == 200
        result = [figures(client.get(f"{root}/metrics").text) for client in clients]
        assert [each['intents_ui_requests_total{status="200",view="help"}'] for each in result] == [12] * 12
        first, second = workers_of(process)
        os.kill(first, signal.SIGTERM)
        until(lambda: len(set(workers_of(process)) - {first, second}) == 1)

        def settled() -> bool:
            now = figures(httpx.get(f"{root}/metrics", trust_env=False, timeout=PATIENCE).text)
            assert now['intents_ui_requests_total{status="200",view="help"}'] == 12
            return now["intents_ui_processes"] == 2

        until(settled)


def workers_of(main: subprocess.Popen[bytes]) -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{main.pid}/task/{main.pid}/children").read_text().split()]


def test_each_request_of_a_page_is_logged_on_one_line(site: Site) -> None:
    site.get("/help?secret=hunter2", **{"X-Request-Id": "from-our-proxy-1"})
    answer = site.get(intent(40))
    until(lambda: site.lines()[-1]["request_id"] == answer.headers["X-Request-Id"])
    one, other = site.lines()[-2:]
    assert (one["method"], one["view"], one["status"], one["calls"]) == ("GET", "help", 200, 0)
    assert one["request_id"] == "from-our-proxy-1"
    assert other["view"] == "intent"
    assert other["bytes"] >= len(answer.content) / 10  # as it was sent
    assert other["ms"] > 0
    calls = [visit.headers["x-request-id"] for visit in site.service.visits]
    assert sorted(each for each in calls if each.startswith(other["request_id"])) == [
        f"{other['request_id']}.{number}" for number in range(1, other["calls"] + 1)
    ]
    assert "hunter2" not in site.log.read_text()
    site.get("/healthz")
    site.get("/static/img/mark.svg")
    assert site.lines()[-1] == other


@pytest.mark.parametrize("given", ["short", "x" * 65, "odd id with spaces", "<b>12345678</b>"])
def test_a_malformed_request_id_is_replaced(site: Site, given: str) -> None:
    assert re.fullmatch("[0-9a-f]{12}", site.get("/help", **{"X-Request-Id": given}).headers["X-Request-Id"])


def test_only_trusted_proxies_choose_a_request_id(server: str) -> None:
    answer = httpx.get(f"{server}/help", headers={"X-Request-Id": "from-a-visitor"}, trust_env=False, timeout=PATIENCE)
    assert re.fullmatch("[0-9a-f]{12}", answer.headers["X-Request-Id"])


def test_an_error_names_its_call_and_the_call_names_its_request(site: Site) -> None:
    """One page of a failing service. More would open the circuit breaker."""
    before = site.figures()
    site.service.does = BAD
    failure = site.get(intent(50))
    assert failure.status_code == 503
    request_id = failure.headers["X-Request-Id"]
    (reference,) = set(re.findall(rf"{request_id}\.[0-9]+", failure.text.partition("</main>")[0]))
    failed = [line for line in site.lines("intents_ui.service") if reference in line["message"]]
    assert {line["request_id"] for line in failed} == {request_id}

    more = site.more_than(before)
    assert more('intents_ui_requests_total{status="503",view="intent"}') == 1
    assert more('intents_ui_request_seconds_count{status="5xx",view="intent"}') == 1
    assert more('intents_ui_upstream_seconds_count{operation="GetIntent",outcome="unreachable"}') >= 1
    assert more('intents_ui_upstream_retries_total{outcome="sent"}') >= 1
    assert more('intents_ui_service_state{state="degraded"}') == 1

    result = facts(site.get("/status").text)
    assert result["state"] == "Degraded"
    assert {"Degraded since", "Last response", "Last error"} < result.keys()

    # Nor does the process leave the load balancer.
    answer = site.get("/readyz")
    assert answer.status_code == 200
    result = answer.json()["service"]
    assert result["state"] == "degraded"
    assert result["degraded_for_seconds"] >= result["last_failure_seconds_ago"] >= 0
    site.service.does = good
    assert site.get(intent(51)).status_code == 200
    assert site.ready()["service"]["state"] == "up"


def test_a_redis_outage_does_not_make_a_process_unready(site: Site) -> None:
    site.redis.down()
    until(lambda: site.ready()["redis"] is False)
    assert site.get("/readyz").status_code == 200
    assert site.get("/help").status_code == 200
    assert site.figures()["intents_ui_redis_up"] == 0
    site.redis.up()
    until(lambda: site.ready()["redis"] is True)


def test_the_status_page_reports_the_service_without_calling_it(site: Site) -> None:
    assert site.get("/chains").status_code == 200
    before = len(site.requested)
    result = facts(site.get("/status").text)
    assert result["state"] == "Operational"
    assert result["Last response"].endswith(" UTC")
    assert re.fullmatch(r"\d+ ms|\d+\.\d s", result["Median response time"])
    assert re.match("1 chain, last updated .* UTC", result["Chains"])
    assert len(site.requested) == before


def facts(page: str) -> dict[str, str]:
    """Return the status page's facts by name, and the service's state."""
    main = HTMLParser(page).css_first("main")
    assert main is not None
    rows = ((row.css_first("dt"), row.css_first("dd")) for row in main.css("dl > div"))
    result = {name.text(strip=True): value.text().strip() for name, value in rows if name and value}
    state = main.css_first(".status")
    return result | {"state": state.text(strip=True) if state else ""}


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        pytest.param(0.00004, "1 ms", id="less than a millisecond"),
        pytest.param(0.0344, "34 ms", id="milliseconds"),
        pytest.param(2.25, "2.2 s", id="seconds"),
        pytest.param(None, None, id="none yet"),
    ],
)
def test_response_times_are_formatted(seconds: float | None, told: str | None) -> None:
    assert quick(seconds) == told


def test_every_service_state_has_a_text() -> None:
    assert STATES.keys() == set(ServiceState)


def test_error_reports_contain_no_key() -> None:
    result = {"message": f"asked with {canary.KEY}", "frames": [{"lines": (f"key={canary.KEY};", 3)}], canary.KEY: None}
    hidden = telemetry.without_secrets(result)
    assert canary.KEY not in repr(hidden)
    assert hidden["frames"] == [{"lines": ["key=…;", 3]}]
