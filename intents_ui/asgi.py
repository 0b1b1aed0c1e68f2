"""ASGI entry point."""

# ruff: noqa: E402 - Django must be set up before its applications are imported
import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "intents_ui.settings")
django.setup(set_prefix=False)

from intents_ui import app, startup
from intents_ui.application import application

__all__ = ["application"]

app.use(startup.build())
