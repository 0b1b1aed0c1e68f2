"""Delay until the mirror knows the end of a transfer, and its calls, on an accelerated clock."""

import json
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random
from threading import Event

import httpx
from django.core.management import call_command

from bench.history_stub import DAY, IDS, OPEN, RECORDED_AT, History
from bench.processes import quantile
from bench.report import Target
from intents_ui.mirror.loop import Mirror
from intents_ui.mirror.reader import CallLimiter, Reader
from intents_ui.service.client import ServiceClient
from intents_ui.service.operations import ServiceConfig

START = RECORDED_AT // DAY * DAY + 600  # ten minutes into a day, which is what the mirror reads first
RATE, CALLS = 4, 5  # per second
CALL_SECONDS, IDLE_SECONDS = 0.1, 0.5
SETTLING = 300  # seconds until the first ending that counts


@dataclass
class Service(httpx.BaseTransport):
    """The stub, whose calls take time on a clock of its own."""

    now: float = START
    called: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.history = History(entries=1, days=1, start=START, now=lambda: self.now)
        kinds = self.history.kinds
        share = sum(kind.templates[-1].status != "QUOTED" for kind in kinds) / len(kinds)
        beat = share / RATE
        self.history = History(
            entries=round(600 / beat), days=600 / DAY, rate=1 / beat, start=START, now=lambda: self.now
        )

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.called.append(self.now)
        reply = self.history.reply(request.url.path, request.read().decode())
        self.sleep(CALL_SECONDS)
        body = httpx.ByteStream(reply.partition(b"\r\n\r\n")[2])
        return httpx.Response(200, headers={"content-type": "application/json"}, stream=body)

    def moment(self) -> datetime:
        return datetime.fromtimestamp(self.now, UTC)

    def endings(self, since: float, until: float) -> Iterator[tuple[bytes, float]]:
        """Yield the ID and the time of change of each transfer that ended within this time."""
        for number in range(self.history.newest(round(until * 1e6)) + 1):
            born = self.history.born(number)
            for template in self.history.kind(number).templates:
                if template.status not in OPEN | {"QUOTED"}:
                    entry = json.loads(template.entry([b"-"] * 4, born))
                    ended = datetime.fromisoformat(entry["updatedAt"]).timestamp()
                    if since <= ended < until:
                        yield (number * IDS % 2**256).to_bytes(32), ended
                    break


def mirror_of(service: Service) -> Mirror:
    call_command("migrate", "mirror", verbosity=0)
    client = ServiceClient(ServiceConfig("http://stub"), transport=service, clock=lambda: service.now)
    limiter = CallLimiter(CALLS, clock=lambda: service.now, sleep=service.sleep)
    reader = Reader(client, limiter, now=service.moment)
    return Mirror(reader, source="stub", now=service.moment, stop=Event(), days=0, random=Random(1))


def measure(seconds: float) -> Iterator[Target]:
    service = Service()
    mirror, known = mirror_of(service), dict[bytes, float]()
    until = START + SETTLING + seconds
    with mirror.lead():
        while service.now < until:
            mirror.schedule.prepare(now=mirror.seconds())
            task = mirror.schedule.next_task(now=mirror.seconds())
            if task is None:
                service.sleep(IDLE_SECONDS)
                continue
            reading = mirror.reader.read(task)
            mirror.writer.commit(reading, now=mirror.seconds())
            for each in reading.entries:
                if each.status not in OPEN:
                    known.setdefault(each.intent_id, service.now)
    # Endings of the last two minutes may not be known yet, and need not be.
    ended = dict(service.endings(START + SETTLING, until - 120))
    late = [known.get(each, float("inf")) - at for each, at in ended.items()]
    told = f"{len(late):,} endings in {seconds / 60:g} minutes"
    for percent, most in ((50, 15), (95, 30), (99, 120)):
        yield Target(f"fresh: delay until an ending is known, p{percent}", quantile(late, percent), most, "s", told)
    called = [at for at in service.called if at >= START + SETTLING]
    yield Target("fresh: calls per transfer", len(called) / (seconds * RATE), 0.3, "")
    burst = max(place + 1 - bisect_right(called, at - 9.999) for place, at in enumerate(called))
    yield Target("fresh: calls in any 10 s", burst, 50, "", "a budget of 5 per second")
