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
from functools import partial
from itertools import count
from multiprocessing.connection import Connection
from typing import Any
from urllib.parse import urlencode

import httpx

from bench.load import Load, load
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
# How many requests of an attack are in progress.
ATTACKS = {
    "triage": 64, "exports": 16, "console": 16, "streams": 64, "slow balances": 48, "half-sent bodies": BODIES,
    "pages": 48, "API": 48, "MCP": 48,
}  # fmt: skip
QUIET = "none"  # no attack
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


async def fetch(http: httpx.AsyncClient, path: str, *, body: str | None = None, pause: float = 0.0) -> int:
    """Return the status of a response that is read to its end, with a `pause` between pieces."""
    headers = {"X-Forwarded-For": ATTACKER, "Host": "localhost"}
    if body is not None:
        headers["Content-Type"] = "application/x-www-form-urlencoded"
    try:
        async with http.stream("GET" if body is None else "POST", path, headers=headers, content=body) as answer:
            async for _ in answer.aiter_raw(4096):
                await asyncio.sleep(pause)
            return answer.status_code
    except httpx.HTTPError:
        return 0


async def first_line(port: int, request: str, *, within: float | None = None) -> int:
    """Return the status of a response whose rest isn't read, or 0."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(request.encode())
        first = await asyncio.wait_for(reader.readline(), within)
        return int(first.split()[1]) if first else 0
    except (TimeoutError, OSError):
        return 0
    finally:
        writer.close()


def unknown_ids(number: int, count: int) -> str:
    return " ".join(f"0x{number:04x}{each:060x}" for each in range(count))


async def ask(http: httpx.AsyncClient, port: int, known: list[str], name: str, number: int) -> int:
    """Send a request of an attack, and return the status. `known` are transfers whose balances are slow."""
    attacker = partial(fetch, http)
    head = f"HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Forwarded-For: {ATTACKER}\r\n"
    match name:
        case "triage":
            return await attacker("/triage", body=urlencode({"q": unknown_ids(number, 200)}))
        case "exports":
            return await attacker("/export/history.csv", pause=0.1)
        case "console":
            document = json.dumps({"byOwnerAddress": f"0x{number:040x}"})
            return await attacker(f"/console/GetIntentHistory?{urlencode({'ask': 'json', 'json': document})}")
        case "streams":  # opened and left, of a different unknown transfer each time
            return await first_line(port, f"GET /live/0x{number:064x} {head}\r\n", within=0.2)
        case "slow balances":
            return await attacker(f"/intent/{known[number % len(known)]}")
        case "half-sent bodies" if number < BODIES:
            form = f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {HALF_A_TICKET + 1}\r\n"
            return await first_line(port, f"POST /triage {head}{form}\r\n{'x' * HALF_A_TICKET}")
        case "pages":
            return await attacker(("/", "/history", "/attention", "/chains")[number % 4])
        case "API":
            return await attacker("/api/v1/transfers?size=100")
        case "MCP":
            call = {"name": "triage_ticket", "arguments": {"text": unknown_ids(number, 20)}}
            message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call}
            return await attacker("/mcp", body=json.dumps(message))
    return 0


def attack(name: str, port: int, known: list[str], seconds: float) -> Counter[int]:
    """Attack for some seconds, and return how often the attacker got which status."""
    os.nice(10)  # the attacker would be another machine, so it yields the CPU
    responses, numbers = Counter[int](), count()

    async def go_on(http: httpx.AsyncClient) -> None:
        while True:
            try:
                status = await ask(http, port, known, name, next(numbers))
            except OSError:
                status = 0
            responses[status] += 1
            if status != 200:
                await asyncio.sleep(REFUSED_SECONDS)

    async def run() -> None:
        # Keeps connections open, as the proxy in deploy/nginx.conf does.
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=KEPT_CONNECTIONS)
        http = httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", limits=limits, timeout=60, trust_env=False)
        going = [asyncio.create_task(go_on(http)) for _ in range(ATTACKS[name])]
        await asyncio.sleep(seconds)
        for task in going:
            task.cancel()
        await asyncio.gather(*going, return_exceptions=True)

    asyncio.run(run())
    return responses


def measured(name: str, site: Server, paths: list[str], known: list[str], seconds: float) -> tuple[Load, str]:
    """Return what the second client experienced, and what the attacker was told."""
    headers = f"X-Forwarded-For: {READER}\r\n"
    read = partial(load, site.port, paths, connections=1, pause=READING_SECONDS, headers=headers)
    read(seconds=3)
    if name == QUIET:
        return read(seconds=seconds), ""
    with ProcessPoolExecutor(1, mp_context=SPAWN) as others:
        attacking = others.submit(attack, name, site.port, known, seconds + 2)
        time.sleep(2)  # until the attack is running
        found, attacker = read(seconds=seconds), attacking.result()
    return found, ", ".join(f"{status or 'none'}: {count}" for status, count in sorted(attacker.items()))


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
        for name in (QUIET, *([options.only] if options.only else ATTACKS)):
            with dashboard(place, service.url, SETTINGS) as site:
                found, attacker = measured(name, site, paths, known, options.seconds)
                megabytes = site.peak_megabytes
            pages, p99 = found.statuses.total(), quantile(found.milliseconds, 99)
            quiet = quiet or p99
            served = 100 * found.statuses["200"] / max(1, pages)
            meets = served >= GOAL_SERVED and p99 <= GOAL_TIMES * quiet and megabytes < GOAL_MB
            cells = [name, pages, f"{served:.1f} %", f"{p99:.0f}", f"{p99 / quiet:.1f}", f"{megabytes:.0f}", attacker]
            print(f"| {' | '.join(map(str, cells))} | {'yes' if meets else 'no'} |", flush=True)
        print(f"\nGoal: at least {GOAL_SERVED:g} % 200, p99 at most {GOAL_TIMES:g} times quiet, below {GOAL_MB:g} MB.")


if __name__ == "__main__":
    main()
