"""Clients of the soak test: what they request, and what must not happen."""

import asyncio
import contextlib
import json
import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote

import httpx

from intents_ui.emulator import Emulator, names
from intents_ui.emulator.names import Role
from tests.serving import ROOT

KEY: Final = "canary-access-key-of-the-soak"
SECRET: Final = "canary-secret-of-the-soak-and-of-no-installation"  # noqa: S105 - a test value
FORBIDDEN: Final = ("Traceback", KEY, SECRET, str(ROOT), "django.", "site-packages")
FRAGMENTS: Final = ("/newest", "/receipt")
# Expected statuses. 503 is the only 5xx that an outage of the service may cause.
STATUSES: Final = frozenset({200, 301, 302, 304, 308, 400, 403, 404, 405, 409, 413, 414, 429, 431, 503})
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
        self.chance = random.Random(number)
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
        self.finished = [each.finished for each in emulator.scenarios()]
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
                for part in ("balances", "route-stats", "reply", "share", "card.png", "feed.atom", "qr.svg")
            ),
            "history": (
                "/history",
                "/history?status=FAILED",
                "/history?origin=8453",
                "/history?recoverable=1",
                "/history?status=LOST",
            ),
            "search": (f"/search?q={intent}", f"/search?q={owner}", "/search?q=nobody", f"/search?q={quote(TICKET)}"),
            "address": (f"/address/{owner}", f"/address/{owner}/feed.atom", f"/address/{USDC}"),
            "tokens": ("/tokens", "/tokens?q=usd", "/tokens?chain=8453", f"/tokens?q={chance.choice('abcdefgh')}"),
            "token": (f"/token/1/{USDC}", f"/token/1/{USDC}/routes", "/token/8453/0x" + "12" * 20),
            "chains": ("/chains", "/chain/8453", "/chain/424242", f"/routes?from=1&token={USDC}"),
            "console": tuple(
                f"/console/{operation}?ask=json&json={quote(json.dumps(document))}"
                for operation, document in (
                    ("GetChains", {}),
                    ("GetIntent", {"intentId": intent}),
                    ("SearchIntents", {"byOwnerAddress": owner}),
                    ("GetIntent", {"intentId": 5}),
                )
            ),
            "export": ("/export/history.csv", f"/export/address/{owner}.ndjson", "/export/history.json?recoverable=1"),
        }
        return chance.choice(one_of[kind])

    def ticket(self, chance: random.Random) -> str:
        return "\n".join([TICKET, *chance.sample(self.finished + self.unknown, 4), chance.choice(self.owners)])


TICKET: Final = "my money is gone, see https://etherscan.io/tx/0x" + "ab" * 32
KINDS: Final = ("intent", "home", "history", "search", "address", "tokens", "token", "chains", "parts", "console",
                "export", "triage", "stream")  # fmt: skip
WEIGHTS: Final = (24, 8, 10, 10, 6, 6, 4, 6, 8, 5, 1, 2, 12)
