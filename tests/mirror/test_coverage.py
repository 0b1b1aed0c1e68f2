"""Pages can tell what the mirror knows, and for which times it doesn't."""

import json
import re
from datetime import UTC, datetime, time, timedelta

import pytest
from django.test import Client

from intents_ui import probes
from intents_ui.mirror import coverage
from intents_ui.mirror.models import State, Window
from intents_ui.mirror.windows import HOUR, MINUTE, Condition
from tests.mirror import past
from tests.mirror.conftest import on_each_engine, read, text
from tests.mirror.past import NOW
from tests.mirror.world import START, Copy, World

pytestmark = pytest.mark.usefixtures("still")

PATH = "/insight/coverage"


@on_each_engine
def test_a_mirror_in_step_knows_its_past(world: World) -> None:
    world.create(age=26 * HOUR, status="SUCCEEDED")
    mirror = Copy(world, days=2)
    mirror.settle(15 * MINUTE, step=MINUTE)
    found = coverage.current(now=mirror.moment())
    days = [datetime.fromtimestamp(START, UTC).date() - timedelta(days=each) for each in (2, 1, 0)]
    assert [each.day for each in found.days] == days
    assert [each.lengths.get(Condition.SEALED) for each in found.days[:2]] == [timedelta(days=1)] * 2
    assert [each.transfers for each in found.days] == [0, 1, 0]
    assert found.complete_since == datetime.combine(days[0], time(1), UTC)  # what ended before may have begun earlier
    assert found.lag < timedelta(minutes=1)
    assert found.calls == len(world.called)
    assert found.holes == []


def test_a_complete_copy_says_since_when_and_how_fresh_it_is(site: Client, mirrored: None) -> None:
    end = past.whole(NOW)
    Window.objects.create(start=end, end=end + MINUTE, due=int(NOW.timestamp()) - 22)
    past.hold_lease(NOW)
    past.audit(NOW, 0, 0, 2)
    State.objects.create(name="calls", value=json.dumps({int(NOW.timestamp()) // HOUR: 612}))
    assert "Calls in the last hour" not in site.get(PATH, headers={"X-Forwarded-For": "203.0.113.7"}).content.decode()
    page = text(read(site, PATH))  # by an administrator
    assert "Complete since 2026-11-18 13:00 UTC" in page
    assert re.search(r"Updated 2[234] s ago", page)
    assert "Process Running" in page
    assert "612 of 18,000" in page
    assert "1 of 3 windows differed in 7 days" in page
    assert "Transfers 360" in page
    assert "has holes" not in page
    assert "2026-11-20 sealed 1 d 120" in page
    assert "not read yet 1 min" in page


def test_a_hole_is_shown_as_a_hole_with_its_reason_and_on_the_status_page_and_in_metrics(
    site: Client, mirrored: None
) -> None:
    end = past.whole(NOW, holes=(30, 29, 6))
    past.hold_lease(NOW)
    page = read(site, PATH)
    shown = text(page)
    assert "The local copy has holes" in shown
    assert "Holes 2, newest first" in shown  # neighbors are one
    assert "2026-11-20 06:00 UTC to 2026-11-20 08:00 UTC the service repeated a page 3" in shown
    assert "2026-11-20 sealed 22 h, hole 2 h" in re.sub(r" (?=,)", "", shown)
    assert "Complete since 08:00 UTC" in shown
    assert page.count('class="coverage-hole"') == 4  # three hours and the legend
    metrics = probes.metrics_text().decode()
    for line in (
        'seconds{condition="hole"} 10800.0', 'seconds{condition="sealed"} 248400.0', "transfers 360.0", "running 1.0",
    ):  # fmt: skip
        assert f"intents_ui_mirror_{line}" in metrics
    Window.objects.create(start=end, end=end + MINUTE, due=int(NOW.timestamp()) - 22)
    page = text(site.get("/status").content.decode())
    assert re.search(r"Updated 2[234] s ago", page)
    assert "Complete since 08:00 UTC . The local copy has holes" in page


def test_an_empty_copy_is_not_a_complete_one_and_knows_nothing(site: Client, mirrored: None) -> None:
    page = text(read(site, PATH))
    assert "Nothing read yet" in page
    assert "No process reads the history" in page
    assert "Complete since" not in page
    assert PATH in site.get("/help").content.decode()
    page = text(read(site, "/insight"))
    assert page.count("No transfer is known that ended in this time.") == 2
    assert "All transfers that ended were delivered" not in page
    assert "%" not in page
    listed = text(read(site, "/insight/incidents"))
    assert "No open incidents are known. Resolved No past incidents are known." in listed
    assert "No late transfer is known." in text(read(site, "/late"))
    assert "Not known yet. Incidents need a day of history." in page
    assert "No route, provider or chain is worse than usual" not in page
