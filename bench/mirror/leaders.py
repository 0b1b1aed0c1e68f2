"""Three `manage.py mirror run`, of which the leader is stopped for 30 seconds: how long until another one leads."""

import signal
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress

from bench.mirror.databases import NO_TABLES, Database, mirror, sqlite
from bench.processes import history_stub
from bench.report import Target
from tests.waiting import until

TAKEOVERS = 3
STOPPED_SECONDS, WATCHED_SECONDS = 30, 10
LEADER = "SELECT epoch, holder FROM mirror_lease"
WRITTEN = "SELECT COUNT(*) FROM mirror_window WHERE epoch = ?"


def measure() -> Iterator[Target]:
    """Stop the leader several times, each time for longer than its lease."""
    longest, late = 0.0, 0
    with sqlite() as database, history_stub(entries=4_000, days=2.0, rate=4.0) as url, ExitStack() as stack:
        processes = [stack.enter_context(mirror(url, database, "run"))]
        until(lambda: epoch_of(database) > 0)
        processes += [stack.enter_context(mirror(url, database, "run")) for _ in range(2)]
        for _ in range(TAKEOVERS):
            [(epoch, holder)] = database.rows(LEADER)
            until(lambda epoch=epoch: written(database, epoch) > 0)
            leader = next(each for each in processes if str(holder).endswith(f":{each.pid}"))
            until(lambda leader=leader: stop(leader, database))
            began = time.monotonic()
            until(lambda epoch=epoch: epoch_of(database) > epoch)
            longest = max(longest, time.monotonic() - began)
            before = written(database, epoch)
            time.sleep(began + STOPPED_SECONDS - time.monotonic())
            leader.send_signal(signal.SIGCONT)
            time.sleep(WATCHED_SECONDS)
            late += max(0, written(database, epoch) - before)
    told = f"the longest of {TAKEOVERS}, each after the leader of three processes was stopped for 30 s"
    yield Target("leaders: takeover", longest, 15, "s", told)
    yield Target("leaders: windows written by a former leader", late, 0, "")


def epoch_of(database: Database) -> int:
    with suppress(*NO_TABLES):
        return next((epoch for epoch, _ in database.rows(LEADER)), 0)
    return 0


def written(database: Database, epoch: int) -> int:
    return database.rows(WRITTEN, epoch)[0][0]


def stop(leader: "subprocess.Popen[bytes]", database: Database) -> bool:
    """Stop a process outside of its transactions. In one, it would keep SQLite's file locked."""
    leader.send_signal(signal.SIGSTOP)
    with closing(sqlite3.connect(database.path, timeout=0.2, isolation_level=None)) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            leader.send_signal(signal.SIGCONT)
            return False
    return True
