from typing import Any

import django.db.models.deletion
from django.db import migrations, models
from django.db.models.functions import Coalesce, Greatest

HOUR = 3_600_000  # milliseconds
UNCOUNTED = ("open", "no_deposit")


def set_hours(apps: Any, schema_editor: Any) -> None:
    """Set the hours in which transfers ended."""
    end = Greatest(Coalesce("ended", "updated"), "created")
    apps.get_model("mirror", "Transfer").objects.exclude(outcome__in=UNCOUNTED).update(hour=end / HOUR * 3600)


class Migration(migrations.Migration):
    dependencies = [("mirror", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="Scope",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("level", models.TextField()),
                ("providers", models.TextField(default="")),
                ("origin_chain", models.TextField(default="")),
                ("destination_chain", models.TextField(default="")),
                (
                    "route",
                    models.OneToOneField(null=True, on_delete=django.db.models.deletion.PROTECT, to="mirror.route"),
                ),
                ("late_after", models.BigIntegerField(null=True)),
                ("is_late_by_provider", models.BooleanField(default=False)),
                ("summed_at", models.BigIntegerField(default=0)),
                ("is_dirty", models.BooleanField(default=True)),
            ],
        ),
        migrations.CreateModel(
            name="Hour",
            fields=[
                (
                    "scope",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="mirror.scope"
                    ),
                ),
                ("delivered", models.IntegerField(default=0)),
                ("refunded", models.IntegerField(default=0)),
                ("failed", models.IntegerField(default=0)),
                ("aborted", models.IntegerField(default=0)),
                ("rejected", models.IntegerField(default=0)),
                ("unconfirmed", models.IntegerField(default=0)),
                ("owners", models.IntegerField(default=0)),
                ("failed_owners", models.IntegerField(default=0)),
                ("durations", models.BinaryField(default=b"")),
                ("details", models.TextField(default="")),
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "scope", "start", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("start", models.BigIntegerField()),
                ("owner_hashes", models.BinaryField(default=b"")),
            ],
        ),
        migrations.CreateModel(
            name="Day",
            fields=[
                (
                    "scope",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="mirror.scope"
                    ),
                ),
                ("delivered", models.IntegerField(default=0)),
                ("refunded", models.IntegerField(default=0)),
                ("failed", models.IntegerField(default=0)),
                ("aborted", models.IntegerField(default=0)),
                ("rejected", models.IntegerField(default=0)),
                ("unconfirmed", models.IntegerField(default=0)),
                ("owners", models.IntegerField(default=0)),
                ("failed_owners", models.IntegerField(default=0)),
                ("durations", models.BinaryField(default=b"")),
                ("details", models.TextField(default="")),
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "scope", "start", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("start", models.BigIntegerField()),
                ("owner_hashes", models.BinaryField(default=b"")),
                ("is_dirty", models.BooleanField(default=True)),
            ],
        ),
        migrations.CreateModel(
            name="Summary",
            fields=[
                (
                    "scope",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="mirror.scope"
                    ),
                ),
                ("delivered", models.IntegerField(default=0)),
                ("refunded", models.IntegerField(default=0)),
                ("failed", models.IntegerField(default=0)),
                ("aborted", models.IntegerField(default=0)),
                ("rejected", models.IntegerField(default=0)),
                ("unconfirmed", models.IntegerField(default=0)),
                ("owners", models.IntegerField(default=0)),
                ("failed_owners", models.IntegerField(default=0)),
                ("durations", models.BinaryField(default=b"")),
                ("details", models.TextField(default="")),
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "scope", "period", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("period", models.TextField()),
                ("level", models.TextField()),
                ("since", models.BigIntegerField()),
                ("at", models.BigIntegerField()),
                ("ended", models.IntegerField()),
                ("median", models.BigIntegerField(null=True)),
                ("p95", models.BigIntegerField(null=True)),
                ("p99", models.BigIntegerField(null=True)),
                ("best", models.FloatField(null=True)),
                ("bars", models.TextField(default="[]")),
            ],
        ),
        migrations.CreateModel(
            name="DirtyHour",
            fields=[
                ("start", models.BigIntegerField(primary_key=True, serialize=False)),
                ("first", models.BigIntegerField()),
                ("last", models.BigIntegerField()),
                ("changes", models.BigIntegerField()),
            ],
        ),
        migrations.AddField(
            model_name="transfer",
            name="hour",
            field=models.BigIntegerField(null=True),
        ),
        migrations.RunPython(set_hours, migrations.RunPython.noop),
        migrations.AddIndex(
            model_name="transfer",
            index=models.Index(fields=["hour"], name="transfer_hour"),
        ),
        migrations.AddIndex(
            model_name="window",
            index=models.Index(condition=models.Q(("is_sealed", False)), fields=["start"], name="window_unsealed"),
        ),
        migrations.AddIndex(
            model_name="scope",
            index=models.Index(fields=["origin_chain", "destination_chain"], name="scope_chains"),
        ),
        migrations.AddConstraint(
            model_name="scope",
            constraint=models.UniqueConstraint(
                fields=("level", "providers", "origin_chain", "destination_chain"), name="scope_of_level"
            ),
        ),
        migrations.AddIndex(
            model_name="hour",
            index=models.Index(fields=["start"], name="hour_start"),
        ),
        migrations.AddIndex(
            model_name="day",
            index=models.Index(fields=["start"], name="day_start"),
        ),
        migrations.AddIndex(
            model_name="day",
            index=models.Index(condition=models.Q(("is_dirty", True)), fields=["start"], name="day_dirty"),
        ),
        migrations.AddIndex(
            model_name="summary",
            index=models.Index(fields=["period", "level", "-ended"], name="summary_most_used"),
        ),
        migrations.AddIndex(
            model_name="summary",
            index=models.Index(fields=["period", "level", "best"], name="summary_worst"),
        ),
        migrations.AddIndex(
            model_name="summary",
            index=models.Index(fields=["period", "level", "-median"], name="summary_slowest"),
        ),
    ]
