"""The history's rows as a page of Next.js, for comparison: its production build, rendered on the server.

The application is in this folder. It is installed and built in `.peer`, outside of the folders that tests and linters
read, when it isn't there or has changed. That needs Node and npm.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.live import processor_seconds, resident_kb
from bench.processes import ROOT, clean, ended
from tests.serving import free_port, wait_for

HERE = Path(__file__).parent
BUILT = ROOT / ".peer"
SOURCES = (".npmrc", "package.json", "package-lock.json", "app/layout.js", "app/page.js")
NEXT = "node_modules/next/dist/bin/next"
MIN_NODE = 20
INSTALL_SECONDS = 300.0
QUIET = {"NEXT_TELEMETRY_DISABLED": "1"}


@dataclass
class Peer:
    """A running Next.js server with its child processes."""

    port: int
    pid: int

    @property
    def processor(self) -> float:
        return sum(map(processor_seconds, family(self.pid)))

    @property
    def megabytes(self) -> float:
        return sum(map(resident_kb, family(self.pid))) / 1024


def family(pid: int) -> Iterator[int]:
    """Yield a process and its descendants."""
    yield pid
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in path.read_text().split():
            yield from family(int(child))


@contextmanager
def peer(service: str) -> Iterator[Peer | None]:
    """Run the page. Without Node, or if it can't be built, say so and yield None."""
    node = shutil.which("node")
    if reason := missing() or unbuilt():
        print(f"Without the Next.js page: {reason}", flush=True)
        yield None
        return
    port = free_port()
    command = [NEXT, "start", "--hostname", "127.0.0.1", "--port", str(port)]
    env = clean(SERVICE_URL=service, NODE_ENV="production", **QUIET)
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with ended(command, program=str(node), cwd=BUILT, env=env, **silent) as process:
        wait_for(f"http://127.0.0.1:{port}/", process)
        yield Peer(port, process.pid)


def missing() -> str:
    """Return what isn't there of Node and npm."""
    if not (node := shutil.which("node")) or not shutil.which("npm"):
        return "Node and npm are not installed"
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603 - the program on the path
    major = re.match(r"v(\d+)", version)
    return "" if major and int(major[1]) >= MIN_NODE else f"Node {version} is older than {MIN_NODE}"


def unbuilt() -> str:
    """Install and build the page unless it is up to date. Return why that failed."""
    sources = "".join((HERE / name).read_text() for name in SOURCES)
    stamp = BUILT / "built"
    if stamp.is_file() and stamp.read_text() == sources:
        return ""
    print("Building the Next.js page in .peer ...", file=sys.stderr)
    shutil.rmtree(BUILT, ignore_errors=True)
    for name in SOURCES:
        (BUILT / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(HERE / name, BUILT / name)
    env = os.environ | QUIET
    for command in (["npm", "ci"], ["npm", "run", "build"]):
        try:
            subprocess.run(command, cwd=BUILT, env=env, check=True, capture_output=True, timeout=INSTALL_SECONDS)  # noqa: S603 - our own commands
        except (subprocess.SubprocessError, OSError) as error:
            return f"`{' '.join(command)}` failed: {error}"
    stamp.write_text(sources)
    return ""
