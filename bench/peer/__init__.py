"""The history's rows as a page of Next.js, for comparison: its production build, rendered on the server.

The application is in this folder. It is installed and built in `.peer`, outside of the folders that tests and linters
read, when it isn't there or has changed. That needs Node and npm.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.processes import ROOT, Server, clean, serving
from tests.serving import free_port

HERE = Path(__file__).parent
BUILT = ROOT / ".peer"
SOURCES = (".npmrc", "package.json", "package-lock.json", "app/layout.js", "app/page.js")
NEXT = "node_modules/next/dist/bin/next"
INSTALL_SECONDS = 300.0
QUIET = {"NEXT_TELEMETRY_DISABLED": "1"}


@contextmanager
def peer(service: str) -> Iterator[Server | None]:
    """Run the page. Without Node, or if it can't be built, say so and yield None."""
    try:
        build()
    except (LookupError, OSError, subprocess.SubprocessError) as error:
        print(f"Without the Next.js page: {error}", flush=True)
        yield None
        return
    port, null = free_port(), subprocess.DEVNULL
    command = [NEXT, "start", "--hostname", "127.0.0.1", "--port", str(port)]
    env = clean(SERVICE_URL=service, NODE_ENV="production", **QUIET)
    how = {"program": shutil.which("node"), "cwd": BUILT, "env": env, "stdout": null, "stderr": null}
    with serving(command, "/", port=port, **how) as server:
        yield server


def build() -> None:
    """Install and build the page unless it is up to date. Raises LookupError without Node."""
    if not shutil.which("node") or not shutil.which("npm"):
        raise LookupError("Node and npm are not installed")
    sources = "".join((HERE / name).read_text() for name in SOURCES)
    stamp = BUILT / "built"
    if stamp.is_file() and stamp.read_text() == sources:
        return
    print("Building the Next.js page in .peer ...", flush=True)
    shutil.rmtree(BUILT, ignore_errors=True)
    for name in SOURCES:
        (BUILT / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(HERE / name, BUILT / name)
    for command in (["npm", "ci"], ["npm", "run", "build"]):
        how = {"check": True, "capture_output": True, "timeout": INSTALL_SECONDS}
        subprocess.run(command, cwd=BUILT, env=os.environ | QUIET, **how)  # noqa: S603 - our own commands
    stamp.write_text(sources)
