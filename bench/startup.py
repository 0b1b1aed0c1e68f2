"""What a process costs at start, compared with another checkout of the repository, by turns in one run.

.venv/bin/python -m bench.startup ../other-checkout

Prints the processor time of a start and of the first pages, and the resident memory after them: medians of both
checkouts, and the ratio of this one to the other.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parent.parent
ROUNDS = 9
PAGES = 20
# Runs in either checkout, which may be older, so it uses Django's test client and nothing of `bench`.
PROGRAM = f"""
import json, os, time
import intents_ui.asgi
from django.test import Client
from intents_ui import urls
started = time.process_time()
site = Client(HTTP_HOST="localhost")
for _ in range({PAGES}):
    for path in ("/", "/history", "/tokens"):
        assert site.get(path).status_code == 200, path
done = time.process_time()
resident = int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
print(json.dumps({{"start, s": started, "pages, s": done - started, "resident, MB": resident / 1e6}}))
"""


def measured(checkout: Path) -> dict[str, float]:
    env = {
        **os.environ,
        "INTENTS_SERVICE_URL": "embedded",
        "DEBUG": "1",
        "DJANGO_SETTINGS_MODULE": "intents_ui.settings",
    }
    output = subprocess.run(  # noqa: S603 - the program above
        [sys.executable, "-c", PROGRAM], cwd=checkout, env=env, check=True, capture_output=True, text=True
    )
    found: dict[str, float] = json.loads(output.stdout.splitlines()[-1])
    return found


def main(other: Path) -> None:
    rounds = [(measured(HERE), measured(other)) for _ in range(ROUNDS)]
    for name in rounds[0][0]:
        ours, theirs = (median(each[side][name] for each in rounds) for side in (0, 1))
        print(f"{name:14} {ours:7.2f} {theirs:7.2f}  {ours / theirs:.2f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
