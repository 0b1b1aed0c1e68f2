"""Process runner for benchmarks, all on loopback: the dashboard as in production, the stub service, the clients."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol, cast

import httpx

from bench.live import processor_seconds, resident_kb
from tests.gunicorn_constants import POLICIES, constants
from tests.serving import GUNICORN, ROOT, free_port, wait_for

KEY = "a key of the measurement, and of no installation"
CHECKOUT = ("intents_ui", "templates", "static", "gunicorn.conf.py", "manage.py", "pyproject.toml")


def _ages(fresh: int, old: int) -> dict[str, int]:
    return {"fresh": fresh, "renewed": fresh, "old": old}


# Kinds of responses that are requested each time. Lists of chains and tokens stay cached, as in any warm process.
UNCACHED = ("older_history", "token_search")
# Those are kept for outages, so that what comes again is known.
KEPT = ("moving", "ended_lately", "ended", "stopped_lately", "stopped", "balances", "search")
# First pages of lists are fresh all the time. They keep the rows of later pages known (`bench.pages.cases`).
RENEWING_POLICIES = {
    "history": _ages(3600, 3600),
    **{key: _ages(0, 0) for key in UNCACHED},
    **{key: _ages(0, 3600) for key in KEPT},
}
RENEWING = constants(**{POLICIES: RENEWING_POLICIES})
COLD = constants(**{POLICIES: {key: _ages(0, 0) for key in ("history", *UNCACHED, *KEPT)}})
CACHED: Mapping[str, str] = {}
PATIENCE = 30.0


@contextmanager
def installed() -> Iterator[Path]:
    """Yield a copy of the checkout with collected static files and compiled code, as in the container image.

    Its `.venv` has only the packages of `requirements.txt`. Where development tools are installed, too, httpx
    imports some of them.
    """
    with tempfile.TemporaryDirectory(prefix="intents-bench-") as folder:
        place = Path(folder)
        for name in CHECKOUT:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, place / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, place / name)
        packages = str(place / ".venv")
        output("-m", "uv", "venv", "--quiet", "--python", sys.executable, packages)
        install = ("uv", "pip", "install", "--quiet", "--compile-bytecode", "--require-hashes")
        output("-m", *install, "--python", packages, "--requirements", str(ROOT / "requirements.txt"))
        output("manage.py", "collectstatic", "--noinput", place=place)
        output("-m", "compileall", "-q", "intents_ui", place=place)
        yield place


def output(*arguments: str, place: Path = ROOT, **settings: str) -> str:
    """Return the output of one of our programs."""
    command, env = [sys.executable, *arguments], clean(**settings)
    # The arguments are our own modules, paths and addresses.
    return subprocess.run(command, cwd=place, env=env, stdout=subprocess.PIPE, check=True, text=True).stdout  # noqa: S603 - as explained above


def clean(**more: str) -> dict[str, str]:
    """Return the environment without the settings of another dashboard."""
    ours = re.compile(r"INTENTS_|REDIS_URL$|WEB_CONCURRENCY$|PORT$|HOST$|DEBUG$|SECRET_KEY$|LOG_FORMAT$")
    return {name: value for name, value in os.environ.items() if not ours.match(name)} | more


class Server(Protocol):
    """A running web server. `processor`: CPU time in seconds, including finished threads."""

    port: int

    @property
    def processor(self) -> float: ...

    @property
    def megabytes(self) -> float: ...


@dataclass
class Dashboard:
    """A running dashboard, seen through its worker. `started_in` is the seconds until its first response."""

    port: int
    master: int
    started_in: float

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def worker(self) -> int:
        return int(Path(f"/proc/{self.master}/task/{self.master}/children").read_text().split()[0])

    @property
    def processor(self) -> float:
        return processor_seconds(self.worker)

    @property
    def megabytes(self) -> float:
        return resident_kb(self.worker) / 1024


@contextmanager
def dashboard(place: Path, service: str, settings: Mapping[str, str]) -> Iterator[Dashboard]:
    port, began = free_port(), time.perf_counter()
    env = clean(PORT=str(port), SECRET_KEY=KEY, INTENTS_SERVICE_URL=service, **settings)
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}  # it still formats its log lines
    command, python = ["-m", "gunicorn", "--config", GUNICORN], str(place / ".venv/bin/python")
    with ended(command, python, cwd=place, env=env, **silent) as process:
        wait_for(f"http://127.0.0.1:{port}/healthz", process)
        yield Dashboard(port, process.pid, time.perf_counter() - began)


@contextmanager
def ended(command: Sequence[str], program: str = sys.executable, **how: Any) -> Iterator["subprocess.Popen[Any]"]:
    """Run a program during the block, by default one of ours."""
    with subprocess.Popen([program, *command], **how) as process:  # noqa: S603 - our own command
        try:
            yield process
        finally:
            process.terminate()  # not SIGINT, which background processes of a shell ignore
            process.wait(PATIENCE)


class StubService:
    """Client of `bench.stub_service`."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.http = httpx.Client(base_url=url, trust_env=False, timeout=PATIENCE)

    def delay(self, seconds: float) -> None:
        self.http.get(f"/delay/{seconds}")

    def change(self, rows: int) -> None:
        """Make so many rows of each response differ from all before."""
        self.http.get(f"/changed/{rows}")

    @property
    def counters(self) -> dict[str, Any]:
        received: dict[str, Any] = self.http.get("/counters").json()
        return received

    def call(self, operation: str, **request: Any) -> Any:
        return self.http.post(f"/rpc/Service/{operation}", json=request).json()


@contextmanager
def stub_service() -> Iterator[StubService]:
    port = free_port()
    with ended(["-m", "bench.stub_service", "--port", str(port)], cwd=ROOT, env=clean()) as process:
        wait_for(f"http://127.0.0.1:{port}/counters", process)
        service = StubService(f"http://127.0.0.1:{port}")
        with service.http:
            yield service


@contextmanager
def history_stub(*, entries: int, days: float = 30.0, rate: float = 0.0) -> Iterator[str]:
    """Run `bench.history_stub` during the block, and yield its URL."""
    port = free_port()
    options = ["--port", str(port), "--entries", str(entries), "--days", str(days), "--rate", str(rate)]
    with ended(["-m", "bench.history_stub", *options], cwd=ROOT, env=clean()) as process:
        wait_for(f"http://127.0.0.1:{port}/ready", process)
        yield f"http://127.0.0.1:{port}"


class Clients:
    """Client of `bench.load`."""

    def __init__(self, commands: IO[str], results: IO[str]) -> None:
        self.commands = commands
        self.results = results

    def run(self, port: int, paths: Sequence[str], **how: float | str) -> dict[str, Any]:
        """Run clients. `how`: connections, seconds, pause, encoding."""
        options = {"port": port, "paths": list(paths), **how}
        print(json.dumps(options), file=self.commands, flush=True)
        result: dict[str, Any] = json.loads(self.results.readline())
        return result


@contextmanager
def clients() -> Iterator[Clients]:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with ended(["-m", "bench.load"], cwd=ROOT, env=clean(), **pipes) as process:
        yield Clients(cast("IO[str]", process.stdin), cast("IO[str]", process.stdout))
