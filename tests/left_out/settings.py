"""Settings without the app."""

import os

from intents_ui.settings import *  # noqa: F403

INSTALLED_APPS.remove(f"intents_ui.{os.environ['LEFT_OUT']}")  # noqa: F405
ROOT_URLCONF = "tests.left_out.urls"
