"""ASGI entry point."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "intents_ui.settings")
django.setup(set_prefix=False)

from intents_ui.server.application import application  # noqa: E402 - Django must be set up first

__all__ = ["application"]
