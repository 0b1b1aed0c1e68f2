"""Fairness benchmark: does one abusive client leave the others served? One command, a table, about three minutes:

    .venv/bin/python -m bench.fair
    .venv/bin/python -m bench.fair --seconds 5

The dashboard runs under gunicorn as in production with default limits, in a new process for each attack. Two clients
come through a proxy with keep-alive: one attacks, the other opens pages sequentially. The service is the emulator,
which takes 6 s for balances, except those that the second client needs. Attacks are bounded in number and time, and
retry a rejected request after half a second. Everything is on loopback.

Columns: share of the second client's pages with status 200, their p99 in milliseconds and as a multiple of the p99
without an attack, the responses to the attacker, and the server's peak memory.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from itertools import count, cycle
from multiprocessing.connection import Connection
from typing import Any
from urllib.parse import urlencode

import httpx

from bench.processes import Server, StubService, dashboard, installed, quantile
from intents_ui.emulator import Emulator
from tests.live.tcp_service import TcpService

ATTACKER, READER = "203.0.113.7", "198.51.100.7"
SLOW_SECONDS = 6.0
REFUSED_SECONDS = 0.5
READING_SECONDS = 0.03  # between two pages of the second client
KEPT_CONNECTIONS = 32
BODIES = 800
HALF_A_TICKET = 600_000
SETTINGS = {"TRUSTED_PROXIES": "127.0.0.1", "INTENTS_CONSOLE": "read"}
GOAL_SERVED, GOAL_TIMES, GOAL_MB = 99.0, 3.0, 300.0
# How many requests of an attack are in progress. An attack is the method of `Attacker` with this name.
ATTACKS = {
    "triage": 64, "exports": 16, "console": 16, "streams": 64, "slow balances": 48, "half-sent bodies": BODIES,
    "pages": 48, "API": 48, "MCP": 48,
}  # fmt: skip
SPAWN = multiprocessing.get_context("spawn")


class Slow:
    """The emulator with slow balances for all owners but one."""

    def __init__(self) -> None:
        self.emulator = Emulator()
        self.own = self.emulator.finished(3)  # the second client's transfer
        self.quick = str(self.own["ownerAddress"]).lower().encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        message = await receive()
        body = message.get("body", b"")
        if scope["path"].endswith("/GetIntentHistory") and b"0x" in body and self.quick not in body.lower():
            await asyncio.sleep(SLOW_SECONDS)
        received = iter([message])

        async def again() -> Any:
            return next(received, None) or await receive()

        await self.emulator(scope, again, send)


def serve(ready: Connection) -> None:
    """Send the URL and the second client's transfer once the service is ready."""

    async def run() -> None:
        slow = Slow()
        service = TcpService(slow)
        await service.up()
        ready.send((service.url, slow.own["intentId"]))
        await asyncio.Event().wait()

    asyncio.run(run())


@contextmanager
def slow_service() -> Iterator[tuple[StubService, str]]:
    """Run the service in a process of its own. Yield its client and the second client's transfer."""
    receiver, ready = SPAWN.Pipe()
    process = SPAWN.Process(target=serve, args=(ready,), daemon=True)
    process.start()
    url, own = receiver.recv()
    service = StubService(url)
    with service.http:
        yield service, own
    process.terminate()
    process.join()


def proxy(port: int) -> httpx.AsyncClient:
    """Return a client that keeps connections open, as the proxy in deploy/nginx.conf does."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=KEPT_CONNECTIONS)
    return httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", limits=limits, timeout=60, trust_env=False)


async def fetch(
    http: httpx.AsyncClient, visitor: str, path: str, *, body: bytes | None = None, pause: float = 0.0
) -> int:
    """Return the status of a response that is read to its end, with a `pause` between pieces."""
    headers = {"X-Forwarded-For": visitor, "Host": "localhost"}
    if body is not None:
        headers["Content-Type"] = "application/x-www-form-urlencoded"
    try:
        async with http.stream("GET" if body is None else "POST", path, headers=headers, content=body) as answer:
            async for _ in answer.aiter_raw(4096):
                await asyncio.sleep(pause)
            return answer.status_code
    except httpx.HTTPError:
        return 0


def unknown_ids(number: int, count: int) -> str:
    return " ".join(f"0x{number:04x}{each:060x}" for each in range(count))


class Attacker:
    """One client's attacks on the dashboard at a port. `known` are transfers whose balances are slow."""

    def __init__(self, port: int, known: list[str]) -> None:
        self.port = port
        self.known = known
        self.http = proxy(port)

    async def triage(self, number: int) -> int:
        body = urlencode({"q": unknown_ids(number, 200)}).encode()
        return await fetch(self.http, ATTACKER, "/triage", body=body)

    async def exports(self, number: int) -> int:
        return await fetch(self.http, ATTACKER, "/export/history.csv", pause=0.1)

    async def console(self, number: int) -> int:
        document = json.dumps({"byOwnerAddress": f"0x{number:040x}"})
        query = urlencode({"ask": "json", "json": document})
        return await fetch(self.http, ATTACKER, f"/console/GetIntentHistory?{query}")

    async def slow_balances(self, number: int) -> int:
        return await fetch(self.http, ATTACKER, f"/intent/{self.known[number % len(self.known)]}")

    async def pages(self, number: int) -> int:
        return await fetch(self.http, ATTACKER, ("/", "/history", "/attention", "/chains")[number % 4])

    async def api(self, number: int) -> int:
        return await fetch(self.http, ATTACKER, "/api/v1/transfers?size=100")

    async def mcp(self, number: int) -> int:
        call = {"name": "triage_ticket", "arguments": {"text": unknown_ids(number, 20)}}
        message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call}
        return await fetch(self.http, ATTACKER, "/mcp", body=json.dumps(message).encode())

    async def streams(self, number: int) -> int:
        """Open and leave a stream of a different unknown transfer each time."""
        return await self.first_line(f"GET /live/0x{number:064x}", within=0.2)

    async def half_sent_bodies(self, number: int) -> int:
        if number >= BODIES:
            await asyncio.sleep(REFUSED_SECONDS)
            return 0
        form = f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {HALF_A_TICKET + 1}\r\n"
        return await self.first_line("POST /triage", form, b"x" * HALF_A_TICKET)

    async def first_line(self, what: str, headers: str = "", body: bytes = b"", within: float | None = None) -> int:
        """Return the status of a response that isn't read, or 0."""
        head = (
            f"{what} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Forwarded-For: {ATTACKER}\r\n{headers}\r\n"
        )
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(head.encode() + body)
            first = await asyncio.wait_for(reader.readline(), within)
            return int(first.split()[1]) if first else 0
        except (TimeoutError, OSError):
            return 0
        finally:
            writer.close()

    async def run(self, name: str, seconds: float) -> Counter[int]:
        """Attack for some seconds, and return how often the attacker got which status."""
        ask = getattr(self, name.lower().replace(" ", "_").replace("-", "_"))
        responses, numbers = Counter[int](), count()

        async def go_on() -> None:
            while True:
                try:
                    status = await ask(next(numbers))
                except OSError:
                    status = 0
                responses[status] += 1
                if status != 200:
                    await asyncio.sleep(REFUSED_SECONDS)

        going = [asyncio.create_task(go_on()) for _ in range(ATTACKS[name])]
        await asyncio.sleep(seconds)
        for task in going:
            task.cancel()
        await asyncio.gather(*going, return_exceptions=True)
        return responses


def attack(name: str, port: int, known: list[str], seconds: float) -> Counter[int]:
    os.nice(10)  # the attacker would be another machine, so it yields the CPU

    async def run() -> Counter[int]:
        return await Attacker(port, known).run(name, seconds)

    return asyncio.run(run())


class Result:
    """What the second client experienced."""

    def __init__(self) -> None:
        self.statuses: Counter[int] = Counter()
        self.milliseconds: list[float] = []
        self.megabytes = 0.0
        self.attacker: Counter[int] = Counter()

    @property
    def p99(self) -> float:
        return quantile(self.milliseconds, 99)

    def row(self, name: str, quiet: float) -> str:
        responses = ", ".join(f"{status or 'none'}: {count}" for status, count in sorted(self.attacker.items()))
        pages, times = self.statuses.total(), self.p99 / quiet
        served = 100 * self.statuses[200] / max(1, pages)
        meets = served >= GOAL_SERVED and times <= GOAL_TIMES and self.megabytes < GOAL_MB
        return (
            f"| {name} | {pages} | {served:.1f} % | {self.p99:.0f} | {times:.1f} | {self.megabytes:.0f} |"
            f" {responses} | {'yes' if meets else 'no'} |"
        )


async def read(site: Server, paths: list[str], seconds: float) -> Result:
    until, result = time.monotonic() + seconds, Result()
    async with proxy(site.port) as http:
        for path in cycle(paths):
            if time.monotonic() > until:
                break
            began = time.perf_counter()
            result.statuses[await fetch(http, READER, path)] += 1
            result.milliseconds.append((time.perf_counter() - began) * 1000)
            result.megabytes = max(result.megabytes, site.megabytes)
            await asyncio.sleep(READING_SECONDS)
    return result


def measured(name: str, site: Server, paths: list[str], known: list[str], seconds: float) -> Result:
    asyncio.run(read(site, paths, 3))
    if name == "none":
        return asyncio.run(read(site, paths, seconds))
    with ProcessPoolExecutor(1, mp_context=SPAWN) as others:
        attacking = others.submit(attack, name, site.port, known, seconds + 2)
        time.sleep(2)  # until the attack is running
        result = asyncio.run(read(site, paths, seconds))
        result.attacker = attacking.result()
    return result


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.fair", description="One client attacks, another reads.")
    parser.add_argument("--seconds", type=float, default=20.0, help="of each attack")
    parser.add_argument("--only", choices=ATTACKS, help="this attack alone")
    options = parser.parse_args()
    with installed() as place, slow_service() as (service, own):
        page = {"pageSize": 100, "sort": [{"column": "createdAt", "order": "DESC"}]}
        listed = service.call("GetIntentHistory", page=page)["intents"]
        known = [each["intentId"] for each in listed if each["intentId"] != own]
        paths = ["/", "/history", f"/intent/{own}", f"/intent/{own}/reply", "/chains", "/help", "/triage"]
        print("| Attack | Pages | 200 | p99 ms | Times quiet | Server MB | The attacker was told | Goal |")
        print("|---|---|---|---|---|---|---|---|")
        quiet = 0.0
        for name in ("none", *([options.only] if options.only else ATTACKS)):
            with dashboard(place, service.url, SETTINGS) as site:
                result = measured(name, site, paths, known, options.seconds)
            quiet = quiet or result.p99
            print(result.row(name, quiet), flush=True)
        print(f"\nGoal: at least {GOAL_SERVED:g} % 200, p99 at most {GOAL_TIMES:g} times quiet, below {GOAL_MB:g} MB.")


if __name__ == "__main__":
    main()
