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
import contextlib
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx

from bench.processes import Server, StubService, clean, dashboard, ended, installed
from intents_ui.emulator import Emulator
from tests.live.tcp_service import TcpService
from tests.serving import ROOT

ATTACKER, READER = "203.0.113.7", "198.51.100.7"
SLOW_SECONDS = 6.0
REFUSED_SECONDS = 0.5
READING_SECONDS = 0.03  # between two pages of the second client
KEPT_CONNECTIONS = 32
BODIES = 800
HALF_A_TICKET = 600_000
SETTINGS = {"TRUSTED_PROXIES": "127.0.0.1", "INTENTS_CONSOLE": "read"}
GOAL_SERVED, GOAL_TIMES, GOAL_MB = 99.0, 3.0, 300.0


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


async def serve() -> None:
    """Print the URL and the second client's transfer once the service is ready."""
    slow = Slow()
    service = TcpService(slow)
    await service.up()
    print(json.dumps({"url": service.url, "own": slow.own["intentId"]}), flush=True)
    await asyncio.Event().wait()


@contextmanager
def slow_service() -> Iterator[tuple[StubService, dict[str, str]]]:
    with ended(["-m", "bench.fair", "--service"], cwd=ROOT, env=clean(), stdout=subprocess.PIPE, text=True) as process:
        info = json.loads(process.stdout.readline())
        service = StubService(info["url"])
        with service.http:
            yield service, info


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


def head(visitor: str, path: str, length: int | None) -> bytes:
    method = "GET" if length is None else "POST"
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", "Connection: close", f"X-Forwarded-For: {visitor}"]
    if length is not None:
        lines += ["Content-Type: application/x-www-form-urlencoded", f"Content-Length: {length}"]
    return "\r\n".join([*lines, "", ""]).encode()


type Ask = Callable[[int], Coroutine[Any, Any, int]]


class Attack:
    """Attacks of one client on the dashboard at a port. `known` are transfers whose balances are slow."""

    def __init__(self, port: int, known: list[str]) -> None:
        self.port = port
        self.known = known
        self.http = proxy(port)

    async def triage(self, number: int) -> int:
        text = " ".join(f"0x{number:04x}{each:060x}" for each in range(200))
        return await fetch(self.http, ATTACKER, "/triage", body=urlencode({"q": text}).encode())

    async def exports(self, number: int) -> int:
        return await fetch(self.http, ATTACKER, "/export/history.csv", pause=0.1)

    async def console(self, number: int) -> int:
        document = json.dumps({"byOwnerAddress": f"0x{number:040x}"})
        query = urlencode({"ask": "json", "json": document})
        return await fetch(self.http, ATTACKER, f"/console/GetIntentHistory?{query}")

    async def streams(self, number: int) -> int:
        """Open and leave a stream of a different unknown transfer each time."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(head(ATTACKER, f"/live/0x{number:064x}", None))
        first = b""
        with contextlib.suppress(TimeoutError, OSError):
            first = await asyncio.wait_for(reader.readline(), 0.2)
        writer.close()
        return int(first.split()[1]) if first else 0

    async def slow_balances(self, number: int) -> int:
        return await fetch(self.http, ATTACKER, f"/intent/{self.known[number % len(self.known)]}")

    async def pages(self, number: int) -> int:
        return await fetch(self.http, ATTACKER, ("/", "/history", "/attention", "/chains")[number % 4])

    async def api(self, number: int) -> int:
        return await fetch(self.http, ATTACKER, "/api/v1/transfers?size=100")

    async def mcp(self, number: int) -> int:
        text = " ".join(f"0x{number:04x}{each:060x}" for each in range(20))
        call = {"name": "triage_ticket", "arguments": {"text": text}}
        message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call}
        return await fetch(self.http, ATTACKER, "/mcp", body=json.dumps(message).encode())

    async def half_sent(self, number: int) -> int:
        if number >= BODIES:
            await asyncio.sleep(REFUSED_SECONDS)
            return 0
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(head(ATTACKER, "/triage", HALF_A_TICKET + 1) + b"x" * HALF_A_TICKET)
            first = await reader.readline()
            return int(first.split()[1]) if first else 0
        except OSError:
            return 0
        finally:
            writer.close()

    async def run(self, name: str, seconds: float) -> dict[str, int]:
        ask, at_once = {
            "triage": (self.triage, 64),
            "exports": (self.exports, 16),
            "console": (self.console, 16),
            "streams": (self.streams, 64),
            "slow balances": (self.slow_balances, 48),
            "half-sent bodies": (self.half_sent, BODIES),
            "pages": (self.pages, 48),
            "API": (self.api, 48),
            "MCP": (self.mcp, 48),
        }[name]
        responses: Counter[str] = Counter()
        numbers = iter(range(10**9))

        async def go_on(ask: Ask) -> None:
            while True:
                try:
                    status = await ask(next(numbers))
                except OSError:
                    status = 0
                responses[str(status or "none")] += 1
                if status != 200:
                    await asyncio.sleep(REFUSED_SECONDS)

        going = [asyncio.create_task(go_on(ask)) for _ in range(at_once)]
        await asyncio.sleep(seconds)
        for task in going:
            task.cancel()
        await asyncio.gather(*going, return_exceptions=True)
        return dict(responses)


NAMES = ("triage", "exports", "console", "streams", "slow balances", "half-sent bodies", "pages", "API", "MCP")


@contextlib.asynccontextmanager
async def attacked(name: str | None, port: int, known: list[str], seconds: float) -> AsyncIterator[dict[str, int]]:
    """Run an attack in a separate process during the block.

    Its responses are counted in the yielded dict at the end.
    """
    responses: dict[str, int] = {}
    if name is None:
        yield responses
        return
    options = json.dumps({"name": name, "port": port, "known": known, "seconds": seconds})
    command = [sys.executable, "-m", "bench.fair", "--attack", options]
    process = await asyncio.create_subprocess_exec(*command, cwd=ROOT, env=clean(), stdout=asyncio.subprocess.PIPE)
    try:
        await asyncio.sleep(1)  # until the attack is running
        yield responses
        out, _ = await asyncio.wait_for(process.communicate(), seconds + 30)
        responses |= json.loads(out)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


class Result:
    """What the second client experienced."""

    def __init__(self) -> None:
        self.statuses: Counter[int] = Counter()
        self.milliseconds: list[float] = []
        self.megabytes = 0.0
        self.attacker: dict[str, int] = {}

    @property
    def served(self) -> float:
        return 100 * self.statuses[200] / max(1, self.statuses.total())

    @property
    def p99(self) -> float:
        return sorted(self.milliseconds)[int(0.99 * (len(self.milliseconds) - 1))]

    def row(self, name: str, quiet: float) -> str:
        responses = ", ".join(f"{status}: {count}" for status, count in sorted(self.attacker.items()))
        times = self.p99 / quiet
        meets = self.served >= GOAL_SERVED and times <= GOAL_TIMES and self.megabytes < GOAL_MB
        return (
            f"| {name} | {self.statuses.total()} | {self.served:.1f} % | {self.p99:.0f} | {times:.1f} |"
            f" {self.megabytes:.0f} | {responses} | {'yes' if meets else 'no'} |"
        )


async def read(where: Server, paths: list[str], seconds: float, result: Result) -> None:
    until, number = time.monotonic() + seconds, 0
    async with proxy(where.port) as http:
        while time.monotonic() < until:
            began = time.perf_counter()
            status = await fetch(http, READER, paths[number % len(paths)])
            result.milliseconds.append((time.perf_counter() - began) * 1000)
            result.statuses[status] += 1
            result.megabytes = max(result.megabytes, where.megabytes)
            number += 1
            await asyncio.sleep(READING_SECONDS)


async def measured(name: str | None, where: Server, paths: list[str], known: list[str], seconds: float) -> Result:
    await read(where, paths, 3, Result())
    result = Result()
    async with attacked(name, where.port, known, seconds + 1) as responses:
        await read(where, paths, seconds, result)
    result.attacker = responses
    return result


def main(seconds: float, names: Sequence[str]) -> None:
    with installed() as place, slow_service() as (service, info):
        page = {"pageSize": 100, "sort": [{"column": "createdAt", "order": "DESC"}]}
        listed = service.call("GetIntentHistory", page=page)["intents"]
        known = [each["intentId"] for each in listed if each["intentId"] != info["own"]]
        own = info["own"]
        paths = ["/", "/history", f"/intent/{own}", f"/intent/{own}/reply", "/chains", "/help", "/triage"]
        print("| Attack | Pages | 200 | p99 ms | Times quiet | Server MB | The attacker was told | Goal |")
        print("|---|---|---|---|---|---|---|---|")
        quiet = 0.0
        for name in (None, *names):
            with dashboard(Path(place), service.url, SETTINGS) as where:
                result = asyncio.run(measured(name, where, paths, known, seconds))
            quiet = quiet or result.p99
            print(result.row(name or "none", quiet), flush=True)
        print(f"\nGoal: at least {GOAL_SERVED:g} % 200, p99 at most {GOAL_TIMES:g} times quiet, below {GOAL_MB:g} MB.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench.fair", description="One client attacks, another reads.")
    parser.add_argument("--seconds", type=float, default=20.0, help="of each attack")
    parser.add_argument("--only", choices=NAMES, help="this attack alone")
    parser.add_argument("--service", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--attack", help=argparse.SUPPRESS)
    options = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        if options.service:
            asyncio.run(serve())
        elif options.attack:
            os.nice(10)  # the attacker would be another machine, so it yields the CPU
            wish = json.loads(options.attack)
            attack = Attack(wish["port"], wish["known"])
            print(json.dumps(asyncio.run(attack.run(wish["name"], wish["seconds"]))))
        else:
            main(options.seconds, [options.only] if options.only else NAMES)
