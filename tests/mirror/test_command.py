"""`manage.py mirror …`: its commands."""

import io
import os
import re
import signal
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import httpx
import pytest
import time_machine
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connection
from pydantic import SecretStr

from intents_ui.management.commands import mirror as command
from intents_ui.mirror import lease
from intents_ui.mirror.figures import queries
from intents_ui.mirror.figures.snapshots import Period
from intents_ui.mirror.models import Lease, Transfer
from intents_ui.mirror.reader import Task
from intents_ui.mirror.windows import HOUR
from intents_ui.ops import lifecycle
from intents_ui.service.client import ServiceClient
from intents_ui.service.operations import ServiceConfig
from intents_ui.settings import ENV
from tests.mirror.world import START, World
from tests.service.clients import answered


@pytest.fixture
def world(mirrored_file: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """Let commands read a service with a transfer an hour in the last two days."""
    world = World(page=100)
    world.now = START
    for age in range(0, 48 * HOUR, HOUR):
        world.create(age=age + 2 * HOUR, status="FAILED" if age % (5 * HOUR) else "SUCCEEDED")
    client = ServiceClient(ServiceConfig("http://world"), transport=world)
    monkeypatch.setattr(command, "ServiceClient", lambda *_, **__: client)
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
    return queries.overview(Period.QUARTER, queries.count_open(now=now)).total.delivered


@pytest.mark.usefixtures("world")
def test_a_backfill_says_how_far_it_is_and_ends() -> None:
    shown = run("backfill", "--days", "1")
    assert re.fullmatch(r"([\d.]+) of \1 days, [\d,]+ transfers", shown.splitlines()[-1])
    counted = delivered()
    assert counted == Transfer.objects.filter(outcome="delivered").count() > 0
    shown = run("status")
    assert re.search(r"^Not running\nTransfers: [1-9]", shown)
    assert re.search(r"Complete since: \d{4}-\d{2}-\d{2} 01:00 UTC", shown)
    assert re.fullmatch(r"0 of \d+ windows differed.\n", run("audit"))
    assert run("forget", "0x" + "12" * 20) == "Removed from 0 transfers.\n"
    Lease.objects.update(until=2**62)
    assert "counts all figures again" in run("recount")
    with pytest.raises(lease.LeaseLost):  # a running process has to take the lease again
        lease.fence(Lease.objects.get().epoch - 1)
    run("backfill", "--days", "1")
    assert delivered() == counted
    run("rebuild")
    assert not Transfer.objects.exists()


def test_a_backfill_that_can_not_read_all_says_so(world: World) -> None:
    world.always = "empty"
    with pytest.raises(CommandError, match=r"\d+ windows could not be read to their end: the service"):
        run("backfill", "--days", "1")


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize(
    ("setting", "other"),
    [
        ("intents_service_access_key", SecretStr("another key")),
        ("intents_service_url", "https://another.example"),
    ],
)
def test_a_copy_of_another_service_or_key_is_refused_and_has_no_key(
    mirrored_file: Path, monkeypatch: pytest.MonkeyPatch, setting: str, other: object
) -> None:
    monkeypatch.setattr(ENV, "intents_service_access_key", SecretStr("a key of the service"))
    run("audit")
    stored = b"".join(each.read_bytes() for each in mirrored_file.parent.iterdir())
    assert b"a key of the service" not in stored
    monkeypatch.setattr(ENV, setting, other)
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
    monkeypatch.setattr(command, "ServiceClient", lambda *_, **__: client)
    mirror = command.Command().mirror(None)
    mirror.reader.read(Task(0, 1))
    assert abs(mirror.now() - datetime.now(UTC) - timedelta(minutes=3)) < timedelta(seconds=2)
