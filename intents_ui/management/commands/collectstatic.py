"""`manage.py collectstatic`: the files that a start in production expects, of style sheets, scripts and templates."""

from typing import Any

from django.contrib.staticfiles.management.commands import collectstatic
from django.template import engines

from intents_ui.settings import COMPILED_TEMPLATES


class Command(collectstatic.Command):
    help = "Collects static files and compiles templates."

    def collect(self) -> Any:
        templates = engines["jinja2"].env  # type: ignore[attr-defined]
        for name in templates.list_templates():
            templates.get_template(name)
        for file in COMPILED_TEMPLATES.iterdir():
            file.chmod(0o644)  # Jinja lets only the user who runs this read them
        return super().collect()
