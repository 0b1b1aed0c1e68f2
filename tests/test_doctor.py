"""`manage.py doctor`: what is wrong with a service or a deployment, in words, each with what to do."""

import contextlib
import json
import os
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from intents_ui.doctor import TEXTS, Finding, Level, deployment, service
from intents_ui.emulator import Emulator
from intents_ui.emulator.faults import NAMES
from intents_ui.service.client import InProcessTransport, ServiceClient
from intents_ui.service.errors import Reason
from intents_ui.service.operations import ServiceConfig
from intents_ui.settings import Environment
from tests.serving import ROOT, dashboard, free_port, running
from tests.tables import toml
from tests.waiting import until

HELD = 0.4  # seconds of a long poll that counts as held

NAMED = toml(__file__, "doctor")  # what is said of each fault of the emulator
ON_A_SOCKET = {"cut-body": "The connection broke off", "slow-first-byte": "There was no response in time"}


def found(embedded: Emulator, key: str = "") -> Sequence[Finding]:
    config = service.config_of(ServiceConfig(base_url="http://embedded", access_key=SecretStr(key)), held=HELD)
    with ServiceClient(config, transport=InProcessTransport(embedded)) as client:
        return list(service.checks(service.Responses(client)))


def emulator(*faults: tuple[str, str]) -> Emulator:
    """Return a service whose transfers don't change while it is checked."""
    now = time.time()
    return Emulator(now=lambda: now, faults=faults)


def test_a_healthy_service_has_only_good_findings() -> None:
    assert {each.level for each in found(emulator())} == {Level.OK}


@pytest.mark.parametrize("fault", NAMED)
def test_each_fault_of_a_service_is_named(fault: str) -> None:
    operation = "GetChains" if fault.startswith("slow-") else "*"
    findings = found(emulator((operation, fault)))
    named = [each for each in findings if NAMED[fault] in each.found]
    assert len(named) == 1, [each.found for each in findings]
    assert named[0].level is not Level.OK


def changed(row: dict[str, Any], name: str) -> None:
    if name == "late":  # it begins ten minutes after its creation, and ends two hours after it
        created = datetime.fromisoformat(row["createdAt"])
        row["updatedAt"] = (created + timedelta(hours=2)).isoformat()
        if deposit := row["receipt"].get("depositTransaction"):
            deposit["createdAt"] = (created + timedelta(minutes=10)).isoformat()
    else:
        row["status"] = "SETTLED"


@pytest.mark.parametrize(
    ("name", "words"),
    [("late", "become visible late"), ("late", "Late changes"), ("unknown", "Unknown statuses: SETTLED")],
)
def test_odd_courses_of_transfers_are_named(name: str, words: str) -> None:
    embedded = InProcessTransport(emulator())

    def answer(request: httpx.Request) -> httpx.Response:
        response = embedded.handle_request(request)
        document = json.loads(response.read())
        for row in document.get("intents") or ():
            if "receipt" in row:
                changed(row, name)
        content = httpx.ByteStream(json.dumps(document).encode())
        return httpx.Response(response.status_code, headers={"Content-Type": "application/json"}, stream=content)

    with ServiceClient(
        service.config_of(ServiceConfig(base_url="http://embedded"), held=HELD), transport=httpx.MockTransport(answer)
    ) as client:
        found = [each.found for each in service.checks(service.Responses(client))]
    assert len([each for each in found if words in each]) == 1, found


@pytest.mark.parametrize("odd", [{"chains": ["x"], "intents": "x"}, {"chains": [{"id": 1}], "intents": [1, None]}])
def test_responses_of_another_form_are_a_problem_and_no_crash(odd: object) -> None:
    config = service.config_of(ServiceConfig(base_url="http://service"))
    headers, content = {"Content-Type": "application/json"}, json.dumps(odd).encode()

    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers=headers, stream=httpx.ByteStream(content))

    with ServiceClient(config, transport=httpx.MockTransport(answer)) as client:
        findings = list(service.checks(service.Responses(client)))
    assert any("doesn't have the documented form" in each.found for each in findings)
    assert any(each.level is Level.PROBLEM for each in findings)


def test_no_fault_is_left_out() -> None:
    assert NAMED.keys() | ON_A_SOCKET.keys() >= NAMES


def test_every_text_is_of_a_finding() -> None:
    source = "".join(Path(str(module.__file__)).read_text() for module in (service, deployment))
    failed = {each for each in TEXTS if re.fullmatch(r"failed-\d+", each)} | {f"failed-{each.name}" for each in Reason}
    assert TEXTS.keys() <= failed | set(re.findall(r'"([a-z0-9-]+)"', source))
    assert set(re.findall(r'finding\("([a-z0-9-]+)"', source)) <= TEXTS.keys()


# In a process of its own


def doctor(*options: str, **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "manage.py", "doctor", *options]
    environment = os.environ | {"SECRET_KEY": "a key that is long enough"} | env
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def emulating(*options: str) -> AbstractContextManager[str]:
    """Run the emulator, and give its URL."""
    port = str(free_port())
    return running("-m", "intents_ui.emulator", "--port", port, *options, url=f"http://127.0.0.1:{port}/")


@pytest.mark.parametrize("fault", ON_A_SOCKET)
def test_each_fault_of_a_connection_is_named(fault: str) -> None:
    with emulating("--fault", f"GetChains={fault}") as url:
        result = doctor("--quick", INTENTS_SERVICE_URL=url)
    assert ON_A_SOCKET[fault] in result.stdout
    assert result.returncode == 1


def test_a_deployment_with_everything_is_fine_through_its_proxy() -> None:
    with emulating() as url:
        settings = {"INTENTS_SERVICE_URL": url, "SECRET_KEY": "a key that is long enough"}
        with dashboard(**settings) as root:
            result = doctor("--url", root, **settings)
    assert result.returncode == 0, result.stdout
    assert f"{root}/help answers." in result.stdout
    assert "0 problems, 0 warnings, 0 notes." in result.stdout


def test_a_rejected_key_is_told_when_the_dashboard_starts(capfd: pytest.CaptureFixture[str]) -> None:
    with (
        emulating("--key", "another") as url,
        dashboard(INTENTS_SERVICE_URL=url, SECRET_KEY="a key that is long enough"),
    ):
        told: list[str] = []

        def is_told() -> bool:
            told.append(capfd.readouterr().err)
            return "ready, but" in "".join(told)

        until(is_told)
    log = "".join(told)
    assert "intents-ui is ready, but the service fails." in log
    assert "HTTP 401, code 1101). The access key is rejected." in log


# What the dashboard runs with

ANYWHERE = {"host": "0.0.0.0", "intents_service_url": "embedded", "allowed_hosts": ["intents.example"]}


@pytest.mark.parametrize(
    ("given", "level", "words"),
    [
        ({}, Level.OK, "listens on 127.0.0.1"),
        (ANYWHERE, Level.WARNING, "TRUSTED_PROXIES is not set"),
        (ANYWHERE | {"trusted_proxies": ["10.0.0.1"]}, Level.WARNING, "INTENTS_HTTPS is off"),
        (ANYWHERE | {"trusted_proxies": ["0.0.0.0/0"]}, Level.PROBLEM, "so wide"),
        (ANYWHERE | {"allowed_hosts": ["localhost", "127.0.0.1", "[::1]"]}, Level.PROBLEM, "ALLOWED_HOSTS"),
        (ANYWHERE | {"trusted_proxies": ["10.0.0.1"], "intents_https": "on"}, Level.OK, "Trusted proxies: 10.0.0.1/32"),
    ],
)
def test_settings_of_a_proxy(given: dict[str, object], level: Level, words: str) -> None:
    findings = [*deployment.proxy(Environment(**given))]
    assert [each.level for each in findings if words in each.found] == [level]


@pytest.mark.parametrize(
    ("response", "level", "words"),
    [
        (httpx.Response(200), Level.OK, "answers"),
        (httpx.Response(301, headers={"Location": "https://intents.example/help"}), Level.PROBLEM, "https again"),
        (httpx.Response(400), Level.PROBLEM, "gets 400"),
        (httpx.Response(502), Level.PROBLEM, "gets 502"),
        (httpx.Response(302, headers={"Location": "/oauth2/sign_in"}), Level.OK, "redirects to /oauth2/sign_in"),
    ],
)
def test_what_a_visitor_gets_through_a_proxy(response: httpx.Response, level: Level, words: str) -> None:
    transport = httpx.MockTransport(lambda _: response)
    findings = [*deployment.public_url("https://intents.example/", Environment(), transport=transport)]
    assert [each.level for each in findings if words in each.found] == [level]


def test_redis_that_does_not_answer_is_a_problem() -> None:
    assert [each.level for each in deployment.redis(f"redis://127.0.0.1:{free_port()}/0")] == [Level.PROBLEM]


def test_a_database_without_tables_is_a_problem(tmp_path: Path) -> None:
    result = doctor("--quick", INTENTS_DATABASE=str(tmp_path / "mirror.sqlite3"))
    assert "The mirror's database can't be read" in result.stdout
    (tmp_path / "mirror.sqlite3").touch()
    result = doctor("--quick", INTENTS_DATABASE=str(tmp_path / "mirror.sqlite3"))
    assert "no such table" in result.stdout
    with contextlib.closing(sqlite3.connect(tmp_path / "mirror.sqlite3")) as database:
        database.execute("CREATE TABLE django_migrations (app TEXT, name TEXT)")
    result = doctor("--quick", INTENTS_DATABASE=str(tmp_path / "mirror.sqlite3"))
    assert "lacks migrations: 0001_initial" in result.stdout
    assert result.returncode == 1


def test_texts_of_a_service_cannot_control_the_terminal() -> None:
    assert str(Finding(Level.NOTE, "a\x1b[31mb\nc")) == "note     a\ufffd[31mb\ufffdc"
