from typing import Any

from django.db import migrations, models
from django.db.models import (
    PROTECT,
    BigIntegerField,
    CompositePrimaryKey,
    F,
    Index,
    Q,
    SmallIntegerField,
    TextField,
)

from intents_ui.mirror.partitions import partition

PK: dict[str, Any] = {"blank": True, "editable": False, "primary_key": True, "serialize": False}
ID = ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID"))
FOUND_BY = [
    "owner", "deposit_hash", "origin_hash", "destination_hash", "refund_hash", "deposit_address", "delivery_address",
]  # fmt: skip
OPEN_GROUPS = ["route", "origin_token", "destination_token", "status", "updated", "expires", "started", "created"]


def fields(kind: type[Any], *names: str, **options: Any) -> list[tuple[str, Any]]:
    """Return fields of a kind that differ in their names only."""
    return [(name, kind(**options)) for name in names]


def to(table: str, *names: str, **options: Any) -> list[tuple[str, Any]]:
    """Return foreign keys without an index of their own."""
    return fields(models.ForeignKey, *names, to=f"mirror.{table}", db_index=False, **options)


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            "Day", [*fields(BigIntegerField, "start", primary_key=True, serialize=False), *fields(TextField, "facts")]
        ),
        migrations.CreateModel(
            "Incident",
            [
                *fields(BigIntegerField, "number", primary_key=True, serialize=False),
                *fields(BigIntegerField, "closed", null=True, db_index=True),
                *fields(TextField, "document"),
            ],
        ),
        migrations.CreateModel(
            "Lease",
            [
                ID,
                *fields(BigIntegerField, "epoch", "until"),
                *fields(BigIntegerField, "ahead", default=0),
                *fields(TextField, "holder"),
            ],
        ),
        migrations.CreateModel(
            "State", [*fields(TextField, "name", primary_key=True, serialize=False), *fields(TextField, "value")]
        ),
        migrations.CreateModel(
            "Route",
            [
                ID,
                *fields(TextField, "providers", "origin_chain", "destination_chain"),
                *fields(BigIntegerField, "late_after", default=900_000),
                *fields(TextField, "late_by", default="rule"),
            ],
            {"unique_together": {("providers", "origin_chain", "destination_chain")}},
        ),
        migrations.CreateModel(
            "Token",
            [ID, *fields(TextField, "chain", "address", "symbol")],
            {"unique_together": {("chain", "address", "symbol")}},
        ),
        migrations.CreateModel("Reason", [ID, *fields(TextField, "text", unique=True), *fields(TextField, "example")]),
        migrations.CreateModel(
            "Transfer",
            [
                ("pk", CompositePrimaryKey("intent_id", "created", **PK)),
                *fields(BigIntegerField, "created", "updated", "read_at"),
                *fields(BigIntegerField, "started", "ended", "expires", "end", "unlisted_since", null=True),
                *to("route", "route", on_delete=PROTECT),
                *to("token", "origin_token", "destination_token", null=True, on_delete=PROTECT, related_name="+"),
                *to("reason", "reason", null=True, on_delete=PROTECT),
                *fields(SmallIntegerField, "failed_step", "bucket", null=True),
                *fields(models.BooleanField, "is_repaired", default=False),
                *fields(models.BinaryField, "intent_id", "fingerprint"),
                *fields(models.BinaryField, "owner", "recipient", "refund", null=True),
                *fields(TextField, "status", "outcome"),
                *fields(TextField, "sent", "memo", null=True),
                *fields(
                    models.GeneratedField,
                    "created_day",
                    expression=F("created") / 86_400_000,
                    output_field=models.IntegerField(),
                    db_persist=True,
                ),
                *fields(models.IntegerField, "size", null=True),
                *fields(models.BinaryField, *FOUND_BY[1:], null=True),
            ],
        ),
        migrations.CreateModel(
            "Window",
            [
                *fields(BigIntegerField, "start", primary_key=True, serialize=False),
                *fields(BigIntegerField, "end"),
                *fields(BigIntegerField, "due", db_index=True),
                *fields(BigIntegerField, "read_at", null=True),
                *fields(models.IntegerField, "rows", "failures", default=0),
                *fields(models.BooleanField, "is_sealed", default=False),
                *fields(TextField, "reason", default=""),
            ],
            {"indexes": [Index(condition=Q(is_sealed=False), fields=["start"], name="window_unsealed")]},
        ),
        migrations.CreateModel(
            "DayBar",
            [
                ("pk", CompositePrimaryKey("day", "scope", **PK)),
                *fields(BigIntegerField, "day"),
                *fields(TextField, "scope", "hours"),
                *fields(models.IntegerField, "ended", "delivered"),
                *fields(BigIntegerField, "median", "p95", null=True),
            ],
        ),
        migrations.CreateModel(
            "Snapshot",
            [
                ("pk", CompositePrimaryKey("period", "scope", **PK)),
                *fields(TextField, "period", "scope", "level"),
                *fields(models.FloatField, "used"),
                *fields(models.FloatField, "worst", "slowest", null=True),
                *fields(BigIntegerField, "at"),
                *fields(models.BooleanField, "is_complete"),
                *fields(TextField, "sums", "details"),
            ],
        ),
        migrations.RunPython(partition, migrations.RunPython.noop),
        *(
            migrations.AddIndex("transfer", index)
            for index in (
                Index(fields=["created"], name="transfer_created"),
                Index(fields=["end"], name="transfer_ended"),
                Index(
                    fields=["route", "end", "outcome", "failed_step", "started", "created"],
                    name="transfer_route_ended",
                ),
                Index(condition=Q(bucket__gte=116), fields=["route", "bucket", "end"], name="transfer_slow"),
                Index(condition=Q(is_repaired=True), fields=["end"], name="transfer_repaired"),
                Index(condition=Q(recipient__isnull=False), fields=["recipient", "-created"], name="transfer_paid"),
                Index(condition=Q(refund__isnull=False), fields=["refund", "-created"], name="transfer_refunded"),
                Index(
                    condition=Q(end__isnull=False, bucket=None), fields=["created", "status"], name="transfer_failed"
                ),
                Index(
                    condition=Q(end__isnull=False, bucket=None),
                    fields=["outcome", "end", "route", "reason"],
                    name="transfer_undelivered",
                ),
                Index(
                    condition=Q(outcome="open", unlisted_since=None),
                    fields=OPEN_GROUPS,
                    name="transfer_open_groups",
                ),
                Index(
                    fields=["created_day", "size", "origin_token", "destination_token", "route"], name="transfer_size"
                ),
                *(
                    Index(condition=Q(**{f"{each}__isnull": False}), fields=["created_day", each], name=f"by_{each}")
                    for each in FOUND_BY
                ),
            )
        ),
    ]
