"""A transfer that is late in `/late` is late on every other surface."""

import asyncio
import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from intents_ui.emulator.app import Emulator
from intents_ui.mirror.entry import RouteKey
from intents_ui.mirror.models import Lease, Route, Transfer
from intents_ui.web.transfers import incidents, situations
from tests.mirror import ledgers, past

pytestmark = pytest.mark.usefixtures("still")

MINUTE = timedelta(minutes=1)


@pytest.fixture
def limited(site: Client, mirrored: None, emulator: Emulator, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a transfer that has been open for six minutes, on a route where 99 of 100 take less than five."""
    monkeypatch.setattr(incidents, "MAX_AGE", -1.0)
    intent_id: str = emulator.play(23, age=360)["intentId"]
    key = RouteKey(*situations.read(intent_id).facts.route)
    now = datetime.now(UTC)
    ledgers.whole(now)
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
    quoted_at = situations.read(intent_id).facts.quoted_at
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
    ledgers.present(now)
    for number in range(2, 7):
        past.open_transfer(now, number=number, age=number * 10 * MINUTE)
    for path, number in (("/", "<strong>6</strong>"), ("/attention", "6 late transfers"), ("/late", "6 transfers")):
        assert number in site.get(path).content.decode(), path
    assert site.get("/insight.json").json()["total"]["late"] == 6


def test_a_transfer_within_its_limit_is_late_nowhere(site: Client, limited: str) -> None:
    limit(7)
    found = surfaces(site, limited)
    assert not any(found[each] for each in ("late", "list", "attention"))
    situation = situations.read(limited)
    assert situation.late_at == (situation.facts.started_at or situation.now) + 7 * MINUTE  # its page is drawn again


@pytest.mark.parametrize("skew", [-90, 90])
def test_pages_of_many_transfers_go_by_the_service_s_clock(site: Client, mirrored: None, skew: int) -> None:
    now = datetime.now(UTC) + timedelta(seconds=skew)
    ledgers.whole(now)
    ledgers.present(now)
    past.write(now, days=1, per_hour=1)
    past.count(now)
    Lease.objects.update(ahead=skew * 1000)
    limit(20)
    late, soon = (past.open_transfer(now, number=each, age=each * MINUTE / 2) for each in (41, 39))
    shown = site.get("/late").content.decode()
    assert (late in shown, soon in shown) == (True, False)
    assert site.get("/insight.json?window=1h").json()["total"]["isComplete"]
