"""All intents: those of the world and those that callers created, for lookups, lists and searches."""

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import merge
from threading import RLock
from typing import Final

from intents_ui.emulator import names
from intents_ui.emulator.catalog import Catalogue
from intents_ui.emulator.errors import Refusal
from intents_ui.emulator.names import Role
from intents_ui.emulator.population import MADE, STREAMS, Reach, World
from intents_ui.emulator.receipts import transaction_hash
from intents_ui.emulator.scenario_engine import LEGS, Scene, scene_at
from intents_ui.emulator.transfers import Transfer

# Limit on the intents that callers created. The oldest are dropped.
MADE_KEPT: Final = 2000
EVERYTHING_LISTED: Final = Reach()


@dataclass(frozen=True, slots=True)
class Course:
    """A transfer and its scenes, past and future, as changed by callers. `committed` is in microseconds.

    If it isn't `listed`, only lists of its owner have it.
    """

    transfer: Transfer
    scenes: tuple[Scene, ...]
    committed: int | None = None
    listed: bool = True


@dataclass(frozen=True, slots=True)
class Entry:
    """An intent at one moment."""

    transfer: Transfer
    scene: Scene

    def hashes(self) -> list[str | None]:
        return [
            transaction_hash(self.transfer, name, leg)
            for name, leg in zip(LEGS, self.scene.legs, strict=True)
            if leg is not None
        ]


class Ledger:
    """Lookup of intents. Each method takes the current time in microseconds."""

    def __init__(self, world: World, catalogue: Catalogue) -> None:
        self.world = world
        self.catalogue = catalogue
        self._lock = RLock()
        self._courses: dict[int, Course] = {}
        self._by_hash: dict[str, int] = {}
        self._last_turn = 0

    def entry(self, number: int, now: int) -> Entry | None:
        if number not in self._courses and not self.world.exists(number, now):
            return None
        course = self.course(number)
        return Entry(course.transfer, scene_at(course.scenes, _age(course.transfer, now)))

    def named(self, intent_id: str, now: int) -> Entry | None:
        found = names.read(intent_id.strip())
        return self.entry(found.number, now) if found and found.role is Role.INTENT else None

    def requested(self, intent_id: str, now: int) -> Entry:
        """Return the intent that a request is about. Raises Refusal."""
        entry = self.named(intent_id, now)
        if entry is None:
            raise Refusal("NotFound", f"intent {intent_id[:80]} not found")
        return entry

    def has_ended(self, number: int, now: int) -> bool:
        """Return whether an intent won't change by itself anymore."""
        course = self.course(number)
        return _age(course.transfer, now) >= course.scenes[-1].at

    def course(self, number: int) -> Course:
        """Return the course of a transfer. For one of the world's, as if no caller interfered."""
        made = self._courses.get(number)
        if made:
            return made
        transfer = self.world.transfer(number)
        return Course(transfer, self.world.scenes(transfer))

    def entries(
        self,
        now: int,
        *,
        descending: bool,
        reach: Reach = EVERYTHING_LISTED,
        owner: str | None = None,
    ) -> Iterator[Entry]:
        """Yield intents in order of ID."""
        for number in self.numbers(now, descending=descending, reach=reach, owner=owner):
            entry = self.entry(number, now)
            if entry:
                yield entry

    def numbers(
        self, now: int, *, descending: bool, reach: Reach = EVERYTHING_LISTED, owner: str | None = None
    ) -> Iterator[int]:
        """Yield the numbers of intents in order of ID."""
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
            yield number

    def bearing(self, name: str, now: int) -> Iterator[Entry]:
        """Yield the intents that a hash, address or ID belongs to, in any role, newest first."""
        found = names.read(name)
        if found and found.role is Role.OWNER:
            owner = names.address_of(Role.OWNER, found.number)
            yield from self.entries(now, descending=True, owner=owner)
            return
        number = found.number if found else self._by_hash.get(name.lower())
        entry = None if number is None else self.entry(number, now)
        if entry:
            yield entry
        elif name[:2].lower() == "0x":
            # An owner outside of the world: a caller who requested a quote.
            yield from self.entries(now, descending=True, owner=name.lower())

    def next_number(self, now: int) -> tuple[int, int]:
        """Return a unique number and birth time for an intent created at `now`."""
        with self._lock:
            turn = max(self._last_turn + 1, now // 1000)
            self._last_turn = turn
        # The previous millisecond, so that the intent exists at once. The last digits make it unique.
        return turn * STREAMS + MADE, (now // 1000 - 1) * 1000 + STREAMS + turn % (1000 - STREAMS)

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


def _age(transfer: Transfer, now: int) -> float:
    return (now - transfer.born) / 1_000_000 / transfer.stretch
