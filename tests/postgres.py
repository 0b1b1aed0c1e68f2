"""A private PostgreSQL server, for tests and benchmarks."""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.serving import brief_pause
from tests.waiting import PATIENCE

PROGRAMS = Path("/usr/lib/postgresql/15/bin")
USER = "nobody"  # exists on Debian. initdb refuses root, and users without a name


@contextlib.contextmanager
def server(*settings: str) -> Iterator[str]:
    """Run a server that listens on a Unix socket only, with these settings (`fsync=off`). Yields its URL."""
    place = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
    as_user: list[str] = []
    if os.geteuid() == 0:  # as which it refuses to run
        shutil.chown(place, USER)
        as_user = ["setpriv", f"--reuid={USER}", "--clear-groups", "--"]
    env = {**os.environ, "LC_ALL": "C"}
    subprocess.run(
        [*as_user, str(PROGRAMS / "initdb"), "-D", str(place / "data"), "-U", "mirror", "-A", "trust", "--no-sync"],
        check=True, capture_output=True, env=env, cwd="/",
    )  # fmt: skip
    options = [f"-c{each}" for each in ("listen_addresses=", f"unix_socket_directories={place}", *settings)]
    command = [*as_user, str(PROGRAMS / "postgres"), "-D", str(place / "data"), *options]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env, cwd="/")
    try:
        deadline = time.monotonic() + PATIENCE
        while subprocess.run([str(PROGRAMS / "pg_isready"), "--quiet", "--host", str(place)]).returncode:
            assert time.monotonic() < deadline, "PostgreSQL did not start"
            brief_pause()
        yield f"postgres://mirror@/postgres?host={place}"
    finally:
        process.send_signal(signal.SIGINT)  # it doesn't wait until its clients have left
        process.wait()
        shutil.rmtree(place, ignore_errors=True)
