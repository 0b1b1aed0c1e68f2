"""Soak test: fifty clients and a misbehaving service, then checks for errors and leaks:

    .venv/bin/python -m bench.soak --minutes 30

The dashboard is gunicorn with one worker as in gunicorn.conf.py. The service is the emulator on a loopback port with a
schedule of faults: silence, resets, truncated and slow responses, 100 MB, a gzip bomb, HTML, invalid JSON, 429.
Clients have fifty addresses, as reported by a trusted proxy, request about a page a second each, follow transfers,
paste tickets, download exports, send raw calls, and sometimes disconnect early.

The test passes if no status was a 5xx other than 503, every page was complete and leaked no secrets, the numbers of
tasks, sockets, files and threads returned to those after the warm-up, and resident memory stayed within 20% of its
value then. The warm-up fills the caches and includes the faults that take most memory. On a busy machine it takes
longer. Memory growth in the second half is reported as well, because 20% would hide a slow leak.
"""

import argparse
import asyncio
import contextlib
import gzip
import os
import random
import re
import statistics
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from typing import Any, Final
from urllib.parse import quote

import httpx

from bench.processes import ROOT, Server, dashboard, quantile
from intents_ui.emulator import Emulator, names
from intents_ui.emulator.names import Role
from intents_ui.service.client import KEEP_ALIVE_SECONDS
from tests.faults import upstream
from tests.faults.upstream import Upstream
from tests.service.scripted_server import Script, Visit, answering, response

VISITORS: Final = 50
WARM_UP: Final = 0.3  # of the total time
WARM_RESPONSES: Final = 1_000  # at least, during the warm-up
MAX_WARM_UP: Final = 300.0  # seconds
STRETCHES: Final = 12  # parts of the second half. The minimum of each is the memory in permanent use
MORE_MEMORY: Final = 1.2
ALARMS: Final = ("never retrieved", "Traceback", "never awaited")
RESTS: Final = 5.0  # for work that continues after its client disconnected
EXPIRES: Final = KEEP_ALIVE_SECONDS + 1  # idle time, so that no connection to the service stays open
ROUNDS: Final = 5  # rounds of that until everything must have returned to normal
# Thread pools that keep their threads, with their limits.
POOLS: Final = {"page": 64, "question": 48, "ticket": 16, "text": 4, "asyncio": 32, "export": 4}

PHASE_SECONDS: Final = 10.0
# Share of failing calls in each phase. Overall, most calls succeed.
PHASES: Final = (0.05, 1.0, 0.0, 0.3, 0.02, 0.0)

KEY: Final = "canary-access-key-of-the-soak"
SECRET: Final = "canary-secret-of-the-soak-and-of-no-installation"  # noqa: S105 - a test value
SETTINGS: Final = {
    "INTENTS_SERVICE_ACCESS_KEY": KEY,
    "SECRET_KEY": SECRET,
    "INTENTS_CONSOLE": "read",
    "TRUSTED_PROXIES": "127.0.0.1",
    "LOG_FORMAT": "json",
}
FORBIDDEN: Final = ("Traceback", KEY, SECRET, str(ROOT), "django.", "site-packages")
FRAGMENTS: Final = ("/newest", "/receipt")
# Expected statuses. 503 is the only 5xx that an outage of the service may cause.
STATUSES: Final = frozenset({200, 301, 302, 304, 308, 400, 403, 404, 405, 409, 413, 414, 429, 431, 503})
OWNERS: Final = [names.address_of(Role.OWNER, number) for number in range(8)]
USDC: Final = "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"
TICKET: Final = "my money is gone, see https://etherscan.io/tx/0x" + "ab" * 32
WEIGHTS: Final = {
    "intent": 24, "home": 8, "history": 10, "search": 10, "address": 6, "tokens": 6, "token": 4, "chains": 6,
    "parts": 8, "console": 5, "export": 1, "triage": 2, "stream": 12,
}  # fmt: skip
PARTS: Final = ("balances", "route-stats", "reply", "share", "card.png", "feed.atom", "qr.svg")
QUERIES: Final = ("status=FAILED", "origin=8453", "recoverable=1", "status=LOST")
CALLS: Final = (
    ("GetChains", "{}"),
    ("GetIntent", '{"intentId": "$intent"}'),
    ("SearchIntents", '{"byOwnerAddress": "$owner"}'),
    ("GetIntent", '{"intentId": 5}'),
)
# A transfer, an owner and a letter are filled in.
PATHS: Final = {
    "home": ("/", "/newest", "/help", "/demo", "/healthz", "/robots.txt"),
    "intent": ("/intent/$intent", "/intent/$intent", "/intent/$intent.json", "/intent/$intent/receipt"),
    "parts": tuple(f"/intent/$intent/{part}" for part in PARTS),
    "history": ("/history", *(f"/history?{query}" for query in QUERIES)),
    "search": ("/search?q=$intent", "/search?q=$owner", "/search?q=unmatched", f"/search?q={quote(TICKET)}"),
    "address": ("/address/$owner", "/address/$owner/feed.atom", f"/address/{USDC}"),
    "tokens": ("/tokens", "/tokens?q=usd", "/tokens?chain=8453", "/tokens?q=$letter"),
    "token": (f"/token/1/{USDC}", f"/token/1/{USDC}/routes", "/token/8453/0x" + "12" * 20),
    "chains": ("/chains", "/chain/8453", "/chain/424242", f"/routes?from=1&token={USDC}"),
    "console": tuple(f"/console/{call}?ask=json&json={quote(document, safe='$')}" for call, document in CALLS),
    "export": ("/export/history.csv", "/export/address/$owner.ndjson", "/export/history.json?recoverable=1"),
}


def huge(visit: Visit) -> None:
    """Send 100 MB."""
    visit.send(upstream.HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
    for _ in range(1600):
        visit.send(b"10000\r\n" + b" " * 2**16 + b"\r\n")


# The faults that take most memory come first, so that they are part of the warm-up.
FAULTS: Final = {
    "huge": huge,
    "gzip bomb": answering(gzip.compress(bytes(64 * 2**20), 9), headers={"Content-Encoding": "gzip"}),
    "silence": Visit.stay_silent,
    "reset": Visit.reset,
    "truncated": upstream.raw(response(upstream.PLAIN)[:-20]),
    "drip": upstream.dripping,
    "failing": upstream.STATUSES["an unknown code"],
    "gateway": upstream.STATUSES["502 with a page"],
    "portal": upstream.STATUSES["a captive portal"],
    "garbled": upstream.STATUSES["no JSON"],
}
# Silences the whole dashboard, so it must be rare to leave room for other faults.
RATE_LIMIT: Final = upstream.refusing(1201, "QuotaRateLimit", 429, Retry_After="2")


class FaultyService(Upstream):
    """Has phases without faults, with few, with many, and sometimes with one fault only. `calm` ends all faults."""

    def __init__(self, emulator: Emulator, chance: random.Random) -> None:
        super().__init__(emulator)
        self.chance = chance
        self.calm = False
        self.injected: Counter[str] = Counter()
        self.began = time.monotonic()

    def script_for(self, visit: Visit) -> Script | None:
        self.server.visits.clear()
        phase = int((time.monotonic() - self.began) / PHASE_SECONDS)
        share, faults, name = PHASES[phase % len(PHASES)], {**FAULTS, "late": self.late}, "none"
        if not self.calm and self.chance.random() < share:
            name = "rate limit" if self.chance.random() < 0.01 else self.chance.choice(list(faults))
            if share == 1.0:
                name = list(faults)[phase // len(PHASES) % len(faults)]
        self.injected[name] += 1
        return RATE_LIMIT if name == "rate limit" else faults.get(name)

    def late(self, visit: Visit) -> None:
        visit.closing.wait(1.5)
        self.pass_on(visit)


@dataclass
class Tally:
    """Results of the clients. `wrong` counts what must not happen, with its location."""

    statuses: Counter[int] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    milliseconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    left_early: int = 0
    wrong: Counter[str] = field(default_factory=Counter)

    def count(self, kind: str, response: httpx.Response, began: float, problems: Iterable[str] = ()) -> None:
        status = response.status_code
        self.statuses[status] += 1
        self.milliseconds[kind].append((time.perf_counter() - began) * 1000)
        self.failures[kind] += status >= 500
        for problem in [*problems, *([] if status in STATUSES else [f"{status}"])]:
            self.wrong[f"{problem}: {response.request.method} {response.request.url.path}"] += 1


class Visitor:
    """A client. `moving` are transfers that it follows, `ended` others with some that don't exist."""

    def __init__(
        self, site: Server, number: int, moving: list[str], ended: list[str], tally: Tally, service_address: str
    ) -> None:
        self.chance = random.Random(number)
        self.moving = moving
        self.ended = ended
        self.tally = tally
        self.service_address = service_address
        headers = {"X-Forwarded-For": f"198.51.{number // 200}.{number % 200 + 1}"}
        self.http = httpx.AsyncClient(base_url=site.url, headers=headers, trust_env=False, timeout=60)

    async def stay(self, until: Callable[[], bool]) -> None:
        async with self.http:
            while not until():
                await asyncio.sleep(self.chance.expovariate(1.0))
                try:
                    await self.look()
                except (httpx.HTTPError, TimeoutError) as error:
                    self.tally.wrong[f"{type(error).__name__} {str(error)[:60]}"] += 1

    async def look(self) -> None:
        kind = self.chance.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
        if kind == "stream":
            await self.follow()
        elif kind == "triage":
            lines = [TICKET, *self.chance.sample(self.ended, 4), self.chance.choice(OWNERS)]
            await self.request(kind, "/triage", data={"q": "\n".join(lines)})
        elif self.chance.random() < (0.5 if kind == "export" else 0.03):
            await self.leave_early(self.path(kind))
        else:
            await self.request(kind, self.path(kind))

    def path(self, kind: str) -> str:
        values = {
            "intent": self.chance.choice(self.ended + self.moving),
            "owner": self.chance.choice(OWNERS),
            "letter": self.chance.choice("abcdefgh"),
        }
        return Template(self.chance.choice(PATHS[kind])).substitute(values)

    async def request(self, kind: str, path: str, data: dict[str, str] | None = None) -> None:
        began = time.perf_counter()
        response = await (self.http.post(path, data=data) if data else self.http.get(path))
        self.tally.count(kind, response, began, self.problems(response))

    def problems(self, response: httpx.Response) -> list[str]:
        path = response.request.url.path
        # The console shows a call as curl, with the service's URL.
        words = FORBIDDEN if path.startswith("/console/") else (*FORBIDDEN, self.service_address)
        found = [f"tells {word!r}" for word in words if word in response.text]
        is_html = response.headers.get("content-type", "").startswith("text/html")
        if is_html and not response.is_redirect and not path.endswith(FRAGMENTS):
            found += [f"without {part}" for part in ("<title>", "<h1", "</html>") if part not in response.text]
        return found

    async def leave_early(self, path: str) -> None:
        self.tally.left_early += 1
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.chance.uniform(0.01, 0.5)), self.http.stream("GET", path) as response:
                async for _ in response.aiter_raw():
                    break

    async def follow(self) -> None:
        """Follow a stream. Some clients don't read it, and some are rejected."""
        path = f"/live/{self.chance.choice(self.moving)}"
        began, reads = time.perf_counter(), self.chance.random() < 0.8
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.chance.uniform(0.5, 6)), self.http.stream("GET", path) as response:
                self.tally.count("stream", response, began)
                if not reads:
                    await asyncio.sleep(10)
                async for _ in response.aiter_raw():
                    pass


@dataclass(frozen=True)
class Figures:
    """What the worker uses, seen through /proc and `bench.instrumented`."""

    tasks: int
    threads: dict[str, int]
    sockets: int
    files: int
    megabytes: float

    def is_back_to(self, start: "Figures") -> bool:
        """Return whether the process is back to its state at `start`.

        Thread pools and clients may keep a few threads and connections.
        """
        is_quiet = self.tasks <= start.tasks and self.sockets <= start.sockets + 2 and self.files <= start.files
        return is_quiet and all(
            count <= max(start.threads.get(name, 0), POOLS.get(name, 0)) for name, count in self.threads.items()
        )


async def quiet(site: Server, start: Figures | None = None) -> Figures:
    """Return the figures once they are back to `start`, or the last ones after the timeout."""
    await asyncio.sleep(RESTS)
    for _ in range(ROUNDS):
        await asyncio.sleep(EXPIRES)
        how: dict[str, Any] = {"trust_env": False, "headers": {"Connection": "close"}, "timeout": 60}
        async with httpx.AsyncClient(base_url=site.url, **how) as http:
            # A client closes broken and idle connections when it needs one. Pages and streams have one client each.
            intent = f"0x{random.randbytes(32).hex()}"
            await http.get(f"/intent/{intent}")
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(2):
                    await http.get(f"/live/{intent}")
            await asyncio.sleep(1)
            counters = (await http.get("/figures")).json()
        files = [os.readlink(each) for each in Path(f"/proc/{site.pids[0]}/fd").iterdir() if each.is_symlink()]
        sockets = sum(file.startswith("socket:") for file in files)
        now = Figures(counters["tasks"], counters["threads"], sockets, len(files) - sockets, site.megabytes)
        if start is None or now.is_back_to(start):
            break
    return now


@dataclass
class Soak:
    """Results of the soak test."""

    minutes: float
    tally: Tally
    injected: Counter[str]
    start: Figures
    end: Figures
    memory: list[tuple[float, float]]  # minutes and megabytes while clients were active
    log: Counter[str]

    def verdict(self) -> list[str]:
        """Return what is wrong."""
        found = [f"{count} x {what}" for what, count in self.tally.wrong.items()]
        found += [f"{count} x in the log: {what}" for what, count in self.log.items() if what in ALARMS]
        if not self.end.is_back_to(self.start):
            found.append(f"left behind: {self.end} after {self.start}")
        if self.end.megabytes > self.start.megabytes * MORE_MEMORY:
            found.append(f"{self.end.megabytes:.0f} MB resident after {self.start.megabytes:.0f} MB")
        return found

    def growth(self) -> float:
        """Return the memory growth in the second half, in megabytes per ten minutes."""
        half = self.memory[-1][0] / 2
        stretches: dict[int, list[tuple[float, float]]] = defaultdict(list)
        for minute, megabytes in self.memory:
            if minute >= half:
                stretches[int((minute / half - 1) * STRETCHES)].append((minute, megabytes))
        least = [min(each, key=lambda point: point[1]) for each in stretches.values()]
        return statistics.linear_regression(*zip(*least, strict=True)).slope * 10

    def print(self) -> None:
        times = self.tally.milliseconds | {"all": [each for some in self.tally.milliseconds.values() for each in some]}
        print(f"\n{self.minutes:g} minutes, {VISITORS} visitors, {self.tally.left_early:,} left early")
        for name, counted in (("faults", self.injected), ("statuses", self.tally.statuses), ("log", self.log)):
            print(f"{name:9}", ", ".join(f"{what} {count:,}" for what, count in counted.most_common()) or "-")
        print(f"\n{'':12}{'responses':>9}{'5xx':>7}{'ms p50':>9}{'ms p99':>9}")
        for kind, took in times.items():
            failed = self.tally.failures[kind] if kind != "all" else self.tally.failures.total()
            print(f"{kind:12}{len(took):>9,}{failed:>7,}{quantile(took, 50):>9.0f}{quantile(took, 99):>9.0f}")
        print(f"\nat first {self.start}\nat last  {self.end}")
        most = max(megabytes for _, megabytes in self.memory)
        print(f"{most:.0f} MB at most, in the last half {self.growth():+.1f} MB in ten minutes")
        print("\n" + ("\n".join(self.verdict()) or "Everything is as it should be."))


def read_log(path: Path) -> Counter[str]:
    """Count log lines by level, and alarms by text."""
    text = path.read_text(errors="replace")
    levels = Counter(re.findall(r'"level": "(\w+)"', text))
    return levels + Counter({alarm: text.count(alarm) for alarm in ALARMS})


async def soak(minutes: float, *, keep_log: Path | None = None) -> Soak:
    emulator = Emulator(hold=10.0)
    service = FaultyService(emulator, random.Random(4711))
    warm_up = min(minutes * 60 * WARM_UP, MAX_WARM_UP)
    application = ["bench.instrumented:application"]
    with tempfile.TemporaryDirectory() as folder:
        path = (keep_log or Path(folder)) / "log"
        with path.open("wb") as log, dashboard(ROOT, service.url, SETTINGS, application, log) as site:
            moving = [emulator.play("cctp-slow", age=60 + number)["intentId"] for number in range(8)]
            ended = [each.finished for each in emulator.scenarios()] + [f"0x{number:064x}" for number in range(4)]
            tally, memory, began = Tally(), list[tuple[float, float]](), time.monotonic()

            async def crowd(seconds: float, *, responses: int = 0) -> None:
                service.calm, started = False, time.monotonic()

                def is_over() -> bool:
                    lasted = time.monotonic() - started
                    return lasted >= seconds and (tally.statuses.total() >= responses or lasted >= MAX_WARM_UP)

                address = service.url.removeprefix("http://")
                coming = [Visitor(site, number, moving, ended, tally, address) for number in range(VISITORS)]
                staying = asyncio.gather(*(visitor.stay(is_over) for visitor in coming))
                while not staying.done():
                    await asyncio.wait([staying], timeout=2)
                    memory.append(((time.monotonic() - began) / 60, site.megabytes))
                await staying
                service.calm = True

            await crowd(warm_up, responses=WARM_RESPONSES)
            start = await quiet(site)
            print(f"warm after {time.monotonic() - began:.0f} s: {start}", flush=True)
            await crowd(minutes * 60 - warm_up)
            end = await quiet(site, start)
        found = Soak(minutes, tally, service.injected, start, end, memory, read_log(path))
    await asyncio.to_thread(service.close)
    return found


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
