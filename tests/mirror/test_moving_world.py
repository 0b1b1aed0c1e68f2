"""The mirror's process follows a service that misbehaves in all ways at once, and is killed again and again.

Time is the world's: it passes in steps, when the process has read what was due.
"""

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from threading import Condition, Thread
from typing import Any

import httpx
import pytest
from django.db import connection, transaction
from django.db.models import Max

from intents_ui.mirror import coverage, entry
from intents_ui.mirror.figures import facts, queries
from intents_ui.mirror.models import Lease, Transfer, Window
from intents_ui.mirror.windows import DAY, HOUR, MINUTE
from intents_ui.service import decode
from intents_ui.service.models import IntentHistory
from tests.mirror.counted import check_facts, check_figures, of_world
from tests.mirror.world import FINAL, World, expected, rows
from tests.serving import ROOT
from tests.waiting import PATIENCE, until

KEY = "an access key of the test"
MOVING = 180  # minutes
QUIET = 80  # of them, at the end: no change that only the hourly list or the next age of a window shows
KILLS = 6
SLOW_SECONDS = 90
PAUSE = 0.4  # real seconds without a call, after which time goes on


class Moving:
    """A world over HTTP, and the mirror's process."""

    def __init__(self, folder: Path, database: str) -> None:
        self.world = World(page=10, vanishing=0.0005)
        self.world.now = time.time() // DAY * DAY - 2 * HOUR  # until a day has passed
        self.draw = Random(1)
        self.moved = Condition()
        self.clock, self.log = folder / "clock", folder / "log"
        self.env = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            "INTENTS_SERVICE_ACCESS_KEY": KEY,
            "INTENTS_DATABASE": database,
            "INTENTS_MIRROR_CALLS": "100",
            "SECRET_KEY": "a key of the test",
            "WORLD_CLOCK": str(self.clock),
        }
        self.processes: list[subprocess.Popen[bytes]] = []

    def answer(self, content: bytes) -> httpx.Response:
        with self.moved:
            is_slow = self.world.faults[:1] == ["slow"]
            if is_slow:
                self.world.faults.pop(0)
            self.called = time.monotonic()
            found = self.world.handle_request(httpx.Request("POST", "http://world", content=content))
            at = self.world.now
            if is_slow:
                self.moved.wait_for(lambda: self.world.now >= at + SLOW_SECONDS, PATIENCE)
            return found

    @contextlib.contextmanager
    def served(self) -> Iterator[None]:
        moving = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                try:
                    found = moving.answer(self.rfile.read(int(self.headers["Content-Length"])))
                except httpx.ConnectError:
                    self.close_connection = True
                    return
                body = found.read()
                self.send_response(found.status_code)
                for name in ("Content-Type", "Retry-After"):
                    if name in found.headers:
                        self.send_header(name, found.headers[name])
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            def handle_error(self, *_: Any) -> None:
                """Say nothing: the process was killed."""

        with Server(("127.0.0.1", 0), Handler) as server:
            Thread(target=server.serve_forever, daemon=True).start()
            self.env["INTENTS_SERVICE_URL"] = f"http://127.0.0.1:{server.server_port}"
            try:
                yield
            finally:
                self.kill()
                self.sleep(SLOW_SECONDS)
                server.shutdown()

    # Time

    def sleep(self, seconds: int) -> None:
        with self.moved:
            self.called = time.monotonic()
            self.world.now += seconds
            with self.clock.open("r+b" if self.clock.exists() else "wb", buffering=0) as file:
                file.write(b"%010d" % self.world.now)  # at once
            self.moved.notify_all()

    def is_known(self) -> bool:
        """Return whether the process has seen the present time."""
        end = Window.objects.aggregate(end=Max("end"))["end"]
        return end is not None and end >= self.world.now // MINUTE * MINUTE

    def is_settled(self) -> bool:
        return self.is_known() and not Window.objects.filter(due__lte=self.world.now).exists()

    def step(self, seconds: int = MINUTE) -> None:
        """Let time pass, and wait until all that is due was read, or for as long as the process calls."""
        self.sleep(seconds)
        until(lambda: self.is_settled() or time.monotonic() > self.called + PAUSE)
        assert all(each.poll() is None for each in self.processes), self.log.read_text()

    def wait_for_calls(self, count: int) -> None:
        """Wait until the process has called so many times more, or for as long as it calls."""
        calls = len(self.world.asked) + count
        until(lambda: len(self.world.asked) >= calls or time.monotonic() > self.called + PAUSE, pause=0)

    # The process

    def start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "tests.mirror.process"]
        with self.log.open("ab") as log:
            started = subprocess.Popen(command, cwd=ROOT, env=self.env, stdout=log, stderr=log)
        self.processes.append(started)
        until(lambda: self.is_known() or started.poll() is not None)
        assert started.poll() is None, self.log.read_text()
        return started

    def kill(self) -> None:
        for each in self.processes:
            each.kill()
            each.wait()
        self.processes = []
        Lease.objects.update(until=0)  # it has run out


@pytest.mark.programs
@pytest.mark.parametrize("copy", ["SQLite", "PostgreSQL"], indirect=True)
def test_rows_and_figures_equal_those_of_a_moving_world(
    copy: None, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    is_sqlite = connection.vendor == "sqlite"
    moving = Moving(
        tmp_path, str(connection.settings_dict["NAME"] if is_sqlite else request.getfixturevalue("postgres"))
    )
    world, kills = moving.world, moving.draw.sample(range(5, MOVING), KILLS)
    moving.sleep(0)
    with moving.served():
        process = moving.start()
        for minute in range(MOVING):
            with moving.moved:
                world.move(moving.draw, is_silent=minute < MOVING - QUIET)
            if minute in kills:
                moving.sleep(MINUTE)
                moving.wait_for_calls(moving.draw.randrange(8))
                moving.kill()
                process = moving.start()
            world.always = "refused" if 50 <= minute < 60 else ""
            moving.step()
        world.faults = []
        for _ in range(10):
            moving.step()
        until(moving.is_settled)
        process.terminate()
        assert process.wait(PATIENCE) == 0, moving.log.read_text()
    assert moving.log.read_text().endswith("The mirror is running.\nThe mirror has stopped.\n")
    assert KEY.encode() not in b"".join(path.read_bytes() for path in tmp_path.iterdir())
    copied, wanted, now = rows(), expected(world), int(world.now)
    assert {each: seen for each, seen in copied.items() if each not in world.vanished} == wanted
    documents = [made.entry(*seen) for made in world.transfers if (seen := made.seen(now))]
    read = [IntentHistory.model_validate(decode.read(json.dumps(each))) for each in documents]
    entries = {each.intent_id: entry.read(each, now=datetime.fromtimestamp(now, UTC)) for each in read}
    stored = Transfer.objects.filter(unlisted_since=None).values_list("intent_id", "fingerprint")
    columns = {f"0x{bytes(intent_id).hex()}": bytes(fingerprint) for intent_id, fingerprint in stored}
    assert columns.items() >= {each: found.fingerprint for each, found in entries.items()}.items()
    unfinished = Transfer.objects.filter(status__in=FINAL, ended=None)
    assert {f"0x{bytes(each.intent_id).hex()}" for each in unfinished} <= {
        each.intent_id for each in world.transfers if not each.is_finished
    } | world.vanished
    late = {each.text_id for each in queries.late(now=datetime.fromtimestamp(now, UTC)).transfers}
    assert late.isdisjoint(world.vanished)
    assert coverage.current(now=datetime.fromtimestamp(now, UTC)).holes == []
    check_facts()
    gone = Transfer.objects.filter(intent_id__in=[bytes.fromhex(each[2:]) for each in world.vanished])
    with transaction.atomic():
        facts.forget_days(gone.exclude(end=None).values_list("end", flat=True))
        gone.delete()
        check_figures([*of_world(world)], now=now)
        transaction.set_rollback(True)
    assert len(wanted) > 400
    assert len(world.vanished) > 2
