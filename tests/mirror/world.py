"""A small service in memory behind the real client, whose lists misbehave on request, and a mirror of it."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from threading import Event
from types import MappingProxyType
from typing import Any

import httpx

from intents_ui.mirror import lease
from intents_ui.mirror.figures.snapshots import SnapshotWriter
from intents_ui.mirror.loop import Mirror
from intents_ui.mirror.models import Transfer, Window
from intents_ui.mirror.reader import Reader, Task
from intents_ui.mirror.windows import MINUTE
from intents_ui.mirror.writer import Writer
from intents_ui.service.client import ServiceClient
from intents_ui.service.operations import ServiceConfig

START = 1_800_000_000 // 86_400 * 86_400 + 2 * 3600  # two hours into a day
CALLS = 5
CURSOR_SECONDS = 60  # a cursor is valid for
OWNER = "0x" + "0a" * 20
STEPS = {
    "COMMITTED": (None, None, None, None),
    "EXECUTING": ("SUCCEEDED", "MINING", None, None),
    "SUCCEEDED": ("SUCCEEDED", "SUCCEEDED", "SUCCEEDED", None),
    "FAILED": ("SUCCEEDED", "FAILED", None, None),
    "REFUNDED": ("SUCCEEDED", "FAILED", None, "SUCCEEDED"),
    "ABORTED": ("SUCCEEDED", "ABORTED", None, None),
    "HALTED": ("SUCCEEDED", "MINING", None, None),
}
OUTCOMES = {
    "COMMITTED": "open", "EXECUTING": "open", "SUCCEEDED": "delivered", "FAILED": "failed", "REFUNDED": "refunded",
    "ABORTED": "aborted", "HALTED": "open",
}  # fmt: skip
SENT_TOKEN = "0x" + "22" * 20
NAMES = {"0x" + "AB" * 20: "0x" + "ab" * 20, "0x" + "Ee" * 20: "0x" + "00" * 20}  # of other spellings of a token
SLOW = {"CCTP": timedelta(minutes=30)}
FINAL = {"SUCCEEDED", "FAILED", "REFUNDED", "ABORTED"}
SLOW_SECONDS = 90  # of a slow answer
FAULTS = (
    "duplicates", "reordered", "repeats", "empty", "lost", "unreadable", "garbled", "busy", "refused", "slow", "slow",
)  # fmt: skip
NEXT = {"COMMITTED": ["EXECUTING"], "EXECUTING": ["SUCCEEDED", "FAILED", "ABORTED"], "FAILED": ["REFUNDED"]}


def iso(milliseconds: int) -> str:
    at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass
class Made:
    """A transfer of the world. Each change is visible from a time on."""

    number: int
    created: int  # Unix milliseconds
    # Visible from, status ("" if it is no longer listed), updated.
    changes: list[tuple[float, str, int]] = field(default_factory=list)
    reason: str = ""
    owner: str = OWNER
    refund_to: str = ""  # or the owner
    provider: str = "RELAY"
    destination: int = 10
    token: str = ""  # address of the delivered token
    is_finished: bool = True  # has the time of its end, if it has ended

    @property
    def tokens(self) -> frozenset[tuple[str, str]]:
        """Return the chain and the address of both tokens, as figures name them."""
        delivered = {(str(self.destination), NAMES.get(self.token, self.token))} if self.token else set()
        return frozenset({("1", SENT_TOKEN), *delivered})

    @property
    def intent_id(self) -> str:
        return f"0x{self.number:064x}"

    def seen(self, now: float) -> tuple[str, int] | None:
        visible = [(status, updated) for since, status, updated in self.changes if since <= now]
        return visible[-1] if visible and visible[-1][0] else None

    def entry(self, status: str, updated: int) -> dict[str, Any]:
        names = ("depositTransaction", "originTransaction", "destinationTransaction", "refundTransaction")
        steps = {
            name: {
                "status": step,
                "chainId": 1,
                "txnHash": "0x" + "1f" * 32,
                "toAddress": self.refund_to or self.owner,
                "statusReason": self.reason,
            }
            for name, step in zip(names, STEPS[status], strict=True)
            if step
        }
        return {
            "intentId": self.intent_id,
            "status": status,
            "createdAt": iso(self.created),
            "updatedAt": iso(updated),
            "receipt": {
                "intentId": self.intent_id,
                "status": status,
                "ownerAddress": self.owner,
                "originChainId": 1,
                "destinationChainId": self.destination,
                "summary": {
                    "routeProviders": [self.provider],
                    "startedAt": iso(self.created),
                    **({"finishedAt": iso(updated)} if status in FINAL and self.is_finished else {}),
                    "destinationToAddress": f"0x{self.number % 7:040x}",
                    "originTokenAddress": SENT_TOKEN,
                    **({"destinationTokenAddress": self.token} if self.token else {}),
                    "originTokenAmount": "1000000",
                },
                **steps,
            },
        }


class World(httpx.BaseTransport):
    """The service. `faults` are of the next calls, one each, "" for none. `page` is the most entries of a page.

    `vanishing` is the share of the transfers that are no longer listed, of each move.
    """

    def __init__(self, *, page: int = 3, vanishing: float = 0.0) -> None:
        self.vanishing = vanishing
        self.vanished: set[str] = set()
        self.now = float(START)
        self.page = page
        self.transfers: list[Made] = []
        self.faults: list[str] = []
        self.always = ""
        self.called: list[float] = []
        self.asked: list[dict[str, Any]] = []

    def create(self, *, age: float = 0.0, status: str = "COMMITTED") -> Made:
        """Add a transfer whose quote is this old, and which is visible from now on."""
        made = Made(len(self.transfers) + 1, int((self.now - age) * 1000))
        made.changes.append((self.now, status, int(self.now * 1000)))
        self.transfers.append(made)
        return made

    def change(self, made: Made, status: str, *, delay: float = 0.0) -> None:
        """Change a transfer now. The change is visible later."""
        made.changes.append((self.now + delay, status, int(self.now * 1000)))

    def draw(self, draw: Random, age: float, status: str) -> Made:
        """Add a transfer of any owner, route and reason."""
        made = self.create(age=age, status=status)
        made.owner, made.reason = f"0x{draw.randrange(1, 9):040x}", draw.choice(("", "slippage", "out of gas"))
        made.provider, made.destination = draw.choice(("RELAY", "CCTP")), draw.choice((10, 42161))
        return made

    def move(self, draw: Random, *, is_silent: bool = False) -> None:
        """Change something. `is_silent`: also what no list of open transfers shows."""
        for _ in range(draw.randrange(4)):
            self.draw(draw, draw.randrange(590), draw.choice(["COMMITTED", "EXECUTING", "EXECUTING"]))
        if draw.random() < 0.05:
            created = int((self.now - draw.randrange(500)) * 1000)
            for _ in range(25):
                self.draw(draw, 0, "EXECUTING").created = created
        for made in self.transfers:
            status, updated = made.seen(self.now) or ("", 0)
            branches, is_open = NEXT.get(status, []), status in ("COMMITTED", "EXECUTING")
            is_young = made.created > (self.now - 25 * MINUTE) * 1000
            if is_open and branches and made.changes[-1][0] <= self.now and draw.random() < 0.2:
                self.change(made, draw.choice(branches), delay=draw.choice([0, 0, 30]))
                made.is_finished = not is_silent or draw.random() < 0.9
            elif is_silent and status == "FAILED" and draw.random() < 0.05:
                made.changes.append((self.now, "REFUNDED", updated + draw.choice([-1000, 60_000])))
            elif is_silent and is_young and draw.random() < 0.1:
                made.is_finished = True
            elif status and draw.random() < self.vanishing:
                made.changes.append((self.now, "", 0))
                self.vanished.add(made.intent_id)
        if is_silent and draw.random() < 0.2:
            self.draw(draw, draw.randrange(10 * MINUTE, 25 * MINUTE), "SUCCEEDED")
        if draw.random() < 0.3:
            self.faults = draw.choices(FAULTS, k=2)

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.called.append(self.now)
        asked = json.loads(request.read())
        self.asked.append(asked)
        is_window = "toTime" in asked
        fault = (self.always if is_window or self.always == "refused" else "") or (
            self.faults.pop(0) if self.faults else ""
        )
        if fault == "refused":
            raise httpx.ConnectError("refused")
        if fault == "slow":
            self.now += SLOW_SECONDS
        if fault == "busy":
            return answer(b"{}", status=429, headers={"Retry-After": "7"})
        if fault == "garbled":
            return answer(b'{"intents": [')
        if asked["page"].get("issued", self.now) < self.now - CURSOR_SECONDS:
            return answer(b'{"error": "InvalidArgument", "code": 2001, "msg": "expired", "status": 400}', status=400)
        return answer(json.dumps(self._history(asked, fault)).encode())

    def _history(self, asked: dict[str, Any], fault: str) -> dict[str, Any]:
        page = asked["page"]
        assert page["sort"][0]["column"] == "id"
        is_ascending = page["sort"][0]["order"] == "ASC"
        since, until, after = asked.get("fromTime", 0), asked.get("toTime", 2**62), page.get("after")
        found = []
        for made in self.transfers if is_ascending else reversed(self.transfers):
            seen = made.seen(self.now)
            if seen is None or not since <= made.created // 1000 <= until:
                continue
            is_next = after is None or (made.number > after if is_ascending else made.number < after)
            if is_next and seen[0] in (asked.get("byStatuses") or STEPS):
                found.append((made, seen))
        shown, rest = found[: self.page], found[self.page :]
        entries = [made.entry(*seen) for made, seen in shown]
        following = {**page, "after": shown[-1][0].number, "more": True, "issued": self.now} if rest else None
        if fault == "duplicates":
            entries += entries
        if fault == "reordered":
            entries.reverse()
        if fault == "repeats" and page.get("after") is not None:
            following = {**page, "more": True}
        if fault == "empty":
            entries, following = [], {**page, "after": 5, "more": True}
        if fault == "lost" and entries:
            following = {**page, "after": "what", "more": True}
        if fault == "unreadable" and entries:
            entries[0] = {"status": "FAILED", "createdAt": 5}
        return {"intents": entries, "nextPage": following}


def answer(content: bytes, *, status: int = 200, headers: Mapping[str, str] = MappingProxyType({})) -> httpx.Response:
    given = {"Content-Type": "application/json", **headers}
    return httpx.Response(status, headers=given, stream=httpx.ByteStream(content))


class Copy:
    """A mirror of a world, step by step. It writes what it reads `at_once` in any order."""

    def __init__(self, world: World, *, days: int = 0, calls: int = CALLS, at_once: int = 1) -> None:
        self.world = world
        self.days = days
        self.at_once, self.draw = at_once, Random(1)
        config = ServiceConfig("http://world")
        self.service = ServiceClient(config, transport=world, clock=lambda: world.now)
        self.readings: list[Any] = []
        self.reader = Reader(self.service, calls, self.moment, clock=lambda: world.now, sleep=world.sleep)
        self.restart()

    def moment(self) -> datetime:
        return datetime.fromtimestamp(self.world.now, UTC)

    def restart(self) -> None:
        """Begin as another process that takes over the lease."""
        self.snapshots: SnapshotWriter | None = None
        days, stop = self.days, Event()
        self.mirror = Mirror(self.reader, source="world", now=self.moment, stop=stop, days=days, random=Random(1))
        self.leads = False

    @property
    def writer(self) -> Writer:
        return self.mirror.writer

    def step(self) -> bool:
        """Read and write tasks. Return whether there was one."""
        if not self.leads:
            self.mirror.begin(lease.acquire())
            self.leads = True
        self.mirror.prepare()
        self.mirror.incidents.keep(now=self.mirror.seconds())
        tasks: list[Task] = []
        while len(tasks) < self.at_once and (task := self.mirror.next_task(busy=tasks)):
            tasks.append(task)
        for reading in self.draw.sample([self.mirror.reader.read(each) for each in tasks], len(tasks)):
            self.mirror.store(reading)
            self.readings.append(reading)
        return bool(tasks)

    def count(self, *, is_final: bool = False) -> None:
        """Write snapshots: those that are due, or all."""
        if self.leads:
            self.snapshots = self.snapshots or SnapshotWriter(self.writer, SLOW)
            now = int(self.world.now)
            self.snapshots.write(now=now) if is_final else self.snapshots.write_due(now=now)

    def settle(self, seconds: float, *, step: float = 20.0) -> None:
        """Let time pass, with all reads that are due."""
        until = self.world.now + seconds
        while True:
            for _ in range(3000):
                if not self.step():
                    break
            if self.world.now >= until:
                return
            self.world.now = min(until, self.world.now + step)


def rows() -> dict[str, tuple[str, str]]:
    """Return the status and the outcome of each transfer in the copy."""
    found = Transfer.objects.values_list("intent_id", "status", "outcome")
    return {f"0x{bytes(intent_id).hex()}": (status, outcome) for intent_id, status, outcome in found}


def expected(world: World) -> dict[str, tuple[str, str]]:
    found = {}
    for made in world.transfers:
        seen = made.seen(world.now)
        if seen:
            is_expired = seen[0] == "COMMITTED" and world.now * 1000 >= seen[1] + 600_000
            found[made.intent_id] = (seen[0], "no_deposit" if is_expired else OUTCOMES[seen[0]])
    return found


def edges() -> Iterator[tuple[int, int]]:
    yield from Window.objects.order_by("start").values_list("start", "end")
