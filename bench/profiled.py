"""Profile of a page: own time by part, measured with cProfile in a separate process.

.venv/bin/python -m bench.profiled /history
"""

import cProfile
import os
import pstats
import sys
import time
from collections import Counter
from pathlib import Path

import django

from bench.processes import COLD, KEY, StubService, output
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
)  # fmt: skip


def part_of(function: tuple[str, int, str]) -> str:
    file = function[0]
    return next((part for part, places in PARTS if any(place in file for place in places)), "Python itself")


def own_times(profile: cProfile.Profile) -> Counter[str]:
    """Return own time by part. Built-in functions count for their caller."""
    spent: Counter[str] = Counter()
    for function, (_, _, own, _, callers) in pstats.Stats(profile).stats.items():
        if function[0] != "~":
            spent[part_of(function)] += own
            continue
        for caller, (_, _, of_caller, _) in callers.items():
            spent[part_of(caller)] += of_caller
    return spent


def profile(path: str) -> Counter[str]:
    gunicorn_constants.apply()
    django.setup()  # after the settings are in the environment
    from intents_ui import app, startup
    from intents_ui.application import PAGES

    app.use(startup.build())

    def ask() -> None:
        where, _, query = path.partition("?")
        scope = {
            "method": "GET", "path": where, "query_string": query.encode(), "scheme": "http",
            "headers": [(b"host", b"localhost")], "server": ("localhost", 80), "client": ("127.0.0.1", 1),
        }  # fmt: skip
        PAGES.page(scope)

    for _ in range(5):
        ask()
    profiler = cProfile.Profile(time.thread_time)
    profiler.enable()
    for _ in range(ROUNDS):
        ask()
    profiler.disable()
    return own_times(profiler)


def table(place: Path, service: StubService) -> str:
    """Return a Markdown table for an unseen history page and a cached transfer page."""
    service.change(0)
    listed = service.call("GetIntentHistory", page={"pageSize": 1}, byStatuses=["SUCCEEDED"])["intents"]
    service.change(ALL)
    pages = {"history, unseen": ("/history", COLD), "transfer, cached": (f"/intent/{listed[0]['intentId']}", {})}
    shares = {name: shares_of(place, service.url, path, how) for name, (path, how) in pages.items()}
    head = f"| share of own time under cProfile | {' | '.join(shares)} |"
    rows = [
        f"| {part} | {' | '.join(f'{share[part]:.0%}' for share in shares.values())} |"
        for part in (*(part for part, _ in PARTS), "Python itself")
    ]
    return "\n".join(["## Profile", "", head, "|---|---|---|", *rows])


def shares_of(place: Path, service: str, path: str, how: dict[str, str]) -> Counter[str]:
    code = os.pathsep.join([str(place), str(Path(__file__).parent.parent)])
    settings = {"INTENTS_SERVICE_URL": service, "SECRET_KEY": KEY, "PYTHONPATH": code, **how}
    printed = output("-m", "bench.profiled", path, place=place, **settings)
    spent = Counter({part: float(own) for own, part in (line.split(" ", 1) for line in printed.splitlines())})
    return Counter({part: own / spent.total() for part, own in spent.items()})


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "intents_ui.settings")
    for part, own in profile(sys.argv[1]).items():
        print(f"{own:.6f} {part}")
