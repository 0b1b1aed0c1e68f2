from typing import Any

from django.db import migrations


def forget(apps: Any, schema_editor: Any) -> None:
    """Delete the incidents of earlier kinds, which can't be read any more."""
    apps.get_model("mirror", "Incident").objects.all().delete()


class Migration(migrations.Migration):
    dependencies = [("mirror", "0001_initial")]
    operations = [migrations.RunPython(forget, migrations.RunPython.noop)]
