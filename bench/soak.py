"""Soak test: fifty clients and a misbehaving service, then checks for errors and leaks:

    .venv/bin/python -m bench.soak --minutes 30

The dashboard is gunicorn with one worker as in gunicorn.conf.py. The service is the emulator on a loopback port behind
the fault schedule of `bench/fault_schedule.py` (silence, resets, truncated and slow responses, 100 MB, a gzip bomb,
HTML, invalid JSON, 429). Clients have fifty addresses, as reported by a trusted proxy, request about a page a second
each, follow transfers, paste tickets, download exports, send raw calls, and sometimes disconnect early.

The test passes if no status was a 5xx other than 503, every page was complete and leaked no secrets, the numbers of
tasks, sockets, files and threads returned to those after the warm-up, and resident memory stayed within 20% of its
value then. The warm-up fills the caches and includes the faults that take most memory. Memory growth in the second half
is reported as well, because 20% would hide a slow leak.
"""

import argparse
import asyncio
import contextlib
import json
import os
import random
import re
import statistics
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import httpx

from bench.fault_schedule import FaultSchedule, Service, served
from intents_ui.emulator import Emulator, names
from intents_ui.emulator.names import Role
from intents_ui.service.http.transport import KEEP_ALIVE_SECONDS
from tests.serving import ROOT, free_port

VISITORS: Final = 50
WARM_UP: Final = 0.3  # of the total time, five minutes at most
RESTS: Final = 5.0  # for work that continues after its client disconnected
EXPIRES: Final = KEEP_ALIVE_SECONDS + 1  # idle time, so that no connection to the service stays open
ROUNDS: Final = 5  # rounds of that until everything must have returned to normal
STRETCHES: Final = 12  # parts of the second half. The minimum of each is the memory in permanent use
MORE_MEMORY: Final = 1.2
KEY: Final = "canary-access-key-of-the-soak"
SECRET: Final = "canary-secret-of-the-soak-and-of-no-installation"  # noqa: S105 - a test value
FORBIDDEN: Final = ("Traceback", KEY, SECRET, str(ROOT), "django.", "site-packages")
# Thread pools that keep their threads, with their limits.
POOLS: Final = {"page": 64, "question": 48, "ticket": 16, "text": 4, "asyncio": 32, "export": 4}
FRAGMENTS: Final = ("/newest", "/receipt")
# Expected statuses. 503 is the only 5xx that an outage of the service may cause.
STATUSES: Final = frozenset({200, 301, 302, 304, 308, 400, 403, 404, 405, 409, 413, 414, 429, 431, 503})
ALARMS: Final = ("never retrieved", "Traceback", "never awaited")
USDC: Final = "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"


@dataclass
class Tally:
    """Results of the clients. `wrong` counts what must not happen, with its location."""

    statuses: Counter[int] = field(default_factory=Counter)
    failures: Counter[tuple[str, int]] = field(default_factory=Counter)
    milliseconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    events: int = 0
    left_early: int = 0
    wrong: Counter[str] = field(default_factory=Counter)

    def note(self, kind: str, answer: httpx.Response, began: float, upstream: str) -> None:
        self.statuses[answer.status_code] += 1
        self.milliseconds[kind].append((time.perf_counter() - began) * 1000)
        if answer.status_code >= 500:
            self.failures[kind, answer.status_code] += 1
        for problem in problems(answer, upstream):
            self.wrong[f"{problem}: {answer.request.method} {answer.request.url.path}"] += 1


def problems(answer: httpx.Response, upstream: str) -> list[str]:
    path, is_html = answer.request.url.path, answer.headers.get("content-type", "").startswith("text/html")
    # The console shows a call as curl, with the service's URL.
    words = FORBIDDEN if path.startswith("/console/") else (*FORBIDDEN, upstream)
    found = [f"{answer.status_code}"] if answer.status_code not in STATUSES else []
    found += [f"tells {word!r}" for word in words if word in answer.text]
    if is_html and not answer.is_redirect and not path.endswith(FRAGMENTS):
        found += [f"without {part}" for part in ("<title>", "<h1", "</html>") if part not in answer.text]
    return found


class Visitor:
    def __init__(self, root: str, number: int, places: "Places", tally: Tally, upstream: str) -> None:
        self.chance = random.Random(number)  # noqa: S311 - reproducible, not security
        self.places = places
        self.tally = tally
        self.upstream = upstream
        headers = {"X-Forwarded-For": f"198.51.{number // 200}.{number % 200 + 1}"}
        self.http = httpx.AsyncClient(base_url=root, headers=headers, trust_env=False, timeout=60)

    async def stay(self, until: Callable[[], bool]) -> None:
        async with self.http:
            while not until():
                await asyncio.sleep(self.chance.expovariate(1.0))
                try:
                    await self.look()
                except (httpx.HTTPError, TimeoutError) as error:
                    self.tally.wrong[f"{type(error).__name__} {str(error)[:60]}"] += 1

    async def look(self) -> None:
        kind = self.chance.choices(KINDS, WEIGHTS)[0]
        match kind:
            case "stream":
                await self.follow()
            case "triage":
                await self.request(kind, "/triage", data={"q": self.places.ticket(self.chance)})
            case "export" if self.chance.random() < 0.5:
                await self.leave_early(self.places.path(kind, self.chance))
            case _ if self.chance.random() < 0.03:
                await self.leave_early(self.places.path(kind, self.chance))
            case _:
                await self.request(kind, self.places.path(kind, self.chance))

    async def request(self, kind: str, path: str, data: dict[str, str] | None = None) -> None:
        began = time.perf_counter()
        answer = await (self.http.post(path, data=data) if data else self.http.get(path))
        self.tally.note(kind, answer, began, self.upstream)

    async def leave_early(self, path: str) -> None:
        self.tally.left_early += 1
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.chance.uniform(0.01, 0.5)), self.http.stream("GET", path) as answer:
                async for _ in answer.aiter_raw():
                    break

    async def follow(self) -> None:
        """Follow a stream. Some clients don't read it, and some are rejected."""
        path = f"/live/{self.chance.choice(self.places.moving)}"
        began, reads = time.perf_counter(), self.chance.random() < 0.8
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.chance.uniform(0.5, 6)), self.http.stream("GET", path) as answer:
                self.tally.statuses[answer.status_code] += 1
                self.tally.milliseconds["stream"].append((time.perf_counter() - began) * 1000)
                if answer.status_code not in STATUSES:
                    self.tally.wrong[f"{answer.status_code}: GET /live/"] += 1
                if not reads:
                    await asyncio.sleep(10)
                async for piece in answer.aiter_raw():
                    self.tally.events += piece.count(b"\n\n")


class Places:
    """What clients request: finished and open transfers, their owners, and unknown IDs."""

    def __init__(self, emulator: Emulator) -> None:
        self.finished = [each.finished for each in emulator.scenarios(moving=False)]
        self.moving = [emulator.play("cctp-slow", age=60 + number)["intentId"] for number in range(8)]
        self.owners = [names.address_of(Role.OWNER, number) for number in range(8)]
        self.unknown = [f"0x{number:064x}" for number in range(20)]

    def path(self, kind: str, chance: random.Random) -> str:
        intent = chance.choice(self.finished + self.moving + self.unknown[:4])
        owner = chance.choice(self.owners)
        one_of: dict[str, tuple[str, ...]] = {
            "home": ("/", "/newest", "/help", "/demo", "/healthz", "/robots.txt"),
            "intent": (f"/intent/{intent}", f"/intent/{intent}", f"/intent/{intent}.json", f"/intent/{intent}/receipt"),
            "parts": tuple(
                f"/intent/{intent}/{part}"
                for part in ("balances", "everyone", "reply", "share", "badge.svg", "card.png", "feed.atom", "qr.svg")
            ),
            "history": (
                "/history",
                "/history?status=FAILED",
                "/history?origin=8453",
                "/recoverable",
                "/history?status=LOST",
            ),
            "search": (f"/search?q={intent}", f"/search?q={owner}", "/search?q=nobody", f"/search?q={quote(TICKET)}"),
            "address": (f"/address/{owner}", f"/address/{owner}/feed.json", f"/address/{USDC}"),
            "tokens": ("/tokens", "/tokens?q=usd", "/tokens?chain=8453", f"/tokens?q={chance.choice('abcdefgh')}"),
            "token": (f"/token/1/{USDC}", f"/token/1/{USDC}/routes", "/token/8453/0x" + "12" * 20),
            "chains": ("/chains", "/chain/8453", "/chain/424242", f"/routes?from=1&token={USDC}", "/routes/matrix"),
            "console": tuple(
                f"/console/{operation}?ask=json&json={quote(json.dumps(document))}"
                for operation, document in (
                    ("GetChains", {}),
                    ("GetIntent", {"intentId": intent}),
                    ("SearchIntents", {"byOwnerAddress": owner}),
                    ("GetIntent", {"intentId": 5}),
                )
            ),
            "export": ("/export/history.csv", f"/export/address/{owner}.ndjson", "/export/recoverable.json"),
        }
        return chance.choice(one_of[kind])

    def ticket(self, chance: random.Random) -> str:
        return "\n".join([TICKET, *chance.sample(self.finished + self.unknown, 4), chance.choice(self.owners)])


TICKET: Final = "my money is gone, see https://etherscan.io/tx/0x" + "ab" * 32
KINDS: Final = ("intent", "home", "history", "search", "address", "tokens", "token", "chains", "parts", "console",
                "export", "triage", "stream")  # fmt: skip
WEIGHTS: Final = (24, 8, 10, 10, 6, 6, 4, 6, 8, 5, 1, 2, 12)


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
    """gunicorn's worker, seen through /proc and `bench/instrumented.py`."""

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
        intent = f"0x{random.randbytes(32).hex()}"  # noqa: S311 - an unknown intent
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
    command = [sys.executable, "-m", "gunicorn", "--config", "gunicorn.conf.py", "bench.instrumented:application"]
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


@dataclass
class Soak:
    """Results of the soak test."""

    minutes: float
    tally: Tally
    injected: Counter[str]
    calls: int
    start: Figures
    end: Figures
    memory: list[tuple[float, int]]  # minutes and megabytes while clients were active
    log: Counter[str]

    def verdict(self) -> list[str]:
        """Return what is wrong."""
        found = [f"{count} x {what}" for what, count in self.tally.wrong.items()]
        found += [f"{count} x in the log: {what}" for what, count in self.log.items() if what in ALARMS]
        if not self.end.is_back_to(self.start):
            found.append(f"left behind: {self.end} after {self.start}")
        if self.end.memory > self.start.memory * MORE_MEMORY:
            found.append(f"{self.end.memory} MB resident after {self.start.memory} MB")
        return found

    def growth(self) -> float:
        """Return the memory growth in the second half, in megabytes per ten minutes."""
        half = self.memory[-1][0] / 2
        stretches: dict[int, list[tuple[float, int]]] = defaultdict(list)
        for minute, memory in self.memory:
            if minute >= half:
                stretches[int((minute / half - 1) * STRETCHES)].append((minute, memory))
        least = [min(each, key=lambda point: point[1]) for each in stretches.values()]
        return statistics.linear_regression(*zip(*least, strict=True)).slope * 10

    def print(self) -> None:
        every = [each for times in self.tally.milliseconds.values() for each in times]
        print(f"\n{self.minutes:g} minutes, {VISITORS} visitors, {len(every):,} answers of {self.calls:,} calls")
        print(f"{self.tally.left_early:,} left early; {self.tally.events:,} events of streams")
        print("faults   ", formatted(self.injected))
        print("statuses ", formatted(self.tally.statuses))
        print("log      ", formatted(self.log) or "-")
        print(f"\n{'':12}{'answers':>9}{'5xx':>7}{'ms p50':>9}{'ms p99':>9}")
        for kind in (*KINDS, ""):
            times = self.tally.milliseconds.get(kind, []) if kind else every
            failed = sum(count for (of, _), count in self.tally.failures.items() if of == (kind or of))
            print(
                f"{kind or 'all':12}{len(times):>9,}{failed:>7,}{quantile(times, 50):>9.0f}{quantile(times, 99):>9.0f}"
            )
        print(f"\n{'':12}{'start':>9}{'end':>9}{'most':>9}")
        for name in ("tasks", "sockets", "files"):
            print(f"{name:12}{getattr(self.start, name):>9}{getattr(self.end, name):>9}")
        print(f"{'threads':12}{sum(self.start.threads.values()):>9}{sum(self.end.threads.values()):>9}")
        most = max(memory for _, memory in self.memory)
        print(f"{'resident MB':12}{self.start.memory:>9}{self.end.memory:>9}{most:>9}")
        print(f"in the last half {self.growth():+.1f} MB in ten minutes")
        print("threads at the end:", formatted(Counter(self.end.threads)))
        print("\n" + ("\n".join(self.verdict()) or "Everything is as it should be."))


def formatted(counted: Counter[Any]) -> str:
    return ", ".join(f"{what} {count:,}" for what, count in counted.most_common())


def quantile(numbers: list[float], percent: int) -> float:
    return statistics.quantiles(numbers, n=100)[percent - 1] if len(numbers) > 1 else sum(numbers)


def read_log(path: Path) -> Counter[str]:
    """Count log lines by level, and alarms by text."""
    lines = path.read_text(errors="replace").splitlines()
    levels = Counter(found[1] for line in lines if (found := re.search(r'"level": "(\w+)"', line)))
    return levels + Counter(alarm for line in lines for alarm in ALARMS if alarm in line)


async def soak(minutes: float, *, keep_log: Path | None = None) -> Soak:
    emulator = Emulator(hold=10.0)
    schedule = FaultSchedule(random.Random(4711))  # noqa: S311 - reproducible, not security
    service = Service(emulator, schedule)
    warm_up = min(minutes * 60 * WARM_UP, 300.0)
    with tempfile.TemporaryDirectory() as folder:
        async with served(service) as url, dashboard(url, keep_log or Path(folder)) as each:
            places = Places(emulator)
            upstream = url.removeprefix("http://")
            tally, memory, began = Tally(), list[tuple[float, int]](), time.monotonic()

            async def crowd(seconds: float) -> None:
                schedule.calm, until = False, time.monotonic() + seconds
                coming = [Visitor(each.root, number, places, tally, upstream) for number in range(VISITORS)]
                staying = asyncio.gather(*(visitor.stay(lambda: time.monotonic() >= until) for visitor in coming))
                while not staying.done():
                    await asyncio.wait([staying], timeout=2)
                    memory.append(((time.monotonic() - began) / 60, each.memory()))
                await staying
                schedule.calm = True

            await crowd(warm_up)
            start = await each.quiet()
            print(f"warm after {warm_up:.0f} s: {start}", flush=True)
            await crowd(minutes * 60 - warm_up)
            end = await each.quiet(start)
        return Soak(minutes, tally, schedule.injected, service.calls, start, end, memory, read_log(each.log))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description="Does everything hold, and come back?")
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--log", type=Path, help="folder in which the dashboard's log is kept")
    options = parser.parse_args()
    found = asyncio.run(soak(min(max(options.minutes, 0.5), 600), keep_log=options.log))
    found.print()
    if found.verdict():
        raise SystemExit(1)


if __name__ == "__main__":
    main()
