"""The tables as the models declare them. The first release replaces this by what `makemigrations` writes."""

from django.apps import apps
from django.db import migrations
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ModelState

from intents_ui.mirror.partitions import partition

MODELS = [*apps.get_app_config("mirror").get_models()]


def tables() -> list[Operation]:
    """Return the creation of each table without its indexes, which follow when transfers are partitioned."""
    states = [ModelState.from_model(model) for model in MODELS]
    return [
        migrations.CreateModel(each.name, [*each.fields.items()], {**each.options, "indexes": []}) for each in states
    ]


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        *tables(),
        migrations.RunPython(partition, migrations.RunPython.noop),
        *(migrations.AddIndex(model.__name__, index.clone()) for model in MODELS for index in model._meta.indexes),
    ]
