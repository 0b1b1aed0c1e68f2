"""Benchmark of the token list with 5,000 tokens on 20 chains. One command, a table, about twenty seconds:

    .venv/bin/python -m bench.tokens
    .venv/bin/python -m bench.tokens --tokens 20000 --delay 0.2

The dashboard is gunicorn with one worker as in gunicorn.conf.py. The emulator runs in this process, so on two cores its
work is part of the measurement. Requests are sequential over loopback, like a browser's. `--delay` adds seconds to
every response of the service.

Columns: milliseconds to the complete response (median and maximum), ratio to an empty page (`/help`) of the same run,
CPU milliseconds of the dashboard per request (other load on the machine affects it little), maximum number of service
calls per request, and the target.
"""

import argparse
import asyncio
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from intents_ui.emulator import Emulator
from tests.live.tcp_service import served
from tests.serving import dashboard

KEY = "a key of the measurement, and of no installation"
REACH = 150.0  # milliseconds, the target for a search
AGAIN = 30
TYPED = ("u", "us", "usd", "usdc")
SOUGHT = (
    "amber",
    "eur",
    "gold",
    "swap",
    "inu",
    "0x8335",
    "wrapped",
    "e",
    "o",
    "a",
    "ether",
    "vault",
    "zz",
    "coin",
    "net",
)
PARTIAL = {"HX-Request": "true", "HX-Request-Type": "partial"}
TYPING = PARTIAL | {"HX-Target": "div#found"}


class Service:
    """The emulator with a request counter."""

    def __init__(self, tokens: int, chains: int, delay: float) -> None:
        self.emulator = Emulator(tokens=tokens, chains=chains)
        self.delay = delay
        self.requests = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.requests += 1
        await asyncio.sleep(self.delay)
        await self.emulator(scope, receive, send)


@dataclass
class Measurement:
    """Measurements of one kind of request. `most` is the target in milliseconds, None without one."""

    name: str
    most: float | None = None
    milliseconds: list[float] = field(default_factory=list)
    processor: float = 0.0
    requests: int = 0

    def line(self, empty: float) -> str:
        median, most = statistics.median(self.milliseconds), max(self.milliseconds)
        count = len(self.milliseconds)
        figures = f"{count:>6}{median:>9.1f}{most:>9.1f}{median / empty:>8.1f}{self.processor / count:>11.1f}"
        return f"{self.name:44}{figures}{self.requests:>10}" + ("" if self.most is None else f"{self.most:>9.0f}")


class Reader:
    def __init__(self, root: str, service: Service) -> None:
        self.service = service
        self.http = httpx.Client(base_url=root, trust_env=False, follow_redirects=True, timeout=60)
        self.table: list[Measurement] = []

    def measure(
        self, name: str, paths: Sequence[str], *, headers: dict[str, str] | None = None, most: float | None = None
    ) -> None:
        measured, processor = Measurement(name, most), processor_milliseconds()
        for path in paths:
            before, began = self.service.requests, time.perf_counter()
            answer = self.http.get(path, headers=headers)
            measured.milliseconds.append((time.perf_counter() - began) * 1000)
            measured.requests = max(measured.requests, self.service.requests - before)
            answer.raise_for_status()
        measured.processor = processor_milliseconds() - processor
        self.table.append(measured)

    def print(self) -> None:
        empty = statistics.median(self.table[0].milliseconds)
        print(
            f"\n{'':44}{'count':>6}{'median':>9}{'most':>9}{'ratio':>8}{'processor':>11}{'requests':>10}{'at most':>9}"
        )
        for measured in self.table:
            print(measured.line(empty))


def measure(reader: Reader, total: int) -> None:
    reader.http.get("/help")
    settle(reader.service)
    reader.measure("empty page", ["/help"] * AGAIN)
    reader.measure("first paint of /tokens", ["/tokens"])
    reader.measure("/tokens again", ["/tokens"] * AGAIN)
    for words in TYPED:
        reader.measure(f"search “{words}”, first", [f"/tokens?q={words}"], headers=TYPING, most=REACH)
    reader.measure("searches again", [f"/tokens?q={words}" for words in TYPED] * 5, headers=TYPING, most=REACH)
    reader.measure("other searches, first", [f"/tokens?q={each}" for each in SOUGHT], headers=TYPING, most=REACH)
    reader.measure("first paint of all listed", ["/tokens?show=listed"])
    reader.measure("all listed again", ["/tokens?show=listed"] * AGAIN)
    reader.measure("windows of all listed", list(windows("listed", total * 3 // 5)), headers=PARTIAL)
    reader.measure("first paint with external lists", ["/tokens?show=external"])
    reader.measure("windows with external lists", list(windows("external", total * 4 // 5)), headers=PARTIAL)
    reader.print()


def windows(show: str, tokens: int) -> Iterator[str]:
    return (f"/tokens/rows?show={show}&after={after}" for after in range(100, tokens, 100))


def processor_milliseconds() -> float:
    """Return the CPU time of this process's children in milliseconds.

    Sums the kernel's nanosecond counters of all threads.
    """
    return sum(float(path.read_text().split()[0]) for pid in started() for path in tasks(pid, "schedstat")) / 1e6


def started(pid: int | str = "self") -> Iterator[str]:
    """Yield the IDs of all descendant processes."""
    for path in tasks(pid, "children"):
        for child in path.read_text().split():
            yield child
            yield from started(child)


def tasks(pid: int | str, file: str) -> Iterator[Path]:
    return Path(f"/proc/{pid}/task").glob(f"*/{file}")


def settle(service: Service) -> None:
    """Wait until the process has preloaded its lists, so that no request is charged for it."""
    seen = -1
    while seen != service.requests:
        seen = service.requests
        time.sleep(1 + service.delay)


async def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.tokens", description="What the list of tokens costs.")
    parser.add_argument("--tokens", type=int, default=5000)
    parser.add_argument("--chains", type=int, default=20)
    parser.add_argument("--delay", type=float, default=0.0)
    options = parser.parse_args()
    service = Service(options.tokens, options.chains, options.delay)
    print(f"{options.tokens:,} tokens on {options.chains} chains, the service takes {options.delay:g} s more")
    async with served(service) as front:
        await asyncio.to_thread(read, front.url, service, options.tokens)


def read(service_url: str, service: Service, total: int) -> None:
    with ExitStack() as stack:
        root = stack.enter_context(dashboard(INTENTS_SERVICE_URL=service_url, SECRET_KEY=KEY))
        measure(Reader(root, service), total)


if __name__ == "__main__":
    asyncio.run(main())
