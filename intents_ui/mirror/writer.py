"""Writes to the mirror. Each transaction is fenced by the lease. Writing the same reading again changes nothing."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from hashlib import blake2b
from itertools import batched
from typing import Any

from cachetools import LRUCache
from django.db import connection, transaction
from django.db.models import Min, Model, Q

from intents_ui.mirror import lease, models, partitions, windows
from intents_ui.mirror.entry import ADDRESS, Entry, RouteKey, TokenKey, duration_of, packed
from intents_ui.mirror.figures import statistics
from intents_ui.mirror.models import ADDRESSES, Transfer, Window, set_state, state, write
from intents_ui.mirror.reader import KNOWN, TOO_LONG, Reading
from intents_ui.mirror.windows import DAY, HOUR, MINUTE
from intents_ui.service.outcome import RULES, Outcome

BATCH = 500  # rows of a transaction
MAX_KNOWN = 20_000  # IDs of dictionaries in memory
CONFIRMED_AFTER = 20  # seconds between two reads that have the same earlier time of change
NEAR = MINUTE  # between transfers that are read by one call
KEPT_DAYS, AUDITED_DAYS = 90, 7

STORED = (
    "intent_id", "fingerprint", "outcome", "unlisted_since", "updated", "read_at", "end", "is_repaired",
)  # fmt: skip
UNIQUE: Mapping[type[Model], Sequence[str]] = {  # columns of dictionaries
    models.Route: RouteKey._fields,
    models.Token: TokenKey._fields,
    models.Reason: ("text",),
}
NUMBERS = re.compile(r"0x[0-9a-f]+|[0-9]+(?:[.,][0-9]+)*", re.IGNORECASE)


class OtherSource(Exception):
    """The database is a copy of another service, or was read with another access key."""


class Writer:
    """Writes readings under one epoch of the lease. `now` is always in Unix seconds by the service's clock."""

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch
        self.changed_days = set[int]()  # their starts, since figures were last counted
        self._alone: dict[bytes, tuple[int, int]] = {}  # to read without their windows: time of creation, when
        self._resting: dict[bytes, int] = {}  # read like that, and not again until then
        # IDs of routes, tokens and reasons.
        self._known = defaultdict[type[Model], LRUCache[tuple[str, ...], int]](lambda: LRUCache(MAX_KNOWN))
        # Readings with earlier changes: fingerprint and time.
        self._earlier: LRUCache[bytes, tuple[bytes, int]] = LRUCache(MAX_KNOWN)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run a transaction that another process's takeover refuses."""
        try:
            with lease.transaction(self.epoch):
                yield
        except BaseException:
            self._known.clear()  # their rows may have been rolled back
            raise

    def begin(self, source: str, *, start: int, now: int) -> None:
        """Prepare the ledger from `start` on. Raises OtherSource if the database is of another source."""
        with self.transaction():
            known, rules = state(models.SOURCE, (source, RULES))
            if known != source:
                raise OtherSource
            if rules != RULES:
                Window.objects.update(due=now)
            set_state(models.SOURCE, (source, RULES))
        self.extend(start, now=now)

    def extend(self, start: int | None = None, *, now: int) -> None:
        """Add the windows that the ledger lacks, from `start` or its own start on. The last one contains now."""
        self._resting = {each: until for each, until in self._resting.items() if until > now}
        present = (now // windows.WIDTH + 1) * windows.WIDTH
        edges = [*Window.objects.order_by("start").values_list("start", "end"), (present, present)]
        known_until = edges[0][0] if start is None else start
        with self.transaction():
            partitions.add_months(known_until, now + windows.MONTH)
            for first, end in edges:
                save(tile(known_until, first, now=now))
                known_until = max(known_until, end)

    def commit(self, reading: Reading, *, now: int) -> int:
        """Write a reading. Return the number of rows that changed, or of those that an audit found to differ."""
        changed, differing, rest, task = 0, 0, reading.entries, reading.task
        if task.is_audit and task.end is not None:
            rest = [each for each in rest if task.start * 1000 <= each.created < task.end * 1000]
            differing = 0 if reading.why else _differing(task.start, task.end, rest)
        for some in batched(rest, BATCH):
            with self.transaction():
                changed += self._store(some, reading.at)
        with self.transaction():
            if unknown := {each.status for each in reading.entries} - KNOWN:
                set_state(models.STATUSES, state(models.STATUSES, {}) | dict.fromkeys(unknown, reading.at))
            calls, hour = state(models.CALLS, {}), now // HOUR
            counted = {str(each): calls.get(str(each), 0) for each in (hour - 1, hour)}
            set_state(models.CALLS, counted | {str(hour): counted[str(hour)] + reading.calls})
            if task.end is None:
                self._note_departed(reading, now)
            else:
                self._note_unlisted(task.start, task.end, reading)
                self._note_windows(task.start, task.end, reading, now)
            if task.is_audit and not reading.why:
                kept = [each for each in state(models.AUDITS, []) if each[0] >= now - AUDITED_DAYS * DAY]
                set_state(models.AUDITS, [*kept, (now, differing)])
        return max(changed, differing)

    def merge(self) -> None:
        """Merge sealed neighbors of a day that are read again at the same time, so that a ledger has few windows."""
        sealed = Window.objects.filter(is_sealed=True).order_by("-start").iterator()
        found = runs(sealed, by=lambda each: (each.due, each.start // DAY))
        if merged := [run for run in found if len(run) > 1]:
            with self.transaction():
                for first, *others in merged:
                    Window.objects.filter(start__in=[each.start for each in others]).delete()
                    first.end = others[-1].end
                    first.rows += sum(each.rows for each in others)
                    first.read_at = min(each.read_at or 0 for each in (first, *others))
                save(run[0] for run in merged)

    def expire(self, *, now: int, days: int = KEPT_DAYS) -> None:
        until = now - days * DAY
        with self.transaction():
            Window.objects.filter(end__lte=until).delete()
            kept_from = Window.objects.aggregate(first=Min("start"))["first"] or until
            if connection.vendor == "postgresql":
                partitions.expire(kept_from)
            else:
                Transfer.objects.filter(created__lt=kept_from * 1000).delete()

    # Rows

    def _store(self, entries: Sequence[Entry], read_at: int) -> int:
        stored = Transfer.objects.filter(intent_id__in=[each.intent_id for each in entries])
        found = {bytes(each.intent_id): each for each in stored.values_list(*STORED, named=True)}
        changed = [each for each in entries if self._is_changed(each, found.get(each.intent_id), read_at)]
        if not changed:
            return 0
        replaced = [found[each.intent_id] for each in changed if each.intent_id in found]
        # With so many indexes, SQLite takes twice as long to replace a row.
        Transfer.objects.filter(intent_id__in=[each.intent_id for each in replaced]).delete()
        self._learn(models.Route, {each.route: {} for each in changed})
        tokens = (token for each in changed for token in (each.origin_token, each.destination_token) if token)
        self._learn(models.Token, {token: {} for token in tokens})
        self._learn(models.Reason, {_plain(each.reason): {"example": each.reason} for each in changed if each.reason})
        forgotten = frozenset(state(models.FORGOTTEN, []))
        rows = [self._row(each, found.get(each.intent_id), read_at, forgotten) for each in changed]
        write(Transfer, rows)
        ends = {*(row["end"] for row in rows), *(each.end for each in replaced)} - {None}
        transaction.on_commit(partial(self.changed_days.update, [end // 1000 // DAY * DAY for end in ends]))
        return len(rows)

    def _row(self, each: Entry, before: Any | None, read_at: int, forgotten: frozenset[str]) -> dict[str, Any]:
        """Return the columns of a row, in place of one `before`."""
        origin, destination = each.origin_token, each.destination_token
        is_delivered, has_ended = each.outcome is Outcome.DELIVERED, each.outcome in models.ENDED
        duration = duration_of(each.started, each.ended) if is_delivered else None
        had_ended = before is not None and (
            before.is_repaired or (before.outcome in models.FAILED and bytes(before.fingerprint) != each.fingerprint)
        )
        row: dict[str, Any] = vars(each) | {
            "outcome": each.outcome.value,
            "route_id": self._known[models.Route][each.route],
            "origin_token_id": self._known[models.Token][origin] if origin else None,
            "destination_token_id": self._known[models.Token][destination] if destination else None,
            "reason_id": self._known[models.Reason][_plain(each.reason)] if each.reason else None,
            "read_at": read_at,
            "end": max(min(each.ended or each.updated, read_at), each.created) if has_ended else None,
            "bucket": None if duration is None else statistics.bucket(duration),
            "is_repaired": is_delivered and had_ended,
            "unlisted_since": None,
        }
        named = [name for name in ADDRESSES if forgotten and row[name] and _digest(row[name]) in forgotten]
        return row | dict.fromkeys((*named, "memo")) if named else row

    def _learn(self, model: type[Model], rows: Mapping[tuple[str, ...], Mapping[str, str]]) -> None:
        """Learn the IDs of rows of a dictionary, and add those that are missing, with their other columns."""
        known, names = self._known[model], UNIQUE[model]
        if unknown := [key for key in rows if key not in known]:
            named = [dict(zip(names, key, strict=True)) for key in unknown]
            added = [model(**each, **rows[key]) for key, each in zip(unknown, named, strict=True)]
            model._default_manager.bulk_create(added, ignore_conflicts=True)
            found = model._default_manager.filter(**{f"{name}__in": {each[name] for each in named} for name in names})
            known.update({tuple(key): pk for pk, *key in found.values_list("pk", *names)})

    def _is_changed(self, each: Entry, known: Any | None, read_at: int) -> bool:
        """Return whether an entry replaces what is known of it. Most are read again without a change.

        The later time of change wins, then the later request. An earlier time of change may be that of a replica that
        is behind, so it must be read twice.
        """
        if known is None:
            return True
        if (bytes(known.fingerprint), known.outcome, known.unlisted_since) == (each.fingerprint, each.outcome, None):
            self._earlier.pop(each.intent_id, None)
            return False
        if each.updated > known.updated > 0:
            return True
        if read_at < known.read_at:
            return False
        if not each.updated or each.updated >= known.updated:
            return True
        fingerprint, first_at = self._earlier.get(each.intent_id, (b"", 0))
        if fingerprint == each.fingerprint and read_at >= first_at + CONFIRMED_AFTER * 1000:
            del self._earlier[each.intent_id]
            return True
        if fingerprint != each.fingerprint:
            self._earlier[each.intent_id] = each.fingerprint, read_at
            self._alone[each.intent_id] = each.created // 1000, read_at // 1000 + CONFIRMED_AFTER
        return False

    # The ledger

    def _note_windows(self, start: int, end: int, reading: Reading, now: int) -> None:
        known = Window.objects.filter(start__gte=start, end__lte=end)
        inside = list(known.filter(Q(read_at=None) | Q(read_at__lt=reading.at // 1000)))  # not read meanwhile
        changed, created = [], sorted(each.created for each in reading.entries)
        for window in inside:
            middle = (window.start + window.end) // 2
            if reading.is_unanswered:  # which says nothing about the window
                window.due = now + windows.RETRY
            elif reading.why == TOO_LONG and len(inside) == 1 and middle > window.start:
                changed.append(Window(start=middle, end=window.end, due=now))
                window = Window(start=window.start, end=middle, due=now)
            elif reading.why:
                window.set_failed(reading.why, at=now)
            else:
                first, last = (bisect_left(created, at * 1000) for at in (window.start, window.end))
                window.set_read(rows=last - first, at=reading.at // 1000)
            changed.append(window)
        save(changed)

    def _note_unlisted(self, start: int, end: int, reading: Reading) -> None:
        """Note open transfers of the copy that a complete read doesn't list. That they are listed again undoes it."""
        if reading.why:
            return
        listed = {each.intent_id for each in reading.entries}
        still_open = Transfer.objects.filter(
            outcome=Outcome.OPEN,
            unlisted_since=None,
            created__gte=start * 1000,
            created__lt=end * 1000,
            read_at__lt=reading.at,
        )
        known = still_open.values_list("intent_id", flat=True)
        if missing := [each for each in known if bytes(each) not in listed]:
            Transfer.objects.filter(intent_id__in=missing).update(unlisted_since=reading.at)

    def _note_departed(self, reading: Reading, now: int) -> None:
        """Let transfers be read that may change and are no longer in this list of such ones.

        One that then is as before is read again rarely.
        """
        since = reading.task.start * 1000
        if reading.why == TOO_LONG and reading.entries:
            since = min(each.created for each in reading.entries) + 1
        elif reading.why:
            return
        listed = {each.intent_id for each in reading.entries}
        rows = Transfer.objects.filter(status__in=reading.task.statuses, created__lt=reading.at)
        still_open = rows.filter(outcome=Outcome.OPEN, unlisted_since=None, created__gte=since)
        expired = rows.filter(outcome=Outcome.NO_DEPOSIT, created__gte=max(since, reading.at - HOUR * 1000))
        failed = rows.filter(models.WITHOUT_DURATION, created__gte=since)
        known = still_open.union(expired, failed, all=True).values_list("intent_id", "created")
        for each, created in ((bytes(intent_id), created // 1000) for intent_id, created in known):
            if each not in listed and each not in self._alone and each not in self._resting:
                self._alone[each] = created, now

    def take_alone(self, *, now: int) -> list[int]:
        """Return when transfers were created, the oldest first, that one call is to read without their windows now."""
        waiting = {each: created for each, (created, due) in self._alone.items() if due <= now}
        first = min(waiting.values(), default=0)
        near = {each: created for each, created in waiting.items() if created < first + NEAR}
        for each, created in near.items():
            del self._alone[each]
            self._resting[each] = now + (now - created) // 10
        return sorted(near.values())


def save(changed: Iterable[Window]) -> None:
    names = [each.name for each in Window._meta.fields]
    write(Window, [{name: getattr(each, name) for name in names} for each in changed], key=["start"])


def tile(start: int, end: int, *, now: int) -> Iterator[Window]:
    """Yield windows that tile a time: minutes of the last hour, due at their first age, and hours before it."""
    last_hour = (now // windows.WIDTH + 1) * windows.WIDTH - HOUR
    while start < end:
        if start < last_hour:
            width, due, limit = windows.BACKFILL_WIDTH, now, min(end, last_hour)
        else:
            width, due, limit = windows.WIDTH, start + windows.WIDTH // 3, end
        stop = min(limit, (start // width + 1) * width)
        yield Window(start=start, end=stop, due=due)
        start = stop


def runs(ledger: Iterable[Window], *, by: Callable[[Window], object]) -> Iterator[tuple[Window, ...]]:
    """Yield neighbors that can be read as one list, because it isn't too long, in order. `by` is equal for them.

    The windows are from the newest on. No more of them are taken than needed.
    """
    run: list[Window] = []
    for window in ledger:
        if run:
            are_known = all(each.read_at is not None and not each.failures for each in (window, run[-1]))
            are_alike = window.end == run[-1].start and by(window) == by(run[-1])
            if not are_known or not are_alike or sum(each.rows for each in (window, *run)) > windows.MAX_ROWS:
                yield tuple(reversed(run))
                run = []
        run.append(window)
    if run:
        yield tuple(reversed(run))


def _differing(start: int, end: int, entries: Sequence[Entry]) -> int:
    """Return the number of transfers of a time that the copy lacks, has otherwise, or has although none is listed."""
    known = Transfer.objects.filter(created__gte=start * 1000, created__lt=end * 1000, unlisted_since=None)
    stored = {(bytes(intent_id), bytes(seen)) for intent_id, seen in known.values_list("intent_id", "fingerprint")}
    return len({intent_id for intent_id, _ in stored ^ {(each.intent_id, each.fingerprint) for each in entries}})


def forget(address: str) -> int:
    """Remove an address from the copy, now and in later reads. Return the number of transfers that had it."""
    found = packed(address, ADDRESS) or b""
    with transaction.atomic():
        lease.hold()
        set_state(models.FORGOTTEN, sorted({*state(models.FORGOTTEN, []), _digest(found)}))
        concerned = Transfer.objects.filter(Q(owner=found) | Q(recipient=found) | Q(refund=found)).update(memo=None)
        for column in ADDRESSES:
            Transfer.objects.filter(**{column: found}).update(**{column: None})
    return concerned


def empty() -> None:
    """Delete the copy and its ledger. Addresses that were forgotten stay forgotten."""
    with transaction.atomic():
        lease.hold()
        for model in (models.Snapshot, models.Incident, Transfer, models.Route, models.Token, models.Reason, Window):
            model.objects.all().delete()
        models.State.objects.exclude(name=models.FORGOTTEN).delete()


def _plain(reason: str) -> tuple[str, ...]:
    """Return a reason without its amounts and addresses, so that equal reasons match."""
    return (NUMBERS.sub("#", reason).casefold(),)


def _digest(address: bytes) -> str:
    return blake2b(address, digest_size=16).hexdigest()
