"""What a process costs at start, compared with another checkout of the repository, by turns in one run."""

import json
import subprocess
import sys
from pathlib import Path
from statistics import median

from bench.processes import ROOT, clean

ROUNDS = 9
# Runs in either checkout, which may be older, so it uses Django's test client and nothing of `bench`.
PROGRAM = """
import json, os, time
import intents_ui.asgi
from django.test import Client
from intents_ui import urls
found = {"start, CPU s": time.process_time()}
site = Client(HTTP_HOST="localhost")
for path in ("/", "/history", "/tokens"):
    began = time.process_time()
    for _ in range(20):
        assert site.get(path).status_code == 200, path
    found[f"20 times {path}, CPU s"] = time.process_time() - began
found["resident, MB"] = int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
print(json.dumps(found))
"""


def measured(checkout: Path) -> dict[str, float]:
    env = clean(INTENTS_SERVICE_URL="embedded", DEBUG="1", DJANGO_SETTINGS_MODULE="intents_ui.settings")
    command = [sys.executable, "-c", PROGRAM]
    output = subprocess.run(command, cwd=checkout, env=env, check=True, capture_output=True, text=True)  # noqa: S603 - the program above
    found: dict[str, float] = json.loads(output.stdout.splitlines()[-1])
    return found


def compare(other: Path) -> None:
    """Print medians of this and of another checkout, and their ratio."""
    rounds = [(measured(ROOT), measured(other)) for _ in range(ROUNDS)]
    print(f"{'':28}{'here':>8}{'there':>8}{'ratio':>8}")
    for name in rounds[0][0]:
        here, there = (median(each[side][name] for each in rounds) for side in (0, 1))
        print(f"{name:28}{here:8.2f}{there:8.2f}{here / there:8.2f}")
