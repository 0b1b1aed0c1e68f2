"""What those who run the dashboard see of it."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.conftest import needs
from tests.live.redis_server import RedisServer, redis_running
from tests.service.scripted_server import Script, ScriptedServer, serving
from tests.service.upstream import BAD, good, until
from tests.serving import PATIENCE, ROOT, free_port, wait_for

SECRET = {"SECRET_KEY": "a key of the test"}


class Service(ScriptedServer):
    """Does what `does` says at the moment."""

    def __init__(self) -> None:
        self.does: Script = good
        super().__init__(lambda visit: self.does(visit))


@dataclass
class Site:
    """A dashboard, what stands behind it, and what it wrote."""

    root: str
    process: subprocess.Popen[bytes]
    service: Service
    redis: RedisServer
    log: Path
    client: httpx.Client

    def get(self, path: str, **headers: str) -> httpx.Response:
        return self.client.get(self.root + path, headers=headers)

    def ready(self) -> dict[str, Any]:
        told: dict[str, Any] = self.get("/readyz").json()
        return told

    @property
    def asked(self) -> list[str]:
        return [visit.operation for visit in self.service.visits]


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
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    service = Service()
    log = tmp_path_factory.mktemp("site") / "log"
    try:
        with (
            redis_running(needs("redis-server", "apt-get install redis-server")) as redis,
            started(log, INTENTS_SERVICE_URL=service.url, REDIS_URL=redis.url, LOG_FORMAT="json", **SECRET) as (
                root,
                process,
            ),
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


def test_a_process_is_ready_and_says_what_it_knows_without_asking(site: Site) -> None:
    assert site.get(intent(1)).status_code == 200
    before = len(site.asked)
    answer = site.get("/readyz", Host="10.0.0.7:8000")  # as a balancer asks
    assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-store")
    told = answer.json()
    assert (told["ready"], told["stopping"], told["templates"], told["redis"]) == (True, False, True, True)
    assert told["service"]["state"] == "answers"
    assert 0 <= told["service"]["answered_seconds_ago"] < PATIENCE
    assert told["service"]["typical_ms"] > 0
    assert told["service"]["in_trouble_for_seconds"] is None
    assert len(site.asked) == before
    assert site.client.post(f"{site.root}/readyz").status_code == 405


def test_neither_a_service_in_trouble_nor_redis_takes_a_process_out_of_the_balancer(site: Site) -> None:
    site.service.does = BAD
    assert site.get(intent(2)).status_code == 503
    answer = site.get("/readyz")
    assert answer.status_code == 200
    told = answer.json()["service"]
    assert told["state"] == "trouble"
    assert told["in_trouble_for_seconds"] >= told["failed_seconds_ago"] >= 0
    site.service.does = good
    assert site.get(intent(3)).status_code == 200
    assert site.ready()["service"]["state"] == "answers"
    site.redis.down()
    until(lambda: site.ready()["redis"] is False)
    assert site.get("/readyz").status_code == 200
    assert site.get("/help").status_code == 200
    site.redis.up()
    until(lambda: site.ready()["redis"] is True)


def test_a_process_that_is_about_to_end_is_not_ready(tmp_path: Path) -> None:
    with (
        serving(good) as service,
        started(tmp_path / "log", INTENTS_SERVICE_URL=service.url, **SECRET) as (root, process),
        httpx.Client(trust_env=False) as client,
    ):
        before = client.get(f"{root}/readyz")
        assert (before.status_code, before.json()["redis"]) == (200, None)
        assert before.json()["service"]["state"] in ("unasked", "answers")  # names are learned at the start
        process.terminate()
        until(lambda: client.get(f"{root}/readyz").status_code == 503)  # by the connection that is open
        assert process.wait(PATIENCE) == 0
