"""Shared fixtures: the dashboard over HTTP, and programs that tests require."""

import fcntl
import gc
import os
import subprocess
import sys
from collections.abc import Generator, Iterator
from typing import Any

import django.conf
import hypothesis
import pytest
import time_machine
from pydantic import SecretStr

from tests import canary
from tests.gunicorn_constants import BALANCE_TIMEOUT, constants
from tests.live.redis_server import RedisServer, redis_running
from tests.serving import ROOT, dashboard

# The examples of `make test` are the same in each run. Other profiles draw new ones.
for profile, examples in {"test": 20, "every": 200, "fuzz": int(os.environ.get("FUZZ_EXAMPLES", "2000"))}.items():
    hypothesis.settings.register_profile(
        profile,
        max_examples=examples,
        derandomize=profile == "test",
        database=None,
        deadline=None,
        suppress_health_check=[hypothesis.HealthCheck.too_slow],
    )
hypothesis.settings.load_profile("test")


def pytest_configure() -> None:
    """Give all dashboards of the run an access key, and search their output for it."""
    gc.disable()  # until all tests are collected
    from intents_ui import settings  # pytest-django has configured their module by now
    from intents_ui.service import client
    from intents_ui.web import reading

    os.environ["INTENTS_SERVICE_ACCESS_KEY"] = canary.KEY
    settings.ENV.intents_service_access_key = SecretStr(canary.KEY)
    django.conf.settings.MIRROR_DATABASE = None  # except in tests with a mirror (`tests/mirror/conftest.py`)
    # Pages must not depend on the machine's load. Tests of slow responses set their own waits.
    client.STALE_WAIT = 5.0
    reading.BALANCE_TIMEOUT = 5.0
    os.environ |= constants(**{BALANCE_TIMEOUT: reading.BALANCE_TIMEOUT})
    canary.watch()


def pytest_collection_finish() -> None:
    """Let garbage collections be rare, and walk no modules and tests: they would take a sixth of the run."""
    gc.freeze()
    gc.set_threshold(100_000)
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, pytest.TestReport]:
    report: pytest.TestReport = yield
    for name, text in report.sections:
        canary.look(name, text)
    if report.when == "teardown" and canary.seen:
        report.outcome = "failed"
        report.longrepr = f"The access key was seen: {', '.join(dict.fromkeys(canary.seen))}"
        canary.seen.clear()
    return report


@pytest.fixture(scope="session", autouse=True)
def objects() -> None:
    """Give tests that build no objects of their own those of a process."""
    from intents_ui import app, startup

    app.use(startup.build())


@pytest.fixture(scope="session")
def sample_mirror(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the path of a database with a mirror that has holes. The run's processes share it."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    path = folder / "mirror.sqlite3"
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            subprocess.run([sys.executable, "-m", "tests.mirrored", str(path)], check=True, cwd=ROOT)
    return str(path)


@pytest.fixture(scope="session")
def server(sample_mirror: str) -> Iterator[str]:
    """Yield the URL of a dashboard with the emulator and a mirror, over real HTTP."""
    with dashboard(INTENTS_DATABASE=sample_mirror) as root:
        yield root


@pytest.fixture(scope="session")
def production(sample_mirror: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Yield a dashboard as in production, whose service does what a test wants."""
    from tests import production

    with production.running(tmp_path_factory.mktemp("production") / "log", sample_mirror) as found:
        yield found


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    """Yield a clock that only the test moves, so that nothing refills or ages however slow the machine is."""
    with time_machine.travel("2026-11-21T12:00:00Z", tick=False) as traveller:
        yield traveller


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    """Yield a Redis server of the test's own."""
    with redis_running() as server:
        yield server
