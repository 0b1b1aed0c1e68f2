"""The dashboard of the soak test: its process, and what it uses."""

import asyncio
import contextlib
import os
import random
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx

from bench.soak.visitors import KEY, SECRET
from intents_ui.service.client import KEEP_ALIVE_SECONDS
from tests.serving import ROOT, free_port

RESTS: Final = 5.0  # for work that continues after its client disconnected
EXPIRES: Final = KEEP_ALIVE_SECONDS + 1  # idle time, so that no connection to the service stays open
ROUNDS: Final = 5  # rounds of that until everything must have returned to normal
# Thread pools that keep their threads, with their limits.
POOLS: Final = {"page": 64, "question": 48, "ticket": 16, "text": 4, "asyncio": 32, "export": 4}


@dataclass(frozen=True)
class Figures:
    tasks: int
    threads: dict[str, int]
    sockets: int
    files: int
    memory: int

    def is_back_to(self, start: "Figures") -> bool:
        """Return whether the process is back to its state at `start`.

        Thread pools and clients may keep a few threads and connections.
        """
        is_quiet = self.tasks <= start.tasks and self.sockets <= start.sockets + 2 and self.files <= start.files
        return is_quiet and all(
            count <= max(start.threads.get(name, 0), POOLS.get(name, 0)) for name, count in self.threads.items()
        )


class Dashboard:
    """gunicorn's worker, seen through /proc and `bench/soak/instrumented.py`."""

    def __init__(self, root: str, arbiter: int, log: Path) -> None:
        self.root = root
        self.log = log
        children = Path(f"/proc/{arbiter}/task/{arbiter}/children")
        (self.pid,) = map(int, children.read_text().split())

    async def figures(self) -> Figures:
        async with httpx.AsyncClient(trust_env=False, headers={"Connection": "close"}) as http:
            counters = (await http.get(f"{self.root}/figures")).json()
        places = [os.readlink(each) for each in Path(f"/proc/{self.pid}/fd").iterdir() if each.is_symlink()]
        sockets = sum(place.startswith("socket:") for place in places)
        return Figures(counters["tasks"], counters["threads"], sockets, len(places) - sockets, self.memory())

    async def ask_for_nothing(self) -> None:
        """Send requests that need a connection: a client closes broken and idle ones only then.

        Pages and streams have one client each.
        """
        intent = f"0x{random.randbytes(32).hex()}"
        async with httpx.AsyncClient(trust_env=False, headers={"Connection": "close"}, timeout=60) as http:
            await http.get(f"{self.root}/intent/{intent}")
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(2):
                    await http.get(f"{self.root}/live/{intent}")

    def memory(self) -> int:
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) // 1024

    async def quiet(self, start: Figures | None = None) -> Figures:
        """Return the figures once they are back to `start`, or the last ones after the timeout."""
        await asyncio.sleep(RESTS)
        for _ in range(ROUNDS):
            await asyncio.sleep(EXPIRES)
            await self.ask_for_nothing()
            await asyncio.sleep(1)
            now = await self.figures()
            if start is None or now.is_back_to(start):
                break
        return now


@contextlib.asynccontextmanager
async def dashboard(service_url: str, folder: Path) -> AsyncIterator[Dashboard]:
    port, log = free_port(), folder / "log"
    env = {
        "PORT": str(port),
        "INTENTS_SERVICE_URL": service_url,
        "INTENTS_SERVICE_ACCESS_KEY": KEY,
        "SECRET_KEY": SECRET,
        "INTENTS_CONSOLE": "read",
        "TRUSTED_PROXIES": "127.0.0.1",
        "LOG_FORMAT": "json",
    }
    # By its folder: the package would be imported into the process that is measured.
    application = ["--pythonpath", str(Path(__file__).parent), "instrumented:application"]
    command = [sys.executable, "-m", "gunicorn", "--config", "gunicorn.conf.py", *application]
    with log.open("wb") as file:
        process = await asyncio.create_subprocess_exec(
            *command, cwd=ROOT, env=os.environ | env, stdout=file, stderr=asyncio.subprocess.STDOUT
        )
    root = f"http://127.0.0.1:{port}"
    try:
        await answers(f"{root}/healthz", process)
        yield Dashboard(root, process.pid, log)
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()


async def answers(url: str, process: asyncio.subprocess.Process) -> None:
    async with httpx.AsyncClient(trust_env=False) as http, asyncio.timeout(30):
        while True:
            if process.returncode is not None:
                raise SystemExit(f"The dashboard ended with {process.returncode} before it answered.")
            with contextlib.suppress(httpx.TransportError):
                await http.get(url)
                return
            await asyncio.sleep(0.05)
