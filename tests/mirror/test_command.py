"""`manage.py mirror …`: its commands, and how it ends when its database fails."""

import contextlib
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import needs
from tests.serving import ROOT, brief_pause, free_port, running
from tests.waiting import PATIENCE

KEY = "an access key of the test"
COUNTED = """
SELECT SUM(delivered + refunded + failed + aborted + rejected + unconfirmed) FROM mirror_day
JOIN mirror_scope ON mirror_scope.id = scope_id WHERE level = 'service'
"""


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    port = free_port()
    command = ("-m", "intents_ui.emulator", "--port", str(port), "--size", "100", "--key", KEY)
    with running(*command, url=f"http://127.0.0.1:{port}/") as url:
        yield url.rstrip("/")


@pytest.fixture
def env(tmp_path: Path, service: str) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "INTENTS_SERVICE_URL": service,
        "INTENTS_SERVICE_ACCESS_KEY": KEY,
        "INTENTS_DATABASE": str(tmp_path / "mirror.db"),
        "INTENTS_MIRROR_CALLS": "100",
        "SECRET_KEY": "a key of the test",
    }


def mirror(*words: str, env: dict[str, str], prefix: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    command = [*prefix, sys.executable, "manage.py", "mirror", *words]
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)


@contextlib.contextmanager
def process(env: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.mirror.process"]
    ran = subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield ran
    finally:
        ran.send_signal(signal.SIGCONT)
        ran.kill()
        ran.communicate()


def value(env: dict[str, str], query: str) -> int:
    with contextlib.closing(sqlite3.connect(f"file:{env['INTENTS_DATABASE']}?mode=ro", uri=True)) as database:
        try:
            return int(database.execute(query).fetchone()[0] or 0)
        except (sqlite3.OperationalError, TypeError):  # no such table or row yet
            return 0


def read(env: dict[str, str]) -> int:
    return value(env, "SELECT COUNT(*) FROM mirror_window WHERE read_at > 0")


def eventually(condition: Callable[[], bool], *processes: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        ended = [each.communicate()[1] for each in processes if each.poll() is not None]
        assert not ended
        brief_pause()


def test_it_follows_the_service_until_it_is_stopped_and_continues_later(env: dict[str, str]) -> None:
    mirror("rebuild", env=env)
    for _ in range(2):
        least = read(env) + 5
        with process(env) as ran:
            eventually(lambda: read(env) > least, ran)  # noqa: B023 - called in this round
            ran.send_signal(signal.SIGTERM)
            out, errors = ran.communicate(timeout=PATIENCE)
        assert (ran.returncode, out) == (0, "The mirror is running.\nThe mirror has stopped.\n"), errors


def test_a_backfill_says_how_far_it_is_and_ends(env: dict[str, str], tmp_path: Path) -> None:
    ended = mirror("backfill", "--days", "2", env=env)
    assert ended.returncode == 0, ended.stderr
    assert re.fullmatch(r"([\d.]+) of \1 days, [\d,]+ transfers", ended.stdout.splitlines()[-1])
    assert "\r" not in ended.stdout
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}
    assert KEY.encode() not in b"".join(path.read_bytes() for path in tmp_path.iterdir())

    ended_rows = value(env, "SELECT COUNT(*) FROM mirror_transfer WHERE outcome NOT IN ('open', 'no_deposit')")
    assert value(env, COUNTED) == ended_rows > 0

    shown = mirror("status", env=env).stdout
    assert re.search(r"^Not running\nTransfers: [1-9]", shown)
    assert re.search(r"Complete since: \d{4}-\d{2}-\d{2} 00:00 UTC", shown)

    assert re.fullmatch(r"\d of \d+ windows differed. 0 lacked transfers.\n", mirror("audit", env=env).stdout)

    other = mirror("audit", env={**env, "INTENTS_SERVICE_ACCESS_KEY": "another access key"})
    assert other.stderr.startswith("CommandError: The database is a copy of another service")

    forgotten = mirror("forget", "0x" + "12" * 20, env=env)
    assert forgotten.stdout == "Removed from 0 transfers.\n"

    assert mirror("rebuild", env=env).returncode == 0
    assert value(env, "SELECT COUNT(*) FROM mirror_transfer") == 0


def test_figures_are_counted_again_from_the_copy(env: dict[str, str]) -> None:
    assert mirror("backfill", "--days", "2", env=env).returncode == 0
    counted = value(env, COUNTED)
    with contextlib.closing(sqlite3.connect(env["INTENTS_DATABASE"])) as database, database:
        database.execute("UPDATE mirror_hour SET delivered = delivered + 7")
        database.execute("UPDATE mirror_day SET delivered = delivered + 7")
    assert value(env, COUNTED) > counted > 0
    again = mirror("recount", env={**env, "INTENTS_SERVICE_URL": "http://127.0.0.1:9"})  # nothing listens there
    assert (again.returncode, again.stderr) == (0, "")
    assert again.stdout.startswith("Counted again: ")
    assert value(env, COUNTED) == counted


def test_on_a_terminal_a_backfill_shows_a_bar(env: dict[str, str]) -> None:
    ours, theirs = os.openpty()
    command = [sys.executable, "manage.py", "mirror", "backfill", "--days", "1"]
    with subprocess.Popen(command, cwd=ROOT, env=env, stdout=theirs, stderr=theirs) as ran:
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # at the end of the terminal
            while piece := os.read(ours, 4096):
                shown += piece
        os.close(ours)
    assert ran.returncode == 0, shown
    first, *_, last = shown.decode().split("\r\033[K")[1:]
    assert re.match(r"\[#*\.+\] [\d.]+ of [\d.]+ days, [\d,]+ transfers", first)
    assert re.match(r"\[#{20}\] ([\d.]+) of \1 days, [\d,]+ transfers", last)


def test_without_a_database_it_says_so(env: dict[str, str]) -> None:
    del env["INTENTS_DATABASE"]
    ended = mirror("run", env=env)
    assert (ended.returncode, ended.stderr) == (
        1,
        "CommandError: INTENTS_DATABASE is not set, so there is no mirror.\n",
    )


# The failure modes of the database


def fails(ended: subprocess.CompletedProcess[str]) -> str:
    """Return why it stopped, which is one line."""
    assert ended.returncode == 1
    (line,) = ended.stderr.splitlines()[-1:]
    assert "Traceback" not in ended.stderr
    found = re.fullmatch(r"CommandError: The mirror stopped because its database failed: (.+)", line)
    assert found, ended.stderr
    return found[1]


def test_a_locked_database_stops_it_with_one_line(env: dict[str, str]) -> None:
    mirror("rebuild", env=env)
    with contextlib.closing(sqlite3.connect(env["INTENTS_DATABASE"], isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert fails(mirror("run", env=env)) == "database is locked"


def test_a_corrupt_database_stops_it_with_one_line(env: dict[str, str]) -> None:
    Path(env["INTENTS_DATABASE"]).write_bytes(b"not a database" * 1000)
    assert fails(mirror("run", env=env)) == "file is not a database"


def test_a_full_disk_stops_it_with_one_line(env: dict[str, str]) -> None:
    mirror("rebuild", env=env)
    prlimit = str(needs("prlimit", "apt-get install util-linux"))
    ended = mirror("run", env=env, prefix=(prlimit, "--fsize=120000", "--"))
    assert fails(ended) in ("database or disk is full", "disk I/O error")


# Leaders


def epoch(env: dict[str, str]) -> int:
    return value(env, "SELECT epoch FROM mirror_lease")


def written(env: dict[str, str], epoch: int) -> int:
    return value(env, f"SELECT COUNT(*) FROM mirror_window WHERE epoch = {epoch}")  # noqa: S608 - a number


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


def test_when_the_leader_freezes_another_takes_over_and_the_old_one_writes_nothing(env: dict[str, str]) -> None:
    env["INTENTS_MIRROR_CALLS"] = "5"
    mirror("rebuild", env=env)
    first = epoch(env)
    with contextlib.ExitStack() as stack:
        leader = stack.enter_context(process(env))
        eventually(lambda: written(env, first + 1) > 0, leader)
        spares = [stack.enter_context(process(env)) for _ in range(2)]
        eventually(lambda: freezes(leader, env), leader)
        eventually(lambda: epoch(env) == first + 2, *spares)
        eventually(lambda: written(env, first + 2) > 0, *spares)
        before = written(env, first + 1)
        leader.send_signal(signal.SIGCONT)
        seen = written(env, first + 2)
        eventually(lambda: written(env, first + 2) > seen)
        assert written(env, first + 1) <= before
        assert epoch(env) == first + 2
        assert all(each.poll() is None for each in (leader, *spares))
