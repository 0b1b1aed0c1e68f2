"""From transfers to pages: what ended is judged as the mirror's process does, and pages say what came of it."""

import re
from datetime import datetime, timedelta
from html import unescape
from typing import Any

import pytest
from django.test import Client

from intents_ui import probes
from intents_ui.mirror.incidents.keeper import Keeper, stored
from intents_ui.mirror.models import Transfer, Window
from intents_ui.mirror.windows import HOUR, MINUTE
from tests.mirror import past
from tests.mirror.conftest import on_each_engine, read, text

ROUTE = "CCTP, Ethereum → Base"
NO_INCIDENT = "None. No route, token, provider or chain is worse than usual."


@pytest.fixture
def now(still: None, mirrored: None) -> datetime:
    return past.NOW


def quiet(now: datetime, *, per_hour: int = 2) -> None:
    """Write two days of a route on which one transfer in many failed."""
    past.whole(now, days=2)
    past.present(now)
    past.write(now, days=2, per_hour=per_hour, routes=[past.CCTP])


def happen(now: datetime, **what: Any) -> None:
    """Let transfers end, and the mirror's process judge each minute."""
    past.add(past.ending(now, key=past.CCTP, **what))
    past.judge(now)


@on_each_engine
def test_a_failing_route_is_an_incident_of_which_pages_tell_the_same(site: Client, now: datetime) -> None:
    quiet(now)
    for change in ({"outcome": "rejected"}, {"failed_step": 0}, {"outcome": "no_deposit", "end": None}):
        known = list(Transfer.objects.values_list("pk", flat=True))
        past.add(past.ending(now, key=past.CCTP, good=0, bad=4))
        Transfer.objects.exclude(pk__in=known).update(**change)  # which are in no count of an incident
    happen(now, good=18, bad=12)
    past.count(now)
    extent = "12 of 29 owners did not get their transfers in time, usually 1 of 100"
    page = text(read(site, "/insight/incident/1"))
    assert f"{ROUTE} Not delivered in time since 11:26 UTC" in page
    assert extent in page
    assert "Not delivered 12 of 29 ended" in page
    assert "Owners affected 12 of 29 First failure 11:27:12 UTC" in page
    assert "Origin execution reverted: slippage 1.5% exceeded" in page
    assert f"More transfers than usual are not delivered in time since 2026-11-21 11:26:32 UTC ({ROUTE})." in page
    assert f"{ROUTE} since 11:26 UTC {extent}" in text(read(site, "/insight/incidents"))
    assert f"Not delivered in time {ROUTE} since 11:26 UTC" in text(read(site, "/insight"))
    assert f"{ROUTE} since 11:26 UTC" in text(read(site, "/"))
    data = site.get("/insight/incident/1.json").json()
    assert [data[each] for each in ("state", "bad", "owners", "closed", "routes")] == ["open", 12, 29, None, [ROUTE]]
    feed = unescape(site.get("/insight/incidents/feed.atom").content.decode())
    assert feed.count("<entry>") == 1
    assert f'<title>Not delivered in time: {ROUTE}</title><link href="http://testserver/insight/incident/1"' in feed
    assert extent in feed
    assert '<category term="alert"' in feed
    assert data["alert"] is True
    shown = probes.metrics_text().decode()
    assert 'intents_ui_mirror_incidents{kind="undelivered",state="open"} 1.0' in shown
    assert site.get("/insight/incident/2").status_code == 404
    assert site.get(f"/insight/incident/{'9' * 20}").status_code == 404


def test_a_repaired_transfer_leaves_all_counts_of_an_incident_and_moves_its_beginning(
    site: Client, now: datetime
) -> None:
    quiet(now)
    past.add(past.ending(now, key=past.CCTP, good=18, bad=12))
    at = int(now.timestamp())
    keeper = Keeper(past.lead(at))
    past.keep(keeper, at - 5 * MINUTE, minutes=36)
    assert stored()[0].bad >= 10
    first = Transfer.objects.filter(outcome="failed", ended__gte=(at - 40 * MINUTE) * 1000).order_by("ended")[0]
    Transfer.objects.filter(pk=first.pk).update(outcome="delivered", reason=None, failed_step=None)
    past.keep(keeper, at, minutes=4)
    page = text(read(site, "/insight/incident/1"))
    assert f"{ROUTE} Not delivered in time since 11:28 UTC" in page
    assert "Not delivered 11 of 27 ended" in page
    assert "Owners affected 11 of 27 First failure 11:29:24 UTC" in page


def test_an_incident_that_is_over_says_until_when_it_lasted(site: Client, now: datetime) -> None:
    quiet(now)
    past.add(past.ending(now - timedelta(hours=2), key=past.CCTP, good=18, bad=12))
    past.add(past.ending(now, key=past.CCTP, good=60, bad=0, minutes=118))
    past.judge(now, minutes=160)
    page = text(read(site, "/insight/incident/1"))
    assert f"{ROUTE} Resolved since 09:26 UTC until 10:27 UTC" in page
    assert re.search(
        r"usual were not delivered in time from 2026-11-21 09:26:32 UTC to .* This has been resolved\.",
        page,
    )
    assert NO_INCIDENT in text(read(site, "/insight"))
    assert f"No open incidents. Resolved 1, newest first Resolved {ROUTE}" in text(read(site, "/insight/incidents"))


def test_transfers_that_hang_are_an_incident_before_they_end(site: Client, now: datetime) -> None:
    quiet(now)
    past.add(past.ending(now, key=past.CCTP, good=30, bad=30, minutes=75))
    hanging = Transfer.objects.filter(outcome="failed", ended__gt=(now.timestamp() - 80 * MINUTE) * 1000)
    hanging.update(outcome="open", status="EXECUTING", ended=None, end=None, reason=None, failed_step=None)
    past.judge(now)
    page = text(read(site, "/insight/incident/1"))
    assert f"{ROUTE} Not delivered in time since 10:4" in page
    assert re.search(r"2\d of \d\d owners did not get their transfers in time, usually 1 of 100", page)
    assert "Not delivered 0 of" in page  # none has ended


def test_a_silent_route_is_an_incident(site: Client, now: datetime) -> None:
    quiet(now, per_hour=40)
    silence = now - timedelta(minutes=40)
    Transfer.objects.filter(ended__gt=silence.timestamp() * 1000).delete()
    past.judge(now)
    page = text(read(site, "/insight/incident/1"))
    assert f"{ROUTE} Nothing starts since 11:1" in page
    assert re.search(r"No transfer started where 2\d owners were expected", page)


@pytest.mark.parametrize(
    ("why", "says"),
    [
        ("no day of the past", "Not known yet. Incidents need a day of history."),
        ("nothing was read lately", "Unknown since 11:30 UTC"),
    ],
)
def test_without_knowledge_no_page_says_that_all_is_well(site: Client, now: datetime, why: str, says: str) -> None:
    quiet(now)
    half_an_hour_ago = int(now.timestamp()) - 30 * MINUTE
    if why == "nothing was read lately":
        Window.objects.update(read_at=half_an_hour_ago)
    else:
        Window.objects.filter(start__lt=half_an_hour_ago - 20 * HOUR).delete()
    past.judge(now)
    for path in ("/insight", "/insight/incidents"):
        page = text(read(site, path))
        assert says in page
        assert NO_INCIDENT not in page


# Leaders


def test_another_leader_goes_on_with_the_incident(site: Client, now: datetime) -> None:
    quiet(now)
    past.add(past.ending(now, key=past.CCTP, good=18, bad=12))
    past.judge(now - timedelta(minutes=10))
    [before] = stored()
    past.judge(now, minutes=9)
    [after] = stored()
    assert (after.since, after.opened) == (before.since, before.opened)
    assert after.owners > before.owners
