"""Run programs for tests: on a free loopback port, ready when they respond, and ended by process ID."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.waiting import PATIENCE

ROOT = Path(__file__).parent.parent
GUNICORN = str(ROOT / "tests/gunicorn_constants.py")
NO_COPY = str(Path(tempfile.gettempdir(), "no-copy-of-the-history"))  # never created


def needs(program: str, install: str) -> Path:
    """Return the path of a program. If it is missing, skip the test, or fail in CI."""
    found = shutil.which(program)
    if found:
        return Path(found)
    sentence = f"{program} is not installed: {install}"
    if os.environ.get("CI"):
        pytest.fail(sentence)
    pytest.skip(sentence)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(url: str, process: subprocess.Popen[bytes]) -> httpx.Response:
    """Return the first response below 500. Raises AssertionError if the process ends or it takes too long."""
    deadline = time.monotonic() + PATIENCE
    with httpx.Client(trust_env=False, timeout=PATIENCE) as client:
        while time.monotonic() < deadline:
            assert process.poll() is None, f"ended with {process.returncode} before it responded"
            try:
                answer = client.get(url)
            except httpx.TransportError:
                brief_pause()
                continue
            if answer.status_code < 500:
                return answer
            brief_pause()
    raise AssertionError(f"{url} did not respond within {PATIENCE:g} s")


def brief_pause() -> None:
    time.sleep(0.05)


@contextmanager
def started(*command: str, url: str, place: Path = ROOT, **how: Any) -> Iterator[subprocess.Popen[bytes]]:
    """Run one of our programs during the block. It ends at once, even with open connections."""
    process = subprocess.Popen([sys.executable, *command], cwd=place, **how)
    try:
        wait_for(url, process)
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)


@contextmanager
def running(*command: str, url: str, env: dict[str, str] | None = None, place: Path = ROOT) -> Iterator[str]:
    """Run one of our programs during the block, and give its URL."""
    with started(*command, url=url, place=place, env=os.environ | (env or {})):
        yield url


@contextmanager
def dashboard(*, place: Path = ROOT, **env: str) -> Iterator[str]:
    """Run the dashboard with gunicorn on its own port with these settings. `place` is the checkout or a copy of it."""
    port = free_port()
    root = f"http://127.0.0.1:{port}"
    command = ("-m", "gunicorn", "--config", GUNICORN)
    copy = {} if "INTENTS_SERVICE_URL" in env else {"INTENTS_DATABASE": NO_COPY}
    with running(*command, url=f"{root}/healthz", env={"PORT": str(port), **copy, **env}, place=place):
        yield root
