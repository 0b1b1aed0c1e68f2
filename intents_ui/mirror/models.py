"""Tables of the mirror. Times are Unix milliseconds, or seconds where a name says so.

IDs and addresses are bytes (`entry.packed`), because the copy has millions of rows. Amounts are decimal text.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, ClassVar

from django.db import connection, models
from django.db.models import F, Q

from intents_ui.mirror import windows
from intents_ui.mirror.entry import HASH, RouteKey, TokenKey, duration_of, moment, optional_moment, unpacked
from intents_ui.mirror.windows import Condition
from intents_ui.service.outcome import Outcome, execute_by

DAY_MILLISECONDS = windows.DAY * 1000
USUAL = timedelta(minutes=15)  # as for any open transfer without an estimate
SOURCE, CALLS, FORGOTTEN, STATUSES, AUDITS = "source", "calls", "forgotten", "statuses", "audits"  # of `State`

# Of transfers that had a deposit. All others are open, or not counted.
ENDED = (Outcome.DELIVERED, Outcome.REFUNDED, Outcome.FAILED, Outcome.ABORTED, Outcome.REJECTED, Outcome.UNCONFIRMED)
# Not delivered, as far as is known.
FAILED = tuple(each for each in ENDED if each not in (Outcome.DELIVERED, Outcome.UNCONFIRMED))
WITHOUT_DURATION = Q(end__isnull=False, bucket=None)  # those that weren't delivered, and few others
SLOW_BUCKET = 116  # of durations from two minutes on, among which lists look for the slowest
ADDRESSES = ("owner", "recipient", "refund")
# What a transfer is found by on each day.
FOUND_BY = (
    "owner", "deposit_hash", "origin_hash", "destination_hash", "refund_hash", "deposit_address", "delivery_address",
)  # fmt: skip
# All that is counted of open transfers.
OPEN_GROUPS = ["route", "origin_token", "destination_token", "status", "updated", "expires", "started", "created"]


class Route(models.Model):
    """A route: its providers and chains.

    `late_after`: after how many milliseconds a transfer is late. `late_by`: what decides that (`snapshots.Basis`).
    """

    providers = models.TextField()
    origin_chain = models.TextField()
    destination_chain = models.TextField()
    late_after = models.BigIntegerField(default=USUAL // timedelta(milliseconds=1))
    late_by = models.TextField(default="rule")

    class Meta:
        unique_together: ClassVar = [RouteKey._fields]

    @property
    def key(self) -> RouteKey:
        return RouteKey(self.providers, self.origin_chain, self.destination_chain)

    @property
    def limit(self) -> timedelta:
        return timedelta(milliseconds=self.late_after)


class Token(models.Model):
    chain = models.TextField()
    address = models.TextField()
    symbol = models.TextField()

    class Meta:
        unique_together: ClassVar = [TokenKey._fields]

    @property
    def key(self) -> TokenKey:
        return TokenKey(self.chain, self.address, self.symbol)


class Reason(models.Model):
    """Why steps failed: a reason without its numbers and addresses, with one example."""

    text = models.TextField(unique=True)
    example = models.TextField()


class Transfer(models.Model):
    """A transfer as last read. `read_at` is the time of the request.

    `failed_step` is the position of the first failed step, from 0 for the deposit. `end` is when it ended, or changed
    last if that is unknown. It is null while the transfer is open, and without a deposit. `bucket` is that of a
    delivered transfer's duration. `is_repaired`: it had ended otherwise before it was delivered. `unlisted_since`: no
    complete read has listed the open transfer since then. `recipient` and `refund` are addresses that got something,
    other than the owner's. `created_day` counts days from 1970 on. `size` and the ends of transaction hashes and intent
    addresses are as in `entry.Entry`.

    PostgreSQL keeps each month of `created` apart (`partitions.py`), so the key has it. Indexes have all that is
    counted, but not the key, so count "*".
    """

    pk = models.CompositePrimaryKey("intent_id", "created")
    intent_id = models.BinaryField()
    created = models.BigIntegerField()
    updated = models.BigIntegerField()
    started = models.BigIntegerField(null=True)
    ended = models.BigIntegerField(null=True)
    expires = models.BigIntegerField(null=True)
    status = models.TextField()
    outcome = models.TextField()
    route = models.ForeignKey(Route, models.PROTECT, db_index=False)
    origin_token = models.ForeignKey(Token, models.PROTECT, null=True, db_index=False, related_name="+")
    destination_token = models.ForeignKey(Token, models.PROTECT, null=True, db_index=False, related_name="+")
    sent = models.TextField(null=True)
    owner = models.BinaryField(null=True)
    recipient = models.BinaryField(null=True)
    refund = models.BinaryField(null=True)
    failed_step = models.SmallIntegerField(null=True)
    reason = models.ForeignKey(Reason, models.PROTECT, null=True, db_index=False)
    read_at = models.BigIntegerField()
    fingerprint = models.BinaryField()
    end = models.BigIntegerField(null=True)
    bucket = models.SmallIntegerField(null=True)
    is_repaired = models.BooleanField(default=False)
    unlisted_since = models.BigIntegerField(null=True)
    created_day = models.GeneratedField(
        expression=F("created") / DAY_MILLISECONDS, output_field=models.IntegerField(), db_persist=True
    )
    size = models.IntegerField(null=True)
    deposit_hash = models.BinaryField(null=True)
    origin_hash = models.BinaryField(null=True)
    destination_hash = models.BinaryField(null=True)
    refund_hash = models.BinaryField(null=True)
    deposit_address = models.BinaryField(null=True)
    delivery_address = models.BinaryField(null=True)
    memo = models.TextField(null=True)

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["created"], name="transfer_created"),
            models.Index(fields=["end"], name="transfer_ended"),
            models.Index(
                fields=["route", "end", "outcome", "failed_step", "started", "created"], name="transfer_route_ended"
            ),
            models.Index(fields=["route", "bucket", "end"], condition=Q(bucket__gte=SLOW_BUCKET), name="transfer_slow"),
            models.Index(fields=["end"], condition=Q(is_repaired=True), name="transfer_repaired"),
            # Of transfers that were not delivered. They may be refunded or repaired later.
            models.Index(fields=["created", "status"], condition=WITHOUT_DURATION, name="transfer_failed"),
            models.Index(
                fields=["outcome", "end", "route", "reason"], condition=WITHOUT_DURATION, name="transfer_undelivered"
            ),
            models.Index(fields=["recipient", "-created"], condition=Q(recipient__isnull=False), name="transfer_paid"),
            models.Index(fields=["refund", "-created"], condition=Q(refund__isnull=False), name="transfer_refunded"),
            models.Index(
                fields=OPEN_GROUPS, condition=Q(outcome="open", unlisted_since=None), name="transfer_open_groups"
            ),
            # By day first: what is written together is near to each other, so that a write changes few pages.
            models.Index(
                fields=["created_day", "size", "origin_token", "destination_token", "route"], name="transfer_size"
            ),
            *(
                models.Index(fields=["created_day", each], condition=Q(**{f"{each}__isnull": False}), name=f"by_{each}")
                for each in FOUND_BY
            ),
        ]

    @property
    def text_id(self) -> str:
        return unpacked(bytes(self.intent_id), HASH)

    @property
    def has_url(self) -> bool:
        return len(self.intent_id) == HASH  # and not any text

    @property
    def created_at(self) -> datetime:
        return moment(self.created)

    @property
    def began_at(self) -> datetime:
        return moment(self.created if self.started is None else self.started)

    @property
    def ended_at(self) -> datetime | None:
        return optional_moment(self.end)

    @property
    def duration(self) -> timedelta | None:
        """The time from the start of the execution to the end, or None if one is unknown."""
        took = duration_of(self.started, self.ended)
        return None if took is None else timedelta(milliseconds=took)

    @property
    def execute_by(self) -> datetime | None:
        """When the transfer expires, unless it has been executed."""
        times = {"expires_at": optional_moment(self.expires), "updated_at": optional_moment(self.updated)}
        return None if self.started else execute_by(self.status, **times)


class Window(models.Model):
    """A window of the ledger: transfers created from `start` until before `end`. Times are Unix seconds.

    `due`: when it is read again. `rows` are those of the last complete read, at `read_at`. `failures` counts the failed
    reads since then, `reason` is that of the last.
    """

    start = models.BigIntegerField(primary_key=True)
    end = models.BigIntegerField()
    due = models.BigIntegerField(db_index=True)
    read_at = models.BigIntegerField(null=True)
    rows = models.IntegerField(default=0)
    is_sealed = models.BooleanField(default=False)
    failures = models.IntegerField(default=0)
    reason = models.TextField(default="")

    class Meta:
        indexes: ClassVar = [models.Index(fields=["start"], condition=Q(is_sealed=False), name="window_unsealed")]

    @property
    def is_sample(self) -> bool:
        """Whether it is of the 1% that are read without a filter of statuses."""
        return self.start // windows.MINUTE % 97 == 42

    @property
    def condition(self) -> Condition:
        if self.is_sealed:
            return Condition.SEALED
        if self.failures:
            return Condition.HOLE
        return Condition.DUE if self.read_at is None else Condition.OPEN

    def set_read(self, *, rows: int, at: int) -> None:
        """Note a complete read at this time. It seals the window if nothing can be created in it any more."""
        self.read_at, self.rows, self.failures, self.reason = at, rows, 0, ""
        self.is_sealed = at >= self.end + windows.SEALED_FROM
        ages = ((self.end + age, max(1, age // 6)) for age in windows.AGES)
        due = (-(-age // step) * step for age, step in ages)  # rounded up, so that neighbors are due together
        self.due = next((each for each in due if each > at), windows.NEVER)

    def set_failed(self, reason: str, *, at: int) -> None:
        """Note a read whose result can't be complete. What is known from the last complete read stays."""
        self.due = at + min(windows.RETRY * 2 ** min(self.failures, 10), windows.LONGEST_RETRY)
        self.failures, self.reason = self.failures + 1, reason


class Lease(models.Model):
    """The one row by which a process is the leader. `until` is in Unix milliseconds, by the clock of its machine.

    `ahead`: by how many milliseconds the service's clock is ahead of that.
    """

    epoch = models.BigIntegerField()
    holder = models.TextField()
    until = models.BigIntegerField()
    ahead = models.BigIntegerField(default=0)


class State(models.Model):
    """Values with a name, as JSON. (To check a JSONField, Django connects to the database before it is created.)

    They are the source's fingerprint with the version of the rules, calls by hour, forgotten addresses, when the
    incidents were judged, when statuses were seen that the dashboard doesn't know (Unix milliseconds), and the audits
    of seven days: when, and how many transfers of a sealed window the copy had wrong.
    """

    name = models.TextField(primary_key=True)
    value = models.TextField()


def state(name: str, default: Any = None) -> Any:
    found = State.objects.filter(name=name).values_list("value", flat=True).first()
    return default if found is None else json.loads(found)


def set_state(name: str, value: Any) -> None:
    """Write a named value, within a transaction."""
    write(State, [{"name": name, "value": json.dumps(value, separators=(",", ":"))}], key=["name"])


class Snapshot(models.Model):
    """What ended in a scope in a period until `at` (Unix seconds), unless nothing did.

    `used`, `worst` and `slowest`: its place in tables of its level in this order, the least first. `sums` are
    `snapshots.Sums` as JSON.
    """

    pk = models.CompositePrimaryKey("period", "scope")
    period = models.TextField()
    scope = models.TextField()
    level = models.TextField()
    used = models.FloatField()
    worst = models.FloatField(null=True)
    slowest = models.FloatField(null=True)
    at = models.BigIntegerField()
    is_complete = models.BooleanField()
    sums = models.TextField()


class Incident(models.Model):
    """An incident, which is JSON (`keeper.py`). `closed` is in Unix seconds."""

    number = models.BigIntegerField(primary_key=True)
    closed = models.BigIntegerField(null=True, db_index=True)
    document = models.TextField()


def write(model: type[models.Model], rows: Sequence[Mapping[str, Any]], *, key: Sequence[str] = ()) -> None:
    """Insert the columns in rows, or replace those that have this key. `bulk_create` takes several times as long."""
    if not rows:
        return
    columns = [str(each.column) for each in model._meta.concrete_fields if each.column in rows[0]]
    names, values = [f'"{each}"' for each in columns], ", ".join(["%s"] * len(columns))
    sql = f"INSERT INTO {model._meta.db_table} ({', '.join(names)}) VALUES ({values})"  # noqa: S608 - names of columns
    if key:
        changes = (f"{each} = excluded.{each}" for each in names)
        sql += f" ON CONFLICT ({', '.join(key)}) DO UPDATE SET {', '.join(changes)}"
    with connection.cursor() as cursor:
        cursor.executemany(sql, [[row[each] for each in columns] for row in rows])
