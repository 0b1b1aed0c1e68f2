"""Whatever happens in whatever order, a mirror that comes to rest equals the world."""

import contextlib
from collections.abc import Callable, Iterator
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from django.db import connection
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from intents_ui.mirror import models
from intents_ui.mirror.entry import read
from intents_ui.mirror.figures.snapshots import SnapshotWriter
from intents_ui.mirror.lease import LeaseLost
from intents_ui.mirror.models import Lease, Transfer
from intents_ui.mirror.windows import DAY, MINUTE, SEALED_FROM, Condition
from intents_ui.mirror.writer import Writer
from intents_ui.service import decode
from intents_ui.service.models import IntentHistory
from tests.mirror.conftest import empty, on_each_engine
from tests.mirror.counted import check_facts, check_figures, of_world
from tests.mirror.world import CALLS, START, Copy, World, expected, rows

MIDNIGHT = START // DAY * DAY


class Killed(BaseException):
    """The process ends between two statements."""


@contextlib.contextmanager
def killed_after(statements: int) -> Iterator[None]:
    left = [statements]

    def count(execute: Callable[..., Any], *args: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise Killed
        return execute(*args)

    with connection.execute_wrapper(count):
        yield


class Histories(RuleBasedStateMachine):
    @initialize()
    def begin(self) -> None:
        empty()
        self.world = World()
        self.world.now = MIDNIGHT + 15 * MINUTE
        self.copy = Copy(self.world)
        self.old: list[Writer] = []
        self.copy.step()

    @rule(draw=st.randoms(use_true_random=True))
    def move(self, draw: Random) -> None:
        self.world.move(draw)

    @rule(seconds=st.integers(1, 60), reads=st.integers(1, 6))
    def wait(self, seconds: int, reads: int) -> None:
        self.world.now += seconds
        for _ in range(reads):
            self.copy.step()

    @rule()
    def count(self) -> None:
        self.copy.count()

    @rule(statements=st.integers(0, 40), takes_over=st.booleans(), is_counting=st.booleans())
    def kill(self, statements: int, takes_over: bool, is_counting: bool) -> None:
        with contextlib.suppress(Killed), killed_after(statements):
            if is_counting:
                self.copy.count(is_final=True)
            self.copy.step()
        if self.copy.leads and takes_over:
            self.old.append(self.copy.writer)
        Lease.objects.update(until=0)  # it has run out
        self.copy.restart()
        self.copy.step()

    @precondition(lambda self: self.copy.readings)
    @rule(which=st.integers(0, 10**6))
    def replay(self, which: int) -> None:
        """Write a reading once more, which changes nothing (I5)."""
        reading = self.copy.readings[which % len(self.copy.readings)]
        before = rows(), list(models.Window.objects.order_by("start").values())
        changed = self.copy.writer.commit(reading, now=int(self.world.now))
        after = rows(), list(models.Window.objects.order_by("start").values())
        assert (changed, after[0]) == (0, before[0])
        if reading.task.end and not reading.why:
            assert after[1] == before[1]

    @precondition(lambda self: self.old and self.copy.readings)
    @rule()
    def wake(self) -> None:
        """Let a process write that slept through its lease, which it may not (I4)."""
        with pytest.raises(LeaseLost):
            self.old[-1].commit(self.copy.readings[-1], now=int(self.world.now))
        with pytest.raises(LeaseLost):
            SnapshotWriter(self.old[-1].epoch).write(now=int(self.world.now))

    @invariant()
    def facts_are_those_of_the_rows(self) -> None:
        check_facts()

    @invariant()
    def windows_tile_the_time(self) -> None:
        edges = list(models.Window.objects.order_by("start").values_list("start", "end"))
        assert all(earlier[1] == later[0] for earlier, later in pairwise(edges))

    @invariant()
    def calls_are_within_the_limit(self) -> None:
        called = self.world.called
        assert all(later - earlier >= 1 for earlier, later in zip(called, called[CALLS:], strict=False))

    def teardown(self) -> None:
        self.world.faults = []
        self.settle()
        assert rows() == expected(self.world)
        self.copy.count(is_final=True)
        check_facts()
        check_figures([*of_world(self.world)], now=int(self.world.now))
        stored = Transfer.objects.values_list("intent_id", "fingerprint")
        assert {bytes(intent_id): bytes(found) for intent_id, found in stored} == self.fingerprints()
        for window in models.Window.objects.filter(end__lte=self.world.now - SEALED_FROM - 5 * MINUTE):
            assert window.condition is Condition.SEALED

    def settle(self) -> None:
        """Let the ages pass in which a change may hide: those up to half an hour."""
        until = self.world.now + 46 * MINUTE
        while self.world.now < until:
            self.world.now += 2 * MINUTE
            for _ in range(500):
                if not self.copy.step():
                    break

    def fingerprints(self) -> dict[bytes, bytes]:
        seen = ((made, made.seen(self.world.now)) for made in self.world.transfers)
        documents = [decode.read(decode.write(made.entry(*found)).decode()) for made, found in seen if found]
        entries = [read(IntentHistory.model_validate(each), now=self.copy.moment()) for each in documents]
        return {each.intent_id: each.fingerprint for each in entries}


@on_each_engine
@pytest.mark.usefixtures("copy")
def test_a_mirror_at_rest_equals_the_world() -> None:
    checked = settings(
        max_examples=settings().max_examples // 8,
        stateful_step_count=12,
        phases=(Phase.generate,),  # finding a shorter example of a failure takes minutes
        suppress_health_check=[*HealthCheck],
    )
    run_state_machine_as_test(Histories, settings=checked)
