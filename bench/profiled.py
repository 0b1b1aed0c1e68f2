"""Profile of a page: own time by part, measured with cProfile in a separate process.

.venv/bin/python -m bench.profiled /history
"""

import cProfile
import json
import os
import pstats
import sys
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import django

from bench.processes import KEY, ROOT, StubService, output
from bench.stub_service import ALL
from tests import gunicorn_constants

ROUNDS = 60
PARTS = (
    ("templates (Jinja2, escaping, our macros)", ("/jinja2/", "/markupsafe/", "/templates/")),
    ("words and formatting", ("/transfers/", "/tokens/", "/formatting/", "/intents_ui/web/jinja.py", "/eth_")),
    ("parsing into models", ("/service/models.py", "/service/fields.py", "/pydantic")),
    ("JSON", ("/json/", "/decode.py")),
    ("service calls (guard, client, httpx)", ("/intents_ui/service/", "/httpx/", "/httpcore/", "/h11/")),
    ("Django and middleware", ("/django", "/whitenoise", "/intents_ui/")),
    ("Python itself", ("",)),
)  # fmt: skip


def profile(path: str) -> dict[str, float]:
    """Return the share of own time by part. Built-in functions count for their caller."""
    gunicorn_constants.apply()
    django.setup()  # after the settings are in the environment
    from intents_ui import app, startup
    from intents_ui.application import PAGES

    app.use(startup.build())
    scope = {
        "method": "GET", "path": path, "query_string": b"", "scheme": "http", "headers": [(b"host", b"localhost")],
        "server": ("localhost", 80), "client": ("127.0.0.1", 1),
    }  # fmt: skip
    for _ in range(5):
        PAGES.page(dict(scope))
    profiler = cProfile.Profile(time.thread_time)
    profiler.enable()
    for _ in range(ROUNDS):
        PAGES.page(dict(scope))
    profiler.disable()
    spent: Counter[str] = Counter()
    for (file, _, _), (_, _, own, _, callers) in pstats.Stats(profiler).stats.items():
        if file != "~":
            spent[part_of(file)] += own
            continue
        for (caller, _, _), (_, _, of_caller, _) in callers.items():
            spent[part_of(caller)] += of_caller
    return {part: own / spent.total() for part, own in spent.items()}


def part_of(file: str) -> str:
    return next(part for part, places in PARTS if any(place in file for place in places))


def table(place: Path, service: StubService, uncached: Mapping[str, str]) -> str:
    """Return a Markdown table for an unseen history page and a cached transfer page."""
    service.change(0)
    listed = service.call("GetIntentHistory", page={"pageSize": 1}, byStatuses=["SUCCEEDED"])["intents"]
    service.change(ALL)
    pages = {"history, unseen": ("/history", uncached), "transfer, cached": (f"/intent/{listed[0]['intentId']}", {})}
    code = os.pathsep.join([str(place), str(ROOT)])
    settings = {"INTENTS_SERVICE_URL": service.url, "SECRET_KEY": KEY, "PYTHONPATH": code}
    shares = [
        json.loads(output("-m", "bench.profiled", path, place=place, **settings, **how)) for path, how in pages.values()
    ]
    lines = ["## Profile", "", f"| share of own time under cProfile | {' | '.join(pages)} |", "|---|---|---|"]
    lines += [f"| {part} | {' | '.join(f'{each.get(part, 0):.0%}' for each in shares)} |" for part, _ in PARTS]
    return "\n".join(lines)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "intents_ui.settings")
    print(json.dumps(profile(sys.argv[1])))
