"""Modules that every process loads at startup."""

import subprocess
import sys

from tests.serving import ROOT

LOADED = "import sys, intents_ui.asgi; print(*{'redis', 'PIL', 'intents_ui.emulator.app'} & sys.modules.keys())"


def test_optional_dependencies_are_not_loaded() -> None:
    env = {
        "DJANGO_SETTINGS_MODULE": "intents_ui.settings",
        "INTENTS_SERVICE_URL": "https://service",
        "SECRET_KEY": "x" * 50,
    }
    found = subprocess.run(
        [sys.executable, "-c", LOADED], cwd=ROOT, env=env, capture_output=True, check=True, text=True
    )
    assert found.stdout.split() == []
