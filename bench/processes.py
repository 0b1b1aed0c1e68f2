"""Processes of the benchmarks, all on loopback: the dashboard as in production, and stub services."""

import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.serving import GUNICORN, ROOT, free_port, wait_for

KEY = "a key of the measurement, and of no installation"
CHECKOUT = ("intents_ui", "templates", "static", "gunicorn.conf.py", "manage.py", "pyproject.toml")
PATIENCE = 30.0
OURS = re.compile(r"INTENTS_|REDIS_URL$|WEB_CONCURRENCY$|PORT$|HOST$|DEBUG$|SECRET_KEY$|LOG_FORMAT$")


def clean(**more: str) -> dict[str, str]:
    """Return the environment without the settings of another dashboard."""
    return {name: value for name, value in os.environ.items() if not OURS.match(name)} | more


def output(*arguments: str, place: Path = ROOT, **settings: str) -> str:
    """Return the output of one of our programs."""
    how: dict[str, Any] = {"cwd": place, "env": clean(**settings), "stdout": subprocess.PIPE, "text": True}
    return subprocess.run([sys.executable, *arguments], check=True, **how).stdout  # noqa: S603 - our own modules


@contextmanager
def ended(command: Sequence[str], program: str = sys.executable, **how: Any) -> Iterator["subprocess.Popen[Any]"]:
    """Run a program during the block, by default one of ours."""
    with subprocess.Popen([program, *command], **{"cwd": ROOT, "env": clean(), **how}) as process:  # noqa: S603 - our own command
        try:
            yield process
        finally:
            process.terminate()  # not SIGINT, which background processes of a shell ignore
            process.wait(PATIENCE)


@contextmanager
def installed() -> Iterator[Path]:
    """Yield a copy of the checkout with collected static files and compiled code, as in the container image.

    Its `.venv` has only the packages of `requirements.txt`. Where development tools are installed, too, httpx
    imports some of them.
    """
    with tempfile.TemporaryDirectory(prefix="intents-bench-") as folder:
        place = Path(folder)
        for source in (ROOT / name for name in CHECKOUT):
            if source.is_dir():
                shutil.copytree(source, place / source.name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, place)
        packages = str(place / ".venv")
        output("-m", "uv", "venv", "--quiet", "--python", sys.executable, packages)
        install = ("uv", "pip", "install", "--quiet", "--compile-bytecode", "--require-hashes")
        output("-m", *install, "--python", packages, "--requirements", str(ROOT / "requirements.txt"))
        output("manage.py", "collectstatic", "--noinput", place=place)
        output("-m", "compileall", "-q", "intents_ui", place=place)
        yield place


@dataclass
class Server:
    """A running server, which is the process `pid` and its descendants, without `pid` if that is gunicorn's arbiter.

    `started_in` is the seconds until its first response.
    """

    port: int
    pid: int
    started_in: float
    is_arbiter: bool

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def pids(self) -> list[int]:
        pids = list(family(self.pid))
        return pids[1:] if self.is_arbiter else pids

    @property
    def processor(self) -> float:
        """CPU time in seconds, including finished threads."""
        return sum(map(processor_seconds, self.pids))

    @property
    def megabytes(self) -> float:
        return sum(map(resident_kb, self.pids)) / 1024

    @property
    def peak_megabytes(self) -> float:
        return sum(resident_kb(pid, "VmHWM:") for pid in self.pids) / 1024


@contextmanager
def serving(command: Sequence[str], ready: str, *, port: int, is_arbiter: bool = False, **how: Any) -> Iterator[Server]:
    """Run a server during the block. It is ready when it responds at the path `ready`."""
    began = time.perf_counter()
    with ended(command, **how) as process:
        wait_for(f"http://127.0.0.1:{port}{ready}", process)
        yield Server(port, process.pid, time.perf_counter() - began, is_arbiter)


@contextmanager
def dashboard(
    place: Path, service: str, settings: Mapping[str, str], application: Sequence[str] = (), log: Any = None
) -> Iterator[Server]:
    """Run an installed dashboard, or that of this checkout. Without a `log`, it still formats its log lines."""
    port, to = free_port(), log or subprocess.DEVNULL
    command = ["-m", "gunicorn", "--config", GUNICORN, *application]
    env = clean(PORT=str(port), INTENTS_SERVICE_URL=service, **{"SECRET_KEY": KEY, **settings})
    program = sys.executable if place == ROOT else str(place / ".venv/bin/python")
    how = {"program": program, "cwd": place, "env": env, "stdout": to, "stderr": to}
    with serving(command, "/healthz", port=port, is_arbiter=True, **how) as server:
        yield server


class StubService:
    """Client of `bench.stub_service`."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.http = httpx.Client(base_url=url, trust_env=False, timeout=PATIENCE)

    def delay(self, seconds: float) -> None:
        self.http.get(f"/delay/{seconds}")

    def renew(self, is_new: bool) -> None:
        """Make all rows of each response differ from all before, or let them come again."""
        self.http.get(f"/new/{is_new:d}")

    @property
    def counters(self) -> dict[str, Any]:
        received: dict[str, Any] = self.http.get("/counters").json()
        return received

    def call(self, operation: str, **request: Any) -> Any:
        return self.http.post(f"/rpc/Service/{operation}", json=request).json()


@contextmanager
def stub_service() -> Iterator[StubService]:
    port = free_port()
    with serving(["-m", "bench.stub_service", "--port", str(port)], "/counters", port=port) as server:
        service = StubService(server.url)
        with service.http:
            yield service


@contextmanager
def history_stub(*, entries: int, days: float = 30.0, rate: float = 0.0) -> Iterator[str]:
    """Run `bench.history_stub` during the block, and yield its URL."""
    port = free_port()
    options = ["--port", str(port), "--entries", str(entries), "--days", str(days), "--rate", str(rate)]
    with serving(["-m", "bench.history_stub", *options], "/ready", port=port) as server:
        yield server.url


def family(pid: int) -> Iterator[int]:
    """Yield a process and its descendants."""
    yield pid
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in path.read_text().split():
            yield from family(int(child))


def resident_kb(pid: int, which: str = "VmRSS:") -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(which))


def processor_seconds(pid: int) -> float:
    """Return the CPU time of a process, including finished threads."""
    # Linux numbers a process's CPU clock like this (clock_getcpuclockid). /proc counts hundredths of a second only.
    return time.clock_gettime((~pid << 3) | 2)


def quantile(numbers: Sequence[float], percent: int) -> float:
    return statistics.quantiles(numbers, n=100)[percent - 1] if len(numbers) > 1 else sum(numbers)
