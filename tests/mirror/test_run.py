"""`make run`: the dashboard, and the mirror beside it."""

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from tests.serving import ROOT, free_port, wait_for
from tests.waiting import PATIENCE, until


def env_of(place: Path, **more: str) -> dict[str, str]:
    ours = {"PATH": os.environ["PATH"], "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    return {**ours, "STATE_DIR": str(place), "PORT": str(free_port()), **more}


def transfers_in(path: Path) -> int:
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as copy:
            found: int = copy.execute("SELECT COUNT(*) FROM mirror_transfer").fetchone()[0]
            return found
    except sqlite3.OperationalError:  # not there yet
        return 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_signal_stops_the_dashboard_and_its_mirror(tmp_path: Path, number: signal.Signals) -> None:
    env = env_of(tmp_path)
    command = [sys.executable, "manage.py", "runserver", "--noreload"]
    with subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as ran:
        try:
            wait_for(f"http://127.0.0.1:{env['PORT']}/healthz", ran)
            until(lambda: transfers_in(tmp_path / "mirror.sqlite3"))
            assert httpx.get(f"http://127.0.0.1:{env['PORT']}/history", trust_env=False, timeout=PATIENCE).is_success
            ran.send_signal(number)
            said, _ = ran.communicate(timeout=PATIENCE)  # the output ends with the last process
        finally:
            ran.kill()
    assert ran.returncode == 0, said.decode()
    assert said.decode().count("The mirror has stopped.") == 1
