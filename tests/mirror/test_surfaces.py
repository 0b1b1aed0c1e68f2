"""A transfer that is late, or a part of an incident, is so on every surface, and no other one is."""

import asyncio
import json
import re
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any

import pytest
from django.test import Client, RequestFactory
from django.utils.html import strip_tags

from intents_ui.emulator.app import Emulator
from intents_ui.mirror.entry import RouteKey
from intents_ui.mirror.models import Lease, Route, Transfer
from intents_ui.settings import ENV
from intents_ui.triage.lookup import rows_of
from intents_ui.web import reading
from tests.mirror import past
from tests.mirror.conftest import empty, text

pytestmark = pytest.mark.usefixtures("still")

MINUTE = timedelta(minutes=1)
SENTENCE = re.compile(
    r"Part of an incident: LI\.FI, Base → Arbitrum One, not delivered in time since 2026-11-21 11:\d\d:\d\d UTC\."
)
OF_TODAY = re.compile(SENTENCE.pattern.replace("2026-11-21 ", ""))


@pytest.fixture
def limited(site: Client, mirrored: None, emulator: Emulator, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a transfer that has been open for six minutes, on a route where 99 of 100 take less than five."""
    monkeypatch.setattr(reading, "LIMITS_MAX_AGE", -1.0)
    intent_id: str = emulator.play(23, age=360)["intentId"]
    key = RouteKey(*reading.read(intent_id).route)
    now = datetime.now(UTC)
    past.whole(now)
    past.write(now, days=1, per_hour=1)
    past.open_transfer(now, number=1, age=6 * MINUTE, key=key)
    Transfer.objects.filter(outcome="open").update(intent_id=bytes.fromhex(intent_id[2:]))
    limit(5)
    return intent_id


def limit(minutes: int) -> None:
    Route.objects.update(late_after=minutes * MINUTE // timedelta(milliseconds=1))


async def whole(answer: Any) -> bytes:
    return b"".join([piece async for piece in answer])


def surfaces(site: Client, intent_id: str) -> dict[str, bool]:
    """Return whether each surface says that the transfer is late."""
    quoted_at = reading.read(intent_id).quoted_at
    assert quoted_at
    created = int(quoted_at.timestamp())
    listed = site.get(f"/history?from={created - 1}&to={created + 1}").content.decode()
    row = re.search(rf'<tr id="row-{intent_id}">(.*?)</tr>', listed, re.DOTALL)
    exported = asyncio.run(whole(site.get("/export/attention.ndjson")))
    causes = {each.get("intent_id"): each.get("cause") for each in map(json.loads, exported.splitlines())}
    assert row
    return {
        "late": f"/intent/{intent_id}" in site.get("/late").content.decode(),
        "list": "data-late" in row[1],
        "attention": causes.get(intent_id) == "late",
        "API": site.get(f"/api/v1/transfers/{intent_id}").json()["summary"]["cause"] == "late",
    }


def test_a_late_transfer_is_late_everywhere(site: Client, limited: str) -> None:
    found = surfaces(site, limited)
    assert found == dict.fromkeys(found, True)


def test_the_number_of_late_transfers_is_the_same_everywhere(site: Client, limited: str) -> None:
    now = datetime.now(UTC)
    past.present(now)
    for number in range(2, 102):
        past.open_transfer(now, number=number, age=number * 10 * MINUTE)
    for path, number in (
        ("/", r"Late 101 "), ("/attention", r"Late 101 Showing \d\d of 101"),
        ("/attention?min=0", r"Late \d\d All late"),  # a filter that the mirror does not know
        ("/late", r"Late now 101 transfers .* All: 101"), ("/insight", r"Open now 101 101 late"),
    ):  # fmt: skip
        assert re.search(number, text(site.get(path).content.decode())), path
    for by in ("route", "provider", "chain"):
        assert site.get(f"/insight.json?by={by}").json()["total"]["late"] == 101, by


def test_a_transfer_within_its_limit_is_late_nowhere(site: Client, limited: str) -> None:
    limit(7)
    found = surfaces(site, limited)
    assert not any(found[each] for each in ("late", "list", "attention"))
    transfer = reading.read(limited)
    assert transfer.late_at == (transfer.started_at or transfer.now) + 7 * MINUTE  # its page is drawn again


@pytest.mark.parametrize("skew", [-90, 90])
def test_pages_of_many_transfers_go_by_the_service_s_clock(site: Client, mirrored: None, skew: int) -> None:
    now = datetime.now(UTC) + timedelta(seconds=skew)
    past.whole(now)
    past.present(now)
    past.write(now, days=1, per_hour=1)
    past.count(now)
    Lease.objects.update(ahead=skew * 1000)
    limit(20)
    late, soon = (past.open_transfer(now, number=each, age=each * MINUTE / 2) for each in (41, 39))
    shown = site.get("/late").content.decode()
    assert (late in shown, soon in shown) == (True, False)
    assert site.get("/insight.json?window=1h").json()["total"]["isComplete"]


# Incidents


def played(emulator: Emulator, slug: str = "refunded-on-origin", *, age: int = 600) -> str:
    """Return a transfer that is as old."""
    return str(emulator.play(slug, age=age)["intentId"])


def failing(key: RouteKey, *, was: bool = False) -> None:
    """Let the mirror's process have found an incident of this route, which began 40 minutes ago or is over."""
    now = datetime.now(UTC)
    past.whole(now, days=2)
    past.present(now)
    past.write(now, days=2, per_hour=1, routes=[key])
    past.add(past.ending(now - timedelta(hours=2) if was else now, key=key, good=10, bad=20, minutes=40))
    past.add(past.ending(now, key=key, good=60 if was else 0, bad=0, minutes=118))
    past.judge(now, minutes=165 if was else 42)


def key_of(intent_id: str) -> RouteKey:
    return RouteKey(*reading.read(intent_id).route)


def shown(site: Client, intent_id: str) -> dict[str, bool]:
    """Return whether each surface says that the transfer is a part of the incident."""
    page = site.get(f"/intent/{intent_id}").content.decode()
    reply = site.get(f"/intent/{intent_id}/reply").content.decode()
    (row,) = rows_of(intent_id, RequestFactory().get("/")).rows
    return {
        "page": bool(OF_TODAY.search(unescape(strip_tags(page)))),
        "linked": 'href="/insight/incident/1"' in page.partition("<main")[2],
        "fragment": "Part of an incident" in site.get(f"/intent/{intent_id}/receipt").content.decode(),
        "reply": "Known incident: LI.FI" in unescape(reply),
        "API": bool(site.get(f"/api/v1/transfers/{intent_id}").json()["summary"]["incident"]),
        "triage": any(map(SENTENCE.fullmatch, row.details)),
    }


@pytest.mark.usefixtures("mirrored")
def test_all_surfaces_agree_about_the_incident_until_it_is_over(
    site: Client, emulator: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = played(emulator)
    failing(key_of(failed))
    assert all(shown(site, failed).values())
    for other in (
        played(emulator, age=3600),  # before it began
        played(emulator, age=20),  # has not failed
        played(emulator, "refunded-on-destination"),  # on another route
        played(emulator, "cross-chain-fast"),
    ):
        assert not any(shown(site, other).values())
    monkeypatch.setattr(ENV, "intents_insight", "staff")
    assert not any(shown(site, failed).values())  # it is not public
    monkeypatch.setattr(ENV, "intents_insight", "public")
    empty()
    failing(key_of(failed), was=True)
    assert not any(shown(site, failed).values())
