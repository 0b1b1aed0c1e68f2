"""`manage.py mirror …`: its commands, and how its process follows the service, ends and takes over."""

import contextlib
import io
import os
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import httpx
import pytest
import time_machine
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connection

from intents_ui.management.commands import mirror as command
from intents_ui.mirror.figures import queries
from intents_ui.mirror.figures.snapshots import Period
from intents_ui.mirror.models import DayFact, Transfer
from intents_ui.mirror.windows import HOUR
from intents_ui.ops import lifecycle
from intents_ui.service.client import ServiceClient
from intents_ui.service.config import ServiceConfig
from intents_ui.settings import ENV
from tests.mirror.counted import check_facts
from tests.mirror.world import START, World
from tests.service.clients import answered
from tests.serving import ROOT, free_port, running
from tests.waiting import until

KEY = "an access key of the test"


@pytest.fixture
def world(mirrored_file: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """Let commands read a service with a transfer an hour in the last two days."""
    world = World(page=100)
    world.now = START
    for age in range(0, 48 * HOUR, HOUR):
        world.create(age=age + 2 * HOUR, status="FAILED" if age % (5 * HOUR) else "SUCCEEDED")
    client = ServiceClient(ServiceConfig("http://world"), transport=world)
    monkeypatch.setattr(command, "service", lambda: client)
    monkeypatch.setattr(ENV, "intents_mirror_calls", 10_000)
    monkeypatch.setattr(lifecycle, "trim_memory", lambda: None)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(os, "nice", lambda _: 0)  # the tests after it would have a lower priority, too
    with time_machine.travel(START):
        yield world


def run(*words: str) -> str:
    out = io.StringIO()
    call_command("mirror", *words, stdout=out)
    return out.getvalue()


def delivered() -> int:
    now = datetime.fromtimestamp(START, UTC)
    return queries.overview(Period.QUARTER, now=now).total.delivered


@pytest.mark.usefixtures("world")
def test_a_backfill_says_how_far_it_is_and_ends() -> None:
    shown = run("backfill", "--days", "1")
    assert re.fullmatch(r"([\d.]+) of \1 days, [\d,]+ transfers", shown.splitlines()[-1])
    counted = delivered()
    assert counted == Transfer.objects.filter(outcome="delivered").count() > 0
    shown = run("status")
    assert re.search(r"^Not running\nTransfers: [1-9]", shown)
    assert re.search(r"Complete since: \d{4}-\d{2}-\d{2} 01:00 UTC", shown)
    assert re.fullmatch(r"0 of \d+ windows differed. 0 lacked transfers.\n", run("audit"))
    assert run("forget", "0x" + "12" * 20) == "Removed from 0 transfers.\n"
    DayFact.objects.update(n=99)
    assert "counts all figures again" in run("recount")
    run("backfill", "--days", "1")
    assert delivered() == counted
    check_facts()
    run("rebuild")
    assert not Transfer.objects.exists()


def test_a_backfill_that_can_not_read_all_says_so(world: World) -> None:
    world.always = "empty"
    with pytest.raises(CommandError, match=r"\d+ windows could not be read to their end: the service"):
        run("backfill", "--days", "1")


@pytest.mark.usefixtures("world")
def test_a_copy_of_another_service_or_key_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    run("audit")
    monkeypatch.setattr(command, "source", lambda: "another")
    with pytest.raises(CommandError, match="copy of another service, or was read with another access key"):
        run("audit")


def test_without_a_database_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "MIRROR_DATABASE", None)
    with pytest.raises(CommandError, match="INTENTS_DATABASE is not set, so there is no mirror"):
        run("run")


@pytest.mark.usefixtures("world")
def test_a_database_that_fails_stops_it_with_one_line() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE mirror_lease")
    with pytest.raises(CommandError, match=r"^The mirror stopped because its database failed: no such table: .*$"):
        run("run")


def test_windows_are_by_the_clock_of_the_service(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def ahead(request: httpx.Request) -> httpx.Response:
        date = format_datetime(datetime.now(UTC) + timedelta(minutes=3), usegmt=True)
        return answered({"intents": []}, headers={"Date": date})

    client = ServiceClient(ServiceConfig("http://world"), transport=httpx.MockTransport(ahead))
    monkeypatch.setattr(command, "service", lambda: client)
    mirror = command.Command()._mirror()
    writer = mirror.lead()
    assert writer is not None
    mirror.step(writer)
    assert abs(mirror.now() - datetime.now(UTC) - timedelta(minutes=3)) < timedelta(seconds=2)


# Its process


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    port = free_port()
    words = ("-m", "intents_ui.emulator", "--port", str(port), "--size", "100", "--key", KEY)
    with running(*words, url=f"http://127.0.0.1:{port}/") as url:
        yield url.rstrip("/")


@pytest.fixture
def env(tmp_path: Path, service: str) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "INTENTS_SERVICE_URL": service,
        "INTENTS_SERVICE_ACCESS_KEY": KEY,
        "INTENTS_DATABASE": str(tmp_path / "mirror.db"),
        "INTENTS_MIRROR_CALLS": "5",
        "SECRET_KEY": "a key of the test",
    }


@contextlib.contextmanager
def process(env: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    words = [sys.executable, "-m", "tests.mirror.process"]
    ran = subprocess.Popen(words, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield ran
    finally:
        ran.send_signal(signal.SIGCONT)
        ran.kill()
        ran.communicate()


def value(database: str, query: str) -> int:
    with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as copy:
        try:
            return int(copy.execute(query).fetchone()[0] or 0)
        except (sqlite3.OperationalError, TypeError):  # no such table or row yet
            return 0


def eventually(condition: Callable[[], bool], *processes: subprocess.Popen[str]) -> None:
    def is_so() -> bool:
        ended = [each.communicate()[1] for each in processes if each.poll() is not None]
        assert not ended
        return condition()

    until(is_so)


def epoch(env: dict[str, str]) -> int:
    return value(env["INTENTS_DATABASE"], "SELECT epoch FROM mirror_lease")


def written(env: dict[str, str], epoch: int) -> int:
    return value(env["INTENTS_DATABASE"], f"SELECT COUNT(*) FROM mirror_window WHERE epoch = {epoch}")  # noqa: S608 - a number


def freezes(leader: subprocess.Popen[str], env: dict[str, str]) -> bool:
    """Freeze a process outside of its transactions, in which it would lock SQLite's file."""
    leader.send_signal(signal.SIGSTOP)
    with contextlib.closing(sqlite3.connect(env["INTENTS_DATABASE"], timeout=0.2, isolation_level=None)) as database:
        try:
            database.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            leader.send_signal(signal.SIGCONT)
            return False
    return True


@pytest.mark.programs
def test_when_the_leader_freezes_another_takes_over_and_the_old_one_writes_nothing(env: dict[str, str]) -> None:
    Path(env["INTENTS_DATABASE"]).touch()
    with contextlib.ExitStack() as stack:
        leader = stack.enter_context(process(env))
        eventually(lambda: written(env, 1) > 0, leader)
        spares = [stack.enter_context(process(env)) for _ in range(2)]
        eventually(lambda: freezes(leader, env), leader)
        eventually(lambda: epoch(env) == 2, *spares)
        eventually(lambda: written(env, 2) > 0, *spares)
        before = written(env, 1)
        leader.send_signal(signal.SIGCONT)
        seen = written(env, 2)
        eventually(lambda: written(env, 2) > seen)
        assert written(env, 1) <= before
        assert epoch(env) == 2
        assert all(each.poll() is None for each in (leader, *spares))
