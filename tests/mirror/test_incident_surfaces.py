"""A transfer that is a part of an incident says so on its page, in triage and in replies, and no other one does."""

import asyncio
import json
import re
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.utils.html import strip_tags

from intents_ui import wiring
from intents_ui.display.search.identifiers import read as read_pasted
from intents_ui.mirror.entry import RouteKey
from intents_ui.mirror.models import Incident, IncidentRoute, Reason, Token
from intents_ui.settings import ENV
from intents_ui.web.transfers import situations
from intents_ui.web.triage import answers
from tests.mirror import past

SENTENCE = re.compile(r"Part of an incident: [^.]+, failing since [^.]+\.")
NOT_DELIVERED = {"refunded", "failed", "aborted", "rejected", "unconfirmed"}


def transfers(site: Client) -> list[str]:
    """Return the completed transfers of all scenarios."""
    found = re.findall(r'href="/intent/([^"]+)" aria-label="Completed', site.get("/demo").content.decode())
    assert len(found) >= 20
    return found


def now() -> datetime:
    return datetime.now(UTC)


def everywhere(keys: set[RouteKey], *, since: datetime, closed: datetime | None = None) -> None:
    """Write an incident of all these routes."""
    Reason.objects.create(key=b"failure", text="x", example="x")
    Token.objects.create(key=b"token", chain="1", address="0x", symbol="")
    row = Incident.objects.create(
        number=7, level="provider", name="RELAY", kind="failing", state="over" if closed else "failing",
        since=int(since.timestamp()), opened=int(since.timestamp()), closed=closed and int(closed.timestamp()), bad=12,
        owners=30, usual=0.02, is_alert=True,
    )  # fmt: skip
    for key in keys:
        IncidentRoute.objects.create(incident=row, route=past.route(key))


def key_of(intent_id: str) -> RouteKey:
    return RouteKey(*situations.read(intent_id).facts.route)


def shown(site: Client, intent_id: str) -> dict[str, bool]:
    """Return whether each surface says that the transfer is a part of the incident."""
    page = site.get(f"/intent/{intent_id}").content.decode()
    reply = [unescape(each) for each in re.findall(r"<textarea[^>]*>(.*?)</textarea>", reply_of(site, intent_id), re.S)]
    (finding,) = read_pasted(intent_id).lookups
    row = answers.answer(answers.ClientService(wiring.service()), 1, finding, answers.resolved)
    return {
        "page": bool(SENTENCE.search(unescape(strip_tags(page)))),
        "linked": 'href="/insight/incident/7"' in page.partition("<main")[2],
        "fragment": "Part of an incident" in site.get(f"/intent/{intent_id}/receipt").content.decode(),
        "text": "Known incident: Relay" in reply[0],
        "Markdown": "Known incident: Relay" in reply[1],
        "JSON": bool(json.loads(reply[2])["incident"]),
        "triage": any(map(SENTENCE.fullmatch, row.details)),
    }


def reply_of(site: Client, intent_id: str) -> str:
    return site.get(f"/intent/{intent_id}/reply").content.decode()


def outcomes(site: Client, **filters: str) -> dict[str, str]:
    """Return the outcomes that an export has."""
    answer: Any = site.get("/export/history.ndjson", filters)
    body = b"".join(asyncio.run(whole(answer)))
    return {row["intent_id"]: row["outcome"] for row in map(json.loads, body.splitlines()) if "intent_id" in row}


async def whole(answer: Any) -> list[bytes]:
    return [piece async for piece in answer]


@pytest.mark.usefixtures("mirrored")
def test_all_surfaces_agree_about_the_incident(site: Client) -> None:
    found = transfers(site)
    everywhere(set(map(key_of, found)), since=now() - timedelta(days=30))
    known, wrong, members = outcomes(site), [], 0
    for intent_id in found:
        is_member = known[intent_id] in NOT_DELIVERED
        members += is_member
        wrong += [
            (intent_id, known[intent_id], name) for name, says in shown(site, intent_id).items() if says != is_member
        ]
    assert not wrong
    assert 5 <= members < len(found)


@pytest.mark.usefixtures("mirrored")
@pytest.mark.parametrize("why", ["before it began", "after it was over", "another route", "not public"])
def test_other_transfers_say_nothing_of_it(site: Client, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = transfers(site)
    failed = outcomes(site, status="FAILED")
    found = next(each for each, outcome in failed.items() if outcome == "failed" and each in listed)
    age = timedelta(minutes=-1) if why == "before it began" else timedelta(days=30)
    closed = now() - timedelta(days=29) if why == "after it was over" else None
    key = RouteKey("CCTP", "1", "10") if why == "another route" else key_of(found)
    everywhere({key}, since=now() - age, closed=closed)
    if why == "not public":
        monkeypatch.setattr(ENV, "intents_insight", "operator")
    assert not any(shown(site, found).values())


@pytest.mark.usefixtures("mirrored")
def test_the_overview_shows_open_incidents_only(site: Client) -> None:
    assert "Open incidents" not in site.get("/").content.decode()
    everywhere({past.RELAY}, since=now() - timedelta(hours=1))
    page = site.get("/").content.decode()
    assert 'href="/insight/incident/7"' in page
    assert re.search(r"Relay</bdi></a> since", page)
    Incident.objects.update(closed=int(now().timestamp()), state="over")
    assert "Open incidents" not in site.get("/").content.decode()


def test_a_copy_that_cannot_be_read_disturbs_no_transfer(site: Client, mirrored_file: Any) -> None:
    found = transfers(site)[0]
    mirrored_file.write_bytes(b"not a database" * 100)
    assert site.get(f"/intent/{found}").status_code == 200
    assert site.get("/").status_code == 200
