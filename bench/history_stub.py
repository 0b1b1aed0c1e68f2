"""Stub service with a long history: GetIntentHistory from prepared bytes.

    .venv/bin/python -m bench.history_stub --port 8802 --entries 1000000 --days 30 --rate 4

The n-th entry follows from n alone, so memory doesn't grow with their number. It is a transfer of the emulator at one
of its moments, as recorded bytes, with an ID, addresses and times of its own. `--entries` were quoted before the start,
in as many `--days`, and `--rate` more are quoted each second from then on. All of them are executed and end while time
passes, apart from expired quotes.

Lists have the filters `fromTime`, `toTime`, `byStatus` and `byStatuses`, both sort columns and both orders. A request
with any other filter is an error.
"""

import argparse
import asyncio
import contextlib
import json
import re
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from email.utils import formatdate
from functools import lru_cache
from itertools import islice
from operator import itemgetter
from typing import Any, Final

from bench.stub_service import IDS, TIME, serve
from intents_ui.emulator import Emulator
from intents_ui.emulator.documents import MICROSECONDS, encode, micros
from intents_ui.emulator.intents import Entry
from intents_ui.emulator.scenario_engine import Scene
from intents_ui.emulator.transfers import Course, Transfer

DAY: Final = 86_400
RECORDED_AT: Final = 1_795_219_200.0
KINDS: Final = 128  # transfers of the emulator
OWNERS: Final = 5_000
OPEN: Final = frozenset({"COMMITTED", "EXECUTING"})
FILTERS: Final = frozenset({"page", "fromTime", "toTime", "byStatus", "byStatuses"})
MAX_PAGE_SIZE: Final = 100
RECORD_ID: Final = re.compile(r'"(?:id|\w+TransactionId)":(\d{13,})')


class Template:
    """An entry as bytes, with gaps for its ID, addresses, times and record IDs. `at` is its age in microseconds."""

    def __init__(self, transfer: Transfer, scene: Scene) -> None:
        self.status = scene.status
        self.at = transfer.moment(scene.at) - transfer.born
        text = encode(Entry(transfer, scene).history_row()).decode()
        times, records = sorted(set(TIME.findall(text))), sorted(set(RECORD_ID.findall(text)))
        names = [transfer.intent_id, transfer.owner, transfer.origin_address, transfer.destination_address]
        values = [*names, *times, *records]
        places = {value: place for place, value in enumerate(values)}
        parts = re.split(f"({'|'.join(map(re.escape, values))})", text)
        self._parts = [part.encode() for part in parts]
        self._values: Callable[[list[bytes]], tuple[bytes, ...]] = itemgetter(*map(places.__getitem__, parts[1::2]))
        # Whole seconds, so that all times of an entry have the same fraction.
        moments = (micros(datetime.fromisoformat(each).timestamp()) for each in times)
        self._seconds = [(moment - transfer.born) // MICROSECONDS for moment in moments]
        self._records = [int(each) - transfer.born for each in records]

    def entry(self, names: list[bytes], born: int) -> bytes:
        second, fraction = divmod(born, MICROSECONDS)
        ending = b".%06dZ" % fraction
        times = [written(second + each) + ending for each in self._seconds]
        records = [b"%d" % (born + each) for each in self._records]
        parts = self._parts.copy()
        parts[1::2] = self._values([*names, *times, *records])
        return b"".join(parts)


class Kind:
    """The templates of one transfer, in order of its age."""

    def __init__(self, course: Course) -> None:
        self.templates = [Template(course.transfer, scene) for scene in course.scenes]
        self._ages = [template.at for template in self.templates]

    def at(self, age: int) -> Template:
        return self.templates[max(0, bisect_right(self._ages, age) - 1)]


class History:
    """A history of `entries` in the `days` before `start`, and of `rate` per second from then on.

    `now` is a clock. It and `start` are in Unix seconds, all other times in microseconds.
    """

    def __init__(
        self, *, entries: int, days: float, rate: float = 0.0, start: float = 0.0, now: Callable[[], float] = time.time
    ) -> None:
        self.now = now
        self.delay = 0.0
        self.entries = entries
        self.start = micros(start or now())
        self.beat = round(days * DAY * MICROSECONDS / entries)
        self.later_beat = round(MICROSECONDS / rate) if rate else 0
        self.kinds = list(islice(recorded_kinds(), KINDS))
        self.longest = max(kind.templates[-1].at for kind in self.kinds)

    def reply(self, path: str, body: str) -> bytes:
        """Return the HTTP response to a request."""
        page = self.page(json.loads(body)) if path.endswith("/GetIntentHistory") else b""
        head = (
            f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
            f"date: {formatdate(self.now(), usegmt=True)}\r\ncontent-length: {len(page)}\r\n\r\n"
        )
        return head.encode() + page

    def page(self, asked: dict[str, Any]) -> bytes:
        if others := sorted(name for name, value in asked.items() if value and name not in FILTERS):
            raise ValueError(f"this stub has no {', '.join(others)}")
        page = asked.get("page") or {}
        sort = (page.get("sort") or [{}])[0]
        size = min(page.get("pageSize") or 20, MAX_PAGE_SIZE)
        numbers = self._numbers(asked, page.get("after"), is_up=sort.get("order") == "ASC")
        found, following = list(islice(numbers, size)), None
        if next(numbers, None) is not None:
            cursor = {"column": sort.get("column") or "id", "after": self.born(found[-1])}
            following = {**cursor, "sort": [sort], "pageSize": size, "more": True}
        now = micros(self.now())
        entries = b",".join(self.entry(number, now) for number in found)
        return b'{"intents":[%b],"nextPage":%b}' % (entries, json.dumps(following).encode())

    def born(self, number: int) -> int:
        """Return when an entry was quoted. Each is later than the one before."""
        scattered = number * 2_654_435_761 & 0xFFFF
        beat = self.beat if number < self.entries else self.later_beat
        return self.start + (number - self.entries) * beat + scattered * beat * 9 // 655_360

    def newest(self, moment: int) -> int:
        """Return the number of the newest entry quoted by then, or -1."""
        beat = self.later_beat if moment >= self.start and self.later_beat else self.beat
        number = self.entries + (moment - self.start) // beat + 1
        if not self.later_beat:
            number = min(self.entries - 1, number)
        while number >= 0 and self.born(number) > moment:
            number -= 1
        return max(-1, number)

    def kind(self, number: int) -> Kind:
        return self.kinds[(number * 2_246_822_519 >> 7) % len(self.kinds)]

    def entry(self, number: int, now: int) -> bytes:
        born = self.born(number)
        names = [
            b"0x%064x" % (number * IDS % 2**256),
            owner(number),
            b"0x%040x" % ((2 * number + 1) * IDS % 2**160),
            b"0x%040x" % ((2 * number + 2) * IDS % 2**160),
        ]
        return self.kind(number).at(now - born).entry(names, born)

    def _numbers(self, asked: dict[str, Any], cursor: int | None, *, is_up: bool) -> Iterator[int]:
        now = micros(self.now())
        statuses = frozenset(asked.get("byStatuses") or filter(None, [asked.get("byStatus")]))
        since, until = (asked.get("fromTime") or 0) * MICROSECONDS, now
        if asked.get("toTime"):
            until = min(until, asked["toTime"] * MICROSECONDS)
        if cursor is not None and is_up:
            since = max(since, cursor + 1)
        elif cursor is not None:
            until = min(until, cursor - 1)
        if statuses and statuses <= OPEN:
            since = max(since, now - self.longest)  # older ones have ended
        found: Iterable[int] = range(self.newest(since - 1) + 1, self.newest(until) + 1)
        found = found if is_up else reversed(found)
        for number in found:
            if not statuses or self.kind(number).at(now - self.born(number)).status in statuses:
                yield number


def recorded_kinds() -> Iterator[Kind]:
    """Yield the emulator's ordinary transfers that end, as templates."""
    emulator = Emulator(now=lambda: RECORDED_AT, size=2 * KINDS)  # too few for scenarios
    for entry in emulator.ledger.entries(micros(RECORDED_AT), descending=True):
        kind = Kind(emulator.ledger.course(entry.transfer.number))
        if kind.templates[-1].status not in OPEN:
            yield kind


@lru_cache(maxsize=20_000)
def written(second: int) -> bytes:
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S").encode()


def owner(number: int) -> bytes:
    """Return the owner of an entry: a few have many, most have few."""
    owned = (number * 40_503 & 0xFFFF) ** 2 * OWNERS >> 32
    return b"0x%040x" % (owned * IDS >> 7 & 2**160 - 1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench.history_stub", description="Stub service, long history.")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--entries", type=int, default=1_000_000, help="number of entries quoted before the start")
    parser.add_argument("--days", type=float, default=30.0, help="days in which they were quoted")
    parser.add_argument("--rate", type=float, default=0.0, help="entries quoted per second from then on")
    options = parser.parse_args()
    history = History(entries=options.entries, days=options.days, rate=options.rate)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(history, options.port))
