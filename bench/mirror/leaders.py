"""Three `manage.py mirror run`, of which the leader is stopped for 30 seconds: how long until another one leads."""

import signal
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench.mirror.backfill import Database, mirror
from bench.processes import history_stub

ENTRIES, DAYS, RATE = 4_000, 2.0, 4.0
CALLS = 5  # INTENTS_MIRROR_CALLS, the default
STOPPED_SECONDS, WATCHED_SECONDS = 30, 10
PATIENCE = 60.0
LOOK_SECONDS = 0.02
LEADER = "SELECT epoch, holder FROM mirror_lease"
WRITTEN = "SELECT COUNT(*) FROM mirror_window WHERE epoch = ?"


@dataclass(frozen=True)
class Takeovers:
    """The longest takeover in seconds, and the windows that a former leader wrote after it."""

    longest: float
    rows: int


def takeovers(rounds: int) -> Takeovers:
    """Stop the leader so many times, each time for longer than its lease."""
    longest, rows = 0.0, 0
    with (
        tempfile.TemporaryDirectory(prefix="intents-mirror-") as folder,
        history_stub(entries=ENTRIES, days=DAYS, rate=RATE) as url,
        ExitStack() as stack,
    ):
        database = Database(Path(folder, "mirror.sqlite3"))
        processes = [stack.enter_context(mirror(url, database.path, "run", calls=CALLS))]
        _wait_until(lambda: database.path.exists() and _epoch(database) > 0)
        processes += [stack.enter_context(mirror(url, database.path, "run", calls=CALLS)) for _ in range(2)]
        for _ in range(rounds):
            epoch = _epoch(database)
            _wait_until(partial(_has_written, database, epoch))
            leader = _leader(database, processes)
            _wait_until(partial(_stopped, leader, database))
            began = time.monotonic()
            _wait_until(partial(_is_later, database, epoch))
            longest = max(longest, time.monotonic() - began)
            before = _written(database, epoch)
            time.sleep(began + STOPPED_SECONDS - time.monotonic())
            leader.send_signal(signal.SIGCONT)
            time.sleep(WATCHED_SECONDS)
            rows += max(0, _written(database, epoch) - before)
    return Takeovers(longest, rows)


def _wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(LOOK_SECONDS)


def _epoch(database: Database) -> int:
    try:
        return next((epoch for epoch, _ in database.rows(LEADER)), 0)
    except sqlite3.OperationalError:  # there are no tables yet
        return 0


def _is_later(database: Database, epoch: int) -> bool:
    return _epoch(database) > epoch


def _has_written(database: Database, epoch: int) -> bool:
    return _written(database, epoch) > 0


def _written(database: Database, epoch: int) -> int:
    return database.rows(WRITTEN, epoch)[0][0]


def _leader(database: Database, processes: Sequence["subprocess.Popen[bytes]"]) -> "subprocess.Popen[bytes]":
    (_, holder) = database.rows(LEADER)[0]
    return next(each for each in processes if str(holder).endswith(f":{each.pid}"))


def _stopped(leader: "subprocess.Popen[bytes]", database: Database) -> bool:
    """Stop a process outside of its transactions. In one, it would keep SQLite's file locked."""
    leader.send_signal(signal.SIGSTOP)
    with closing(sqlite3.connect(database.path, timeout=0.2, isolation_level=None)) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            leader.send_signal(signal.SIGCONT)
            return False
    return True
