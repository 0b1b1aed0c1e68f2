"""The demo: `make run` shows a month of transfers, two incidents that are over, and one that isn't."""

import contextlib
import os
import re
import signal
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from intents_ui.demo import SECOND, Past
from intents_ui.emulator import Emulator
from intents_ui.emulator.population import Reach
from intents_ui.mirror.entry import Entry, read
from intents_ui.mirror.windows import DAY, HOUR
from intents_ui.service.models import IntentHistory
from intents_ui.web.frame import GENERATED
from tests.emulator.driving import NOW, Clock
from tests.serving import ROOT, free_port, wait_for
from tests.waiting import PATIENCE, until

TRANSFER = re.compile(r'href="(/intent/0x[0-9a-f]{64})"')
INCIDENT = re.compile(r'href="(/insight/incident/\d+)"')


def listed(emulator: Emulator, start: int, end: int) -> dict[bytes, Entry]:
    """Return the transfers that the mirror would read of a time."""
    now, reach = emulator.now(), Reach(start * SECOND, latest=end * SECOND - 1)
    found = emulator.ledger.entries(round(now * SECOND), descending=False, reach=reach)
    documents = [each.history_row() for each in found]
    entries = [IntentHistory.model_validate(each) for each in documents if each["status"] != "QUOTED"]
    return {each.intent_id: each for each in (read(entry, now=datetime.fromtimestamp(now, UTC)) for entry in entries)}


@pytest.mark.parametrize("hours_ago", [21, 51, 600])
def test_generated_transfers_are_those_that_the_mirror_would_read(hours_ago: int) -> None:
    emulator = Emulator(now=Clock(), started=NOW)
    start = int(NOW) - hours_ago * HOUR
    generated = {each.intent_id: each for each in Past(emulator).entries(start, start + 8 * HOUR)}
    assert generated == listed(emulator, start, start + 8 * HOUR)
    assert len(generated) > 150


@pytest.mark.programs
def test_it_shows_a_month_and_three_incidents(tmp_path: Path) -> None:
    """As of `make run`. One signal stops the dashboard and the mirror beside it."""
    copy = tmp_path / "mirror.sqlite3"
    ours = {name: os.environ.get(name, "") for name in ("PATH", "PYTHONPATH")}
    env = {
        **ours,
        "INTENTS_DATABASE": str(copy),
        "PORT": str(free_port()),
        "DEMO_STARTED": str(datetime.now(UTC).timestamp()),
    }
    words = [sys.executable, "manage.py", "runserver", "--noreload"]
    with (
        subprocess.Popen(words, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as ran,
        httpx.Client(base_url=f"http://127.0.0.1:{env['PORT']}", trust_env=False, timeout=PATIENCE) as site,
    ):
        try:
            wait_for(f"{site.base_url}/healthz", ran)
            until(lambda: site.get("/insight.json").json()["total"]["isComplete"], pause=0.2)
            until(lambda: site.get("/insight.json").json()["incidents"], pause=0.2)
            periods = [site.get("/insight.json", params={"window": each}).json() for each in ("24h", "7d", "30d")]
            pages = {each: site.get(each).text for each in ("/", "/late", "/insight", "/insight/incidents")}
            incidents = {path: site.get(path).text for path in set(INCIDENT.findall(pages["/insight/incidents"]))}
            linked = set(TRANSFER.findall("".join([*pages.values(), *incidents.values()])))
            opened = {path: site.get(path).status_code for path in linked}
            exported, feed = site.get("/late.csv").text, site.get("/insight/incidents.atom").text
            ran.send_signal(signal.SIGINT)
            said, _ = ran.communicate(timeout=PATIENCE)  # the output ends with the last process
        finally:
            ran.kill()
    assert ran.returncode == 0, said.decode()
    assert said.decode().count("The mirror has stopped.") == 1
    for each in periods:
        assert each["isDemo"]
        assert each["total"]["isComplete"]
        assert 5 <= each["total"]["late"] <= 20
        assert 0.96 <= each["total"]["successRate"]["value"] <= 0.98
    assert [each["title"] for each in periods[0]["incidents"]] == ["Relay"]
    assert len(incidents) == 3
    assert set(opened.values()) == {200}
    assert len(opened) > 15
    assert all(GENERATED in each for each in (*pages.values(), exported, feed))
    audit = subprocess.check_output([sys.executable, "manage.py", "mirror", "audit"], cwd=ROOT, env=env, text=True)
    assert audit.startswith("0 of "), audit
    # A young transfer may have changed since the mirror's end.
    end = int(float(env["DEMO_STARTED"])) - DAY
    expected = listed(Emulator(started=float(env["DEMO_STARTED"])), end - DAY // 2, end)
    with contextlib.closing(sqlite3.connect(copy)) as database:
        limits = (end - DAY // 2) * 1000, end * 1000 - 1
        stored = "SELECT intent_id, fingerprint FROM mirror_transfer WHERE created BETWEEN ? AND ?"
        assert dict(database.execute(stored, limits)) == {name: each.fingerprint for name, each in expected.items()}
