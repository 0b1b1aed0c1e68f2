"""The past of the demo: a month of the emulator's transfers, written to the mirror as if it had read them.

The mirror reads two milliseconds for each transfer. Here, the first transfer of a kind is read, and the columns of the
others follow from it.
"""

import multiprocessing
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import cache
from itertools import batched
from typing import Any, Final

from intents_ui.emulator.app import Emulator
from intents_ui.emulator.catalog import Token
from intents_ui.emulator.intents import Entry as Listed
from intents_ui.emulator.population import Reach
from intents_ui.emulator.scenario_engine import LEGS
from intents_ui.mirror import writer
from intents_ui.mirror.entry import (
    LONGEST_MEMO,
    Entry,
    RouteKey,
    TokenKey,
    ends,
    fingerprint_of,
    milliseconds,
    read,
    size_of,
)
from intents_ui.mirror.figures.snapshots import SnapshotWriter
from intents_ui.mirror.incidents.keeper import Keeper
from intents_ui.mirror.loop import Mirror
from intents_ui.mirror.models import Incident, Transfer, Window
from intents_ui.mirror.reader import Reading, Task
from intents_ui.mirror.windows import HOUR, MINUTE
from intents_ui.service.models import IntentHistory
from intents_ui.service.outcome import Outcome

READ: Final = 2 * HOUR  # of the past that is read as usual
JUDGED_EVERY: Final = 10 * MINUTE  # in and after an outage of the past
LEARNED_DAYS: Final = 2  # before an outage, which takes less than two weeks
WINDOWS_AT_ONCE: Final = 7
MAKER_SECONDS: Final = 60  # for the transfers of a task, which take a twentieth of one. Then their process has died.
MILLISECOND, SECOND = 1_000, 1_000_000  # in microseconds


def generate(emulator: Emulator, mirror: Mirror) -> None:
    """Write the transfers, figures and incidents of the emulator's past, in place of those of an earlier demo."""
    now = mirror.seconds()
    with mirror.writer.transaction():  # of many small ones, which are slower
        if Transfer.objects.exists():
            writer.empty()
            mirror.begin(mirror.writer.epoch)
        write_transfers(emulator, mirror)
        SnapshotWriter(mirror.writer, mirror.slow).write(now=now)
    with mirror.writer.transaction():  # until it is over, an incident of the past looks like one of the present
        for outage in sorted(emulator.world.outages, key=lambda each: each.start):
            judge(mirror, outage.start // SECOND, outage.end // SECOND)
    mirror.incidents = Keeper(mirror.writer)


def write_transfers(emulator: Emulator, mirror: Mirror) -> None:
    """Write the transfers in order of time."""
    now, at = mirror.seconds(), milliseconds(mirror.now())
    windows = list(Window.objects.order_by("start"))
    recent = tuple(each for each in windows if each.end > now - READ)
    tasks = [Task.of(*group) for group in batched(windows[: -len(recent)], WINDOWS_AT_ONCE)]
    for task, entries in zip(tasks, made_beside(Past(emulator), tasks), strict=True):
        mirror.writer.commit(Reading(task=task, at=at, entries=entries), now=now)
        mirror.renew()
        if mirror.stop.is_set():
            return
    mirror.writer.commit(mirror.reader.read(Task.of(*recent)), now=now)


def made_beside(past: "Past", tasks: Sequence[Task]) -> Iterator[tuple[Entry, ...]]:
    """Yield the transfers of each task. Another process makes them, while this one writes."""
    forking = multiprocessing.get_context("fork")  # which copies what is known so far, unlike a new process
    made = forking.Queue()  # which takes them while this process is busy, unlike a pipe

    def make() -> None:
        for task in tasks:
            made.put(tuple(past.entries(task.start, task.end or 0)))

    maker = forking.Process(target=make, daemon=True)
    maker.start()
    try:
        for _ in tasks:
            yield made.get(timeout=MAKER_SECONDS)
    finally:
        maker.kill()
        maker.join()


def judge(mirror: Mirror, start: int, end: int) -> None:
    """Judge the time of an outage as if it were the present, until its incidents are over."""
    now, at, keeper = mirror.seconds(), start, Keeper(mirror.writer, days=LEARNED_DAYS)
    while at <= now and (at <= end or Incident.objects.filter(closed=None).exists()):
        if keeper.keep(now=at):  # else there are hours to learn from
            at += JUDGED_EVERY
        mirror.renew()
        if mirror.stop.is_set():
            return


class Past:
    """The emulator's transfers of the past, as the mirror would read them."""

    def __init__(self, emulator: Emulator) -> None:
        self._emulator = emulator
        self._models: dict[tuple[Any, ...], tuple[Entry, Outcome]] = {}

    def entries(self, start: int, end: int) -> Iterator[Entry]:
        """Yield the transfers that were quoted from one Unix time until before another, more than two hours ago."""
        reach = Reach(start * SECOND, latest=end * SECOND - 1)
        for listed in self._emulator.ledger.entries(
            round(self._emulator.now() * SECOND), descending=False, reach=reach
        ):
            transfer, scene = listed.transfer, listed.scene
            if scene.status == "QUOTED":
                continue
            pays_other = transfer.recipient != transfer.owner
            scenario = transfer.scenario and transfer.scenario.number
            kind = scenario, transfer.variant, scene.at, transfer.same_chain, pays_other
            yield self._like(*self._models[kind], listed) if kind in self._models else self._read(kind, listed)

    def _read(self, kind: tuple[Any, ...], listed: Listed) -> Entry:
        """Return the columns of a transfer, from which those of others of its kind follow.

        They don't if its reasons or its summary have more that differs.
        """
        transfer, scene = listed.transfer, listed.scene
        found = IntentHistory.model_validate(listed.history_row())
        entry = read(found, now=datetime.fromtimestamp(self._emulator.now(), UTC))
        is_peculiar = any(name.startswith("summary.") for name in scene.marks) or any(
            "{" in (leg.marks.get("statusReason") or "") for leg in scene.legs if leg
        )
        if not is_peculiar:
            quoted = read(found, now=datetime.fromtimestamp(transfer.born / SECOND, UTC))  # before it could expire
            del quoted.fingerprint
            self._models[kind] = quoted, entry.outcome
        return entry

    def _like(self, known: Entry, outcome: Outcome, listed: Listed) -> Entry:
        """Return the columns of a transfer that differs from the known one in names, times, places and amounts only."""
        transfer, scene = listed.transfer, listed.scene
        sent = transfer.from_amount or listed.terms.from_amount
        entry, hashes = Entry(**vars(known)), listed.hashes()
        for name in LEGS:
            setattr(entry, f"{name}_hash", ends(hashes.get(name)))
        vars(entry).update(
            intent_id=bytes.fromhex(transfer.intent_id[2:]),
            created=transfer.born // MILLISECOND,
            updated=transfer.moment(scene.updated) // MILLISECOND,
            started=None if scene.started is None else transfer.moment(scene.started) // MILLISECOND,
            ended=None if scene.finished is None else transfer.moment(scene.finished) // MILLISECOND,
            expires=transfer.expires // MILLISECOND,
            route=RouteKey(
                ";".join(transfer.deal.providers),
                str(transfer.origin.chain_id),
                str(transfer.destination.chain_id),
            ),
            origin_token=token(transfer.origin),
            destination_token=token(transfer.destination) if known.destination_token else None,
            sent=str(sent),
            owner=address(transfer.owner),
            recipient=address(transfer.recipient) if known.recipient else None,
            size=size_of(sent, transfer.origin.decimals),
            deposit_address=ends(transfer.origin_address),
            delivery_address=None if transfer.same_chain else ends(transfer.destination_address),
            memo=transfer.deal.memo and transfer.deal.memo[:LONGEST_MEMO],
        )
        entry.fingerprint = fingerprint_of(entry)
        entry.outcome = outcome
        return entry


@cache
def address(text: str) -> bytes:
    return bytes.fromhex(text[2:])


def token(found: Token) -> TokenKey:
    return TokenKey(str(found.chain_id), found.address, found.symbol)
