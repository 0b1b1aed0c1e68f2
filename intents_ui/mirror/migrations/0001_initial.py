import django.db.models.deletion
from django.db import migrations, models

from intents_ui.mirror.partitions import partition


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Audit",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.BigIntegerField()),
                ("differing", models.IntegerField()),
            ],
        ),
        migrations.CreateModel(
            name="Day",
            fields=[
                ("start", models.BigIntegerField(primary_key=True, serialize=False)),
            ],
        ),
        migrations.CreateModel(
            name="Incident",
            fields=[
                ("number", models.BigIntegerField(primary_key=True, serialize=False)),
                ("scope", models.TextField()),
                ("kind", models.TextField()),
                ("state", models.TextField()),
                ("since", models.BigIntegerField(db_index=True)),
                ("opened", models.BigIntegerField()),
                ("recovered", models.BigIntegerField(null=True)),
                ("closed", models.BigIntegerField(db_index=True, null=True)),
                ("bad", models.IntegerField()),
                ("owners", models.IntegerField()),
                ("usual", models.FloatField()),
                ("routes", models.TextField()),
                ("is_alert", models.BooleanField()),
                ("folded_into", models.BigIntegerField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="Lease",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("epoch", models.BigIntegerField()),
                ("holder", models.TextField()),
                ("until", models.BigIntegerField()),
                ("ahead", models.BigIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name="Reason",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.BinaryField(max_length=16, unique=True)),
                ("text", models.TextField()),
                ("example", models.TextField()),
            ],
        ),
        migrations.CreateModel(
            name="Route",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.BinaryField(max_length=16, unique=True)),
                ("providers", models.TextField()),
                ("origin_chain", models.TextField()),
                ("destination_chain", models.TextField()),
                ("late_after", models.BigIntegerField(default=900000)),
                ("late_by", models.TextField(default="rule")),
                ("late_bucket", models.SmallIntegerField(default=137)),
            ],
        ),
        migrations.CreateModel(
            name="Snapshot",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "period", "level", "order", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("period", models.TextField()),
                ("level", models.TextField()),
                ("order", models.TextField()),
                ("at", models.BigIntegerField()),
                ("document", models.TextField()),
            ],
        ),
        migrations.CreateModel(
            name="State",
            fields=[
                ("name", models.TextField(primary_key=True, serialize=False)),
                ("value", models.TextField()),
            ],
        ),
        migrations.CreateModel(
            name="Token",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.BinaryField(max_length=16, unique=True)),
                ("chain", models.TextField()),
                ("address", models.TextField()),
                ("symbol", models.TextField()),
            ],
        ),
        migrations.CreateModel(
            name="Transfer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("intent_id", models.BinaryField()),
                ("project", models.BigIntegerField(null=True)),
                ("created", models.BigIntegerField()),
                ("updated", models.BigIntegerField()),
                ("started", models.BigIntegerField(null=True)),
                ("ended", models.BigIntegerField(null=True)),
                ("expires", models.BigIntegerField(null=True)),
                ("status", models.TextField()),
                ("outcome", models.TextField()),
                ("sent", models.TextField(null=True)),
                ("received", models.TextField(null=True)),
                ("owner", models.BinaryField(null=True)),
                ("recipient", models.BinaryField(null=True)),
                ("failed_step", models.SmallIntegerField(null=True)),
                ("read_at", models.BigIntegerField()),
                ("fingerprint", models.BinaryField()),
                ("hour", models.BigIntegerField(null=True)),
                ("bucket", models.SmallIntegerField(null=True)),
                ("is_repaired", models.BooleanField(default=False)),
                ("unlisted_since", models.BigIntegerField(null=True)),
                (
                    "destination_token",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="mirror.token",
                    ),
                ),
                (
                    "origin_token",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="mirror.token",
                    ),
                ),
                (
                    "reason",
                    models.ForeignKey(
                        db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, to="mirror.reason"
                    ),
                ),
                (
                    "route",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to="mirror.route"),
                ),
            ],
        ),
        migrations.CreateModel(
            name="TransferAddress",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("address", models.BinaryField()),
                ("role", models.TextField()),
                ("created", models.BigIntegerField()),
                (
                    "transfer",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        to="mirror.transfer",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Window",
            fields=[
                ("start", models.BigIntegerField(primary_key=True, serialize=False)),
                ("end", models.BigIntegerField()),
                ("due", models.BigIntegerField(db_index=True)),
                ("read_at", models.BigIntegerField(null=True)),
                ("rows", models.IntegerField(default=0)),
                ("is_sealed", models.BooleanField(default=False)),
                ("failures", models.IntegerField(default=0)),
                ("reason", models.TextField(default="")),
                ("epoch", models.BigIntegerField(default=0)),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("is_sealed", False)), fields=["start"], name="window_unsealed")
                ],
            },
        ),
        migrations.CreateModel(
            name="DayFact",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("day", models.BigIntegerField()),
                ("outcome", models.TextField()),
                ("failed_step", models.SmallIntegerField(null=True)),
                ("bucket", models.SmallIntegerField(null=True)),
                ("n", models.IntegerField()),
                ("pair", models.IntegerField(null=True)),
                ("sent", models.TextField(null=True)),
                (
                    "reason",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="mirror.reason",
                    ),
                ),
                (
                    "route",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="mirror.route"
                    ),
                ),
                (
                    "destination_token",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="mirror.token",
                    ),
                ),
                (
                    "origin_token",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="mirror.token",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["day"], name="fact_day"),
                    models.Index(
                        fields=[
                            "route",
                            "day",
                            "outcome",
                            "failed_step",
                            "reason",
                            "bucket",
                            "origin_token",
                            "destination_token",
                            "n",
                        ],
                        name="fact_route",
                    ),
                    models.Index(
                        condition=models.Q(("pair__isnull", False)), fields=["route", "day"], name="fact_pair"
                    ),
                ],
            },
        ),
        migrations.RunPython(partition, migrations.RunPython.noop),
        migrations.AddConstraint(
            model_name="transfer",
            constraint=models.UniqueConstraint(fields=("intent_id", "created"), name="transfer_key"),
        ),
        migrations.AddIndex(
            model_name="transfer",
            index=models.Index(fields=["created"], name="transfer_created"),
        ),
        migrations.AddIndex(
            model_name="transfer",
            index=models.Index(fields=["hour"], name="transfer_ended"),
        ),
        migrations.AddIndex(
            model_name="transfer",
            index=models.Index(
                fields=["route", "hour", "outcome", "bucket", "failed_step", "reason"], name="transfer_route_ended"
            ),
        ),
        migrations.AddIndex(
            model_name="transfer",
            index=models.Index(condition=models.Q(("is_repaired", True)), fields=["hour"], name="transfer_repaired"),
        ),
        migrations.AddIndex(
            model_name="transfer",
            index=models.Index(condition=models.Q(("outcome", "open")), fields=["created"], name="transfer_open"),
        ),
        migrations.AddIndex(
            model_name="transfer",
            index=models.Index(
                condition=models.Q(("bucket", None), ("hour__isnull", False)),
                fields=["created", "status"],
                name="transfer_failed",
            ),
        ),
        migrations.AddIndex(
            model_name="transfer",
            index=models.Index(
                condition=models.Q(("outcome", "open"), ("unlisted_since", None)),
                fields=[
                    "route",
                    "origin_token",
                    "destination_token",
                    "status",
                    "updated",
                    "expires",
                    "started",
                    "created",
                ],
                name="transfer_open_groups",
            ),
        ),
        migrations.AddIndex(
            model_name="transferaddress",
            index=models.Index(fields=["address", "-created"], name="address_created"),
        ),
    ]
