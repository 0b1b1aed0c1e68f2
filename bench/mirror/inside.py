"""Measure a part in a process of its own, with the mirror's database in `INTENTS_DATABASE`. Prints targets as JSON.

INTENTS_DATABASE=/tmp/mirror.sqlite3 .venv/bin/python -m bench.mirror.inside insight 1000000
"""

import json
import os
import sys
from collections.abc import Iterable
from dataclasses import astuple
from importlib import import_module
from pathlib import Path

import django

from bench.processes import output
from bench.report import Target


def measured(part: str, size: float, database: Path | str) -> Iterable[Target]:
    """Run a part in a new process. `size` is the number of transfers or of seconds."""
    printed = output("-m", "bench.mirror.inside", part, str(size), INTENTS_DATABASE=str(database))
    return [Target(*each) for each in json.loads(printed)]


if __name__ == "__main__":
    os.environ["DJANGO_SETTINGS_MODULE"] = "intents_ui.settings"
    django.setup()
    part = import_module(f"bench.mirror.{sys.argv[1]}")
    print(json.dumps([astuple(target) for target in part.measure(float(sys.argv[2]))]))
