"""A transfer that is a part of an incident says so on its page, in triage and in replies, and no other one does."""

import re
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest
from django.test import Client
from django.utils.html import strip_tags

from intents_ui import wiring
from intents_ui.display.search.identifiers import read as read_pasted
from intents_ui.emulator.app import Emulator
from intents_ui.mirror.entry import RouteKey
from intents_ui.settings import ENV
from intents_ui.web.transfers import situations
from intents_ui.web.triage import answers
from tests.mirror import ledgers, past

pytestmark = pytest.mark.usefixtures("still")

SENTENCE = re.compile(
    r"Part of an incident: LI\.FI, Base → Arbitrum One, not delivered in time since 2026-11-21 11:\d\d:\d\d UTC\."
)


def played(emulator: Emulator, slug: str = "refunded-on-origin", *, age: int = 600) -> str:
    """Return a transfer that is as old."""
    return str(emulator.play(slug, age=age)["intentId"])


def failing(key: RouteKey, *, was: bool = False) -> None:
    """Let the mirror's process have found an incident of this route, which began 40 minutes ago or is over."""
    now = datetime.now(UTC)
    ledgers.whole(now, days=2)
    ledgers.present(now)
    past.write(now, days=2, per_hour=1, routes=[key])
    past.add(past.ending(now - timedelta(hours=2) if was else now, key=key, good=10, bad=20, minutes=40))
    past.add(past.ending(now, key=key, good=60 if was else 0, bad=0, minutes=118))
    past.judge(now, minutes=165 if was else 42)


def key_of(intent_id: str) -> RouteKey:
    return RouteKey(*situations.read(intent_id).facts.route)


def shown(site: Client, intent_id: str) -> dict[str, bool]:
    """Return whether each surface says that the transfer is a part of the incident."""
    page = site.get(f"/intent/{intent_id}").content.decode()
    reply = site.get(f"/intent/{intent_id}/reply").content.decode()
    (finding,) = read_pasted(intent_id).lookups
    row = answers.answer(answers.ClientService(wiring.service()), 1, finding, answers.resolved)
    return {
        "page": bool(SENTENCE.search(unescape(strip_tags(page)))),
        "linked": 'href="/insight/incident/1"' in page.partition("<main")[2],
        "fragment": "Part of an incident" in site.get(f"/intent/{intent_id}/receipt").content.decode(),
        "reply": "Known incident: LI.FI" in unescape(reply),
        "API": bool(site.get(f"/api/v1/transfers/{intent_id}").json()["summary"]["incident"]),
        "triage": any(map(SENTENCE.fullmatch, row.details)),
    }


@pytest.mark.usefixtures("mirrored")
def test_all_surfaces_agree_about_the_incident(
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


@pytest.mark.usefixtures("mirrored")
def test_no_surface_speaks_of_an_incident_that_is_over(site: Client, emulator: Emulator) -> None:
    failed = played(emulator)
    failing(key_of(failed), was=True)
    assert not any(shown(site, failed).values())
