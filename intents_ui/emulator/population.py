"""All intents: the emulated population, a function of the clock and a number, and those that callers created.

Intents come in streams, each with its own interval: one for each scenario, one of background traffic, and one of dense
traffic in the last hour or so, in a demo in the last days. The n-th intent is the k-th of its stream, with
n = k * 64 + stream, and follows from n alone, in a demo also from its start: it is the same in every process and after
every restart. Lists without a start reach back as far as a stream is retained, and those with one (`fromTime`) as far
as `PAST`. Lookups by name have no such limit.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from heapq import merge
from random import Random
from threading import RLock
from typing import Final

from intents_ui.emulator import names
from intents_ui.emulator.background_traffic import ordinary, outages_around
from intents_ui.emulator.documents import MICROSECONDS, micros
from intents_ui.emulator.errors import Refusal
from intents_ui.emulator.intents import Entry
from intents_ui.emulator.names import Role
from intents_ui.emulator.scenario_engine import MAIN, SCENARIOS, Scenario, scene_at
from intents_ui.emulator.transfers import OWNERS, Course, course_of

STREAMS: Final = 64
MADE: Final = STREAMS - 1
ORDINARY: Final = 40
RUSH: Final = 41
DENSE: Final = 43

# Birth time of the intents with k = 0, except in a demo.
_EPOCH: Final = 1_577_836_800 * MICROSECONDS
_MINUTE: Final = 60 * MICROSECONDS
_TWO_DAYS: Final = 2880 * _MINUTE
# How far back a list with a start reaches.
PAST: Final = 20 * _TWO_DAYS

# A scenario's next copy starts soon after its last one ends, and old copies leave the lists, so that they show
# traffic.
_COPY_BEAT: Final = 5 * _MINUTE
_SLOW_COPY_BEAT: Final = 15 * _MINUTE
_SLOW_FROM_SECONDS: Final = 300
_COPIES_KEPT: Final = 8
# Smaller worlds have no room for the scenarios.
_ROOM_FOR_SCENARIOS: Final = 1000
_ROOM_FOR_RUSH: Final = 1940
# In a demo, one transfer in twenty is a copy of a scenario, and three to five open ones never end. Its traffic doubles
# in the last days, among which are those of its outages.
_DEMO_BEAT: Final = 5 * _MINUTE // 2
_DEMO_DENSE: Final = 4 * _TWO_DAYS
_DEMO_COPY_BEAT: Final = 1250 * _MINUTE
_DEMO_STALLED_BEAT: Final = 5 * 1440 * _MINUTE
# Traffic is denser in the last ninety minutes, so that there are always transfers in progress.
_RUSH_BEAT: Final = _MINUTE // 8
_RUSH_KEPT: Final = 720

_OWNER_SLOTS: Final = 4096


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream of intents. `beat` and `phase` are in microseconds.

    `kept` is how many of the newest are in lists without a start. `epoch` is the birth time of the one with k = 0, but
    for the phase.
    """

    index: int
    beat: int
    kept: int
    phase: int = 0
    scenario: Scenario | None = None
    epoch: int = _EPOCH

    def born(self, k: int) -> int:
        """Return the k-th intent's quote time: on the beat plus a delay. The last three digits identify the stream."""
        late = 0 if self.scenario else (k * 2_654_435_761 + self.index * 40_503 & 0xFFFF) * self.beat * 9 // 655_360
        return (self.epoch + k * self.beat + self.phase + late) // 1000 * 1000 + self.index

    def latest(self, now: int) -> int:
        """Return the newest k quoted by `now`."""
        k = (now - self.epoch - self.phase) // self.beat + 1
        while self.born(k) > now:
            k -= 1
        return k


@dataclass(frozen=True, slots=True)
class Reach:
    """Quote times that a list covers, in microseconds, inclusive.

    `since` is the start that its client asked for. Without one, a list has only what the streams retain. `earliest` and
    `latest` narrow it to what follows a cursor.
    """

    since: int | None = None
    earliest: int = 0
    latest: int = 2**63

    def of(self, stream: Stream, now: int) -> range:
        """Return the k of the listed intents of a stream."""
        oldest = stream.latest(now) - stream.kept if self.since is None else stream.latest(self.start(now) - 1)
        first = max(-1, oldest, stream.latest(self.earliest - 1)) + 1
        return range(first, max(first, stream.latest(self.until(now)) + 1))

    def start(self, now: int) -> int:
        return self.earliest if self.since is None else max(self.earliest, self.since, now - PAST)

    def until(self, now: int) -> int:
        return min(now, self.latest)


class World:
    """All intents. Read-only after construction, and so thread-safe.

    `size` is how many are in lists without a start. `started` is when a demo starts, in microseconds: traffic like that
    of a service, with outages around that time.
    """

    def __init__(self, size: int, started: int | None) -> None:
        self.outages = () if started is None else outages_around(started)
        streams = _streams(size) if started is None else _demo_streams(size, epoch=started - PAST)
        self.streams = {stream.index: stream for stream in streams}
        self.course = lru_cache(maxsize=2 * size + 1000)(self._course)

    def numbers(self, now: int, reach: Reach, *, descending: bool, owner: str | None) -> Iterator[tuple[int, int]]:
        """Yield (ID, number) of the listed intents in order of ID."""
        named = names.read(owner) if owner else None
        if owner and (named is None or named[0] is not Role.OWNER):
            return iter(())

        def of_stream(stream: Stream) -> Iterator[tuple[int, int]]:
            listed = reach.of(stream, now)
            for k in reversed(listed) if descending else listed:
                if named is None or _owner(k, stream.index) == named[1]:
                    yield stream.born(k), k * STREAMS + stream.index

        return merge(*map(of_stream, self.streams.values()), reverse=descending)

    def copies(self, scenario: Scenario, now: int, variant: str = MAIN) -> Iterator[int]:
        """Yield the numbers of a scenario's copies, newest first."""
        stream = self.streams[scenario.number]
        for k in range(stream.latest(now), -1, -1):
            if _variant(scenario, k) == variant:
                yield k * STREAMS + stream.index

    def _course(self, number: int) -> Course:
        k, index = divmod(number, STREAMS)
        stream, owner = self.streams[index], _owner(k, index)
        born, scenario = stream.born(k), stream.scenario
        if scenario:
            return course_of(scenario, _variant(scenario, k), number=number, born=born, owner=owner)
        outage = next((each for each in self.outages if each.hits(k, owner, born)), None)
        return (outage.course if outage else ordinary)(number=number, born=born, owner=owner)


# Emulators in one process share a world.
world_of: Final = lru_cache(maxsize=4)(World)


def _streams(size: int) -> Iterator[Stream]:
    rest = size
    for scenario in SCENARIOS if size >= _ROOM_FOR_SCENARIOS else ():
        beat = _COPY_BEAT if scenario.lasts <= _SLOW_FROM_SECONDS else _SLOW_COPY_BEAT
        # Every other copy is a variant.
        beat = beat // 2 if len(scenario.variant_names) > 1 else beat
        # Enough copies that the lists include a finished one of each variant.
        kept = _COPIES_KEPT + micros(scenario.lasts) // beat
        phase = beat * (scenario.number * 7 % 31) // 31
        yield Stream(scenario.number, beat=beat, kept=kept, phase=phase, scenario=scenario)
        rest -= kept
    if size >= _ROOM_FOR_RUSH:
        yield Stream(RUSH, beat=_RUSH_BEAT, kept=_RUSH_KEPT)
        rest -= _RUSH_KEPT
    yield Stream(ORDINARY, beat=_TWO_DAYS // rest, kept=rest)


def _demo_streams(size: int, *, epoch: int) -> Iterator[Stream]:
    """Yield the streams of a demo: the same month before its start, whenever that is."""
    for scenario in SCENARIOS:
        ends = all(scenario.script_of(variant)[-1].status != "EXECUTING" for variant in scenario.variant_names)
        beat = _DEMO_COPY_BEAT if ends else _DEMO_STALLED_BEAT
        # Neighbors are alike. In the same hour, failed ones would look like an outage.
        phase = beat * (scenario.number * 13 % 31) // 31
        yield Stream(scenario.number, beat=beat, kept=_COPIES_KEPT, phase=phase, scenario=scenario, epoch=epoch)
    kept = (size - _COPIES_KEPT * len(SCENARIOS)) // 2
    yield Stream(ORDINARY, beat=_DEMO_BEAT, kept=kept, phase=_MINUTE, epoch=epoch)
    yield Stream(DENSE, beat=_DEMO_BEAT, kept=kept, epoch=epoch + PAST - _DEMO_DENSE)


def _variant(scenario: Scenario, k: int) -> str:
    """Return the k-th copy's variant. Every other copy is the main one."""
    others = scenario.variant_names[1:]
    return others[k // 2 % len(others)] if others and k % 2 else MAIN


@cache
def _owner_slots() -> list[int]:
    """Return the owners in turn: a few come often, most rarely, in a fixed cycle of a few thousand turns."""
    shares = [_OWNER_SLOTS // (5 * (owner + 3)) + 1 for owner in range(OWNERS)]
    slots = [owner for owner, share in enumerate(shares) for _ in range(share)]
    slots += [owner % OWNERS for owner in range(_OWNER_SLOTS - len(slots))]
    Random(7).shuffle(slots)  # noqa: S311 - must be the same in every process
    return slots


def _owner(k: int, stream: int) -> int:
    return _owner_slots()[(k + stream * 997) % _OWNER_SLOTS]


# Limit on the intents that callers created. The oldest are dropped.
MADE_KEPT: Final = 2000
EVERYTHING_LISTED: Final = Reach()


class Ledger:
    """Lookup of intents. Each method takes the current time in microseconds."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._lock = RLock()
        self._courses: dict[int, Course] = {}
        self._by_hash: dict[str, int] = {}
        self._last_turn = 0

    def entry(self, number: int, now: int) -> Entry | None:
        if number not in self._courses and number % STREAMS not in self.world.streams:
            return None
        course = self.course(number)
        age = course.transfer.age(now)
        return Entry(course.transfer, scene_at(course.scenes, age)) if age >= 0 else None

    def requested(self, intent_id: str, now: int) -> Entry:
        """Return the intent that a request is about. Raises Refusal."""
        found = names.read(intent_id.strip())
        entry = self.entry(found[1], now) if found and found[0] is Role.INTENT else None
        if entry is None:
            raise Refusal("NotFound", f"intent {intent_id[:80]} not found")
        return entry

    def course(self, number: int) -> Course:
        """Return the course of a transfer. For one of the world's, as if no caller interfered."""
        return self._courses.get(number) or self.world.course(number)

    def entries(
        self, now: int, *, descending: bool, reach: Reach = EVERYTHING_LISTED, owner: str | None = None
    ) -> Iterator[Entry]:
        """Yield intents in order of ID."""
        found = self.world.numbers(now, reach, descending=descending, owner=owner)
        earliest, until = reach.start(now), reach.until(now)
        with self._lock:
            made = sorted(
                (
                    (course.transfer.born, number)
                    for number, course in self._courses.items()
                    if number % STREAMS == MADE
                    and earliest <= course.transfer.born <= until
                    and (course.listed if owner is None else owner == course.transfer.owner)
                ),
                reverse=descending,
            )
        for _, number in merge(found, made, reverse=descending):
            if entry := self.entry(number, now):
                yield entry

    def bearing(self, name: str, now: int) -> Iterator[Entry]:
        """Yield the intents that a hash, address or ID belongs to, in any role, newest first."""
        role, number = names.read(name) or (None, self._by_hash.get(name.lower()))
        if role is Role.OWNER or number is None:  # an owner of the world, or a caller who requested a quote
            yield from self.entries(now, descending=True, owner=name.lower())
        elif entry := self.entry(number, now):
            yield entry

    def next_number(self, now: int) -> tuple[int, int]:
        """Return a unique number and birth time for an intent created at `now`."""
        with self._lock:
            turn = max(self._last_turn + 1, now // 1000)
            self._last_turn = turn
        # The previous millisecond, so that the intent exists at once. The last digits make it unique.
        return turn * STREAMS + MADE, (now // 1000 - 1) * 1000 + STREAMS + turn % (1000 - STREAMS)

    def play(
        self,
        scenario: Scenario,
        variant: str,
        now: int,
        age: float,
        *,
        held: bool = False,
        listed: bool = True,
        owner: int | None = None,
    ) -> int:
        """Create a copy of a scenario as if quoted `age` seconds ago, and return its number.

        If `held`, it stays at that age.
        """
        number, born = self.next_number(now)
        owner = number // STREAMS % OWNERS if owner is None else owner
        course = course_of(scenario, variant, number=number, born=born - micros(age), owner=owner)
        scenes = (scene_at(course.scenes, age),) if held else course.scenes
        self.keep(replace(course, scenes=scenes, listed=listed))
        return number

    def keep(self, course: Course, deposit_hash: str | None = None) -> None:
        """Store a course, for a new intent or in place of its previous course."""
        with self._lock:
            number = course.transfer.number
            self._courses.pop(number, None)
            self._courses[number] = course
            if deposit_hash:
                self._by_hash[deposit_hash.lower()] = number
            while len(self._courses) > MADE_KEPT:
                evicted = next(iter(self._courses))
                del self._courses[evicted]
                self._by_hash = {name: owner for name, owner in self._by_hash.items() if owner != evicted}
