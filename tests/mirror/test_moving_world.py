"""The mirror follows a service that misbehaves in all ways at once, and its process ends again and again."""

import contextlib
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import pairwise
from random import Random
from typing import Any

from django.db import connection, transaction

from intents_ui.mirror import coverage, entry
from intents_ui.mirror.figures import queries
from intents_ui.mirror.models import Lease, Transfer
from intents_ui.mirror.windows import DAY, HOUR, MINUTE
from intents_ui.service import decode
from intents_ui.service.models import IntentHistory
from tests.mirror.conftest import on_each_engine
from tests.mirror.counted import check_pages, of_world
from tests.mirror.world import FINAL, START, Copy, World, edges, expected, rows

MOVING = 130  # minutes
QUIET = 80  # of them, at the end: no change that only the hourly list or the next age of a window shows
OUTAGE = range(20, 30)
CALLS = 20  # a second


class Killed(BaseException):
    """The process ends between two statements."""


@contextlib.contextmanager
def killed_after(statements: int) -> Iterator[None]:
    left = iter(range(statements))

    def count(execute: Callable[..., Any], *args: Any) -> Any:
        if next(left, None) is None:
            raise Killed
        return execute(*args)

    with contextlib.suppress(Killed), connection.execute_wrapper(count):
        yield


@on_each_engine
def test_rows_and_figures_equal_those_of_a_moving_world(copy: None) -> None:
    world, draw = World(page=10, vanishing=0.0005), Random(1)
    world.now = START // DAY * DAY - HOUR  # until a day has passed
    mirror = Copy(world, days=1, calls=CALLS, at_once=3)
    mirror.settle(MINUTE)
    for minute in range(MOVING):
        world.move(draw, is_silent=minute < MOVING - QUIET)
        world.always = "refused" if minute in OUTAGE else ""
        if minute % 4 == 0:
            with killed_after(minute // 2):
                mirror.count(is_final=True)
                mirror.step()
            Lease.objects.update(until=0)  # it has run out
            mirror.restart()
        mirror.settle(MINUTE, step=MINUTE)
    world.faults = []
    mirror.settle(10 * MINUTE, step=MINUTE)
    copied, wanted, now = rows(), expected(world), int(world.now)
    assert {each: seen for each, seen in copied.items() if each not in world.vanished} == wanted
    assert len(wanted) > 200
    assert world.vanished
    assert all(earlier[1] == later[0] for earlier, later in pairwise(edges()))
    times = sorted({*world.called})  # a call that fails is tried again at once
    assert all(later - earlier >= 0.99 for earlier, later in zip(times, times[CALLS:], strict=False))
    documents = [made.entry(*seen) for made in world.transfers if (seen := made.seen(now))]
    read = [IntentHistory.model_validate(decode.read(json.dumps(each))) for each in documents]
    entries = {each.intent_id: entry.read(each, now=datetime.fromtimestamp(now, UTC)) for each in read}
    stored = Transfer.objects.filter(unlisted_since=None).values_list("intent_id", "fingerprint")
    columns = {f"0x{bytes(intent_id).hex()}": bytes(fingerprint) for intent_id, fingerprint in stored}
    assert columns.items() >= {each: found.fingerprint for each, found in entries.items()}.items()
    unfinished = Transfer.objects.filter(status__in=FINAL, ended=None)
    assert {f"0x{bytes(each.intent_id).hex()}" for each in unfinished} <= {
        each.intent_id for each in world.transfers if not each.is_finished
    } | world.vanished
    late = {each.text_id for each in queries.late(now=datetime.fromtimestamp(now, UTC)).transfers}
    assert late.isdisjoint(world.vanished)
    known = coverage.current(now=datetime.fromtimestamp(now, UTC))
    assert (known.holes, known.audited > 0) == ([], True)
    mirror.count(is_final=True)
    gone = Transfer.objects.filter(intent_id__in=[bytes.fromhex(each[2:]) for each in world.vanished])
    with transaction.atomic():
        ends = gone.exclude(end=None).values_list("end", flat=True)
        mirror.writer.changed_days |= {end // 1000 // DAY * DAY for end in ends}
        gone.delete()
        mirror.count(is_final=True)
        check_pages([*of_world(world)], now=now)
        transaction.set_rollback(True)
