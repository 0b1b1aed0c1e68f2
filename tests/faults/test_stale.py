"""Stale pages: the last known snapshot, its age, and the reason, when the service fails after responding.

The clock is moved so far that no answer passes for a new one.
"""

import html
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from selectolax.lexbor import LexborHTMLParser

from intents_ui.live.snapshot import Snapshot
from intents_ui.web import intent
from tests.faults.site import Dashboard
from tests.faults.upstream import STATUSES, TRANSPORT
from tests.pages.reading import PARTIAL
from tests.service.scripted_server import Script

LATER = 400.0  # seconds: older than what is shown while a newer answer comes, younger than what is not shown any more
FAULTS: dict[str, Script] = {**TRANSPORT, **STATUSES}
# Pages all of whose responses may be shown for so long.
PAGES = ["home", "history", "address with a filter", "intent running", "intent quoted"]
# Old data is only shown if the service fails: an error response about the request is not a failure.
FAILING = [
    *(pytest.param("502 with a page", name, id=name) for name in PAGES),
    *(
        pytest.param(fault, "intent running", id=fault)
        for fault in ("reset in the body", "a redirect", "no JSON", "slow down", "paused", "no credentials")
    ),
]


def opened_twice(dashboard: Dashboard, path: str, fault: str = "502 with a page", **how: Any) -> tuple[Any, Any]:
    """Return a fresh page, and the same page later, when the service fails."""
    fresh = dashboard.open(path, **how)
    dashboard.later(LATER)
    dashboard.service.inject(FAULTS[fault])
    return fresh, dashboard.visit(path, **how)


def note_of(answer: Any) -> str:
    place = LexborHTMLParser(answer.body).css_first("#old-answers")
    return " ".join(place.text(separator=" ").split()) if place else ""


@pytest.mark.parametrize(("fault", "name"), FAILING)
def test_the_last_known_snapshot_is_shown_with_its_age_and_the_reason(dashboard, paths, fault, name):
    before, after = opened_twice(dashboard, paths[name], fault)
    assert (note_of(before), "Age" in before) == ("", False), "it is fresh"
    assert (before.status_code, after.status_code) == (200, 200)
    note = note_of(after)
    assert re.match(r"Last updated \d\d:\d\d UTC \( 6 min ago \): [^.]+\. [^.]+\. Retrying ", note)
    assert html.unescape(after.body).count(note.partition("): ")[2]) == 1
    assert 380 <= int(after["Age"]) <= 420
    assert after["Cache-Control"] in ("private, no-cache", "no-store")
    headings = [
        [each.text() for each in LexborHTMLParser(page.body).css("main h1, main h2")] for page in (before, after)
    ]
    assert headings[0] == headings[1]
    again = dashboard.visit(paths[name])
    assert note_of(again).partition(".")[0] == note.partition(".")[0], "the next reader sees it, too"


def test_the_age_of_a_page_is_that_of_its_oldest_response(dashboard, paths):
    dashboard.open(paths["intent running"])
    dashboard.later(LATER / 2)
    dashboard.visit(f"{paths['intent running']}/balances")  # requests the intent again, but not its receipt
    dashboard.later(LATER / 2)
    dashboard.service.inject(FAULTS["502 with a page"])
    answer = dashboard.visit(paths["intent running"])
    assert 380 <= int(answer["Age"]) <= 420
    assert "6 min ago" in note_of(answer)


def test_staleness_is_announced_politely_and_without_a_running_clock(dashboard, paths):
    page = LexborHTMLParser(dashboard.open(paths["home"]).body)
    assert page.css_first("#old-said").attributes["aria-live"] == "polite"
    assert not page.css("[aria-live] [data-ago]")
    dashboard.later(LATER)
    dashboard.service.inject(FAULTS["502 with a page"])
    looks = [dashboard.visit("/newest", headers=PARTIAL).body for _ in range(2)]
    said = [re.search(r'"#old-said" hx-swap="innerMorph">(.+?)</hx-partial>', look)[1] for look in looks]
    assert re.fullmatch(r"Last updated \d\d:\d\d UTC: transfer list\. Service error\.", said[0])
    assert "ago" not in said[1]


def test_a_stale_response_is_served_without_new_requests(dashboard, paths):
    """The service is tried again every few seconds at most. Otherwise, these pages would send 20 requests."""
    opened_twice(dashboard, paths["intent running"], "500 with nothing")
    asked = len(dashboard.service.requested("GetIntent", "GetIntentReceipt"))
    for _ in range(10):
        assert dashboard.visit(paths["intent running"]).status_code == 200
    assert len(dashboard.service.requested("GetIntent", "GetIntentReceipt")) < asked + 10


# A list finds out by HX-Current-URL that it is its whole page.
@pytest.mark.parametrize("name", ["history", "intent running", "home"])
def test_a_stale_fragment_updates_the_notice_of_its_page(dashboard, paths, name):
    path = {"home": "/newest", "intent running": f"{paths['intent running']}/receipt"}.get(name, paths[name])
    page = {"HX-Current-URL": f"http://testserver{paths[name]}"} if path == paths[name] else {}
    fresh, old = opened_twice(dashboard, path, headers=PARTIAL | page)
    assert '<hx-partial hx-target="#old-answers" hx-swap="innerHTML"></hx-partial>' in fresh.body
    assert old.status_code == 200
    assert int(old["Content-Length"]) == len(old.content)
    result = re.search(r'<hx-partial hx-target="#old-answers" hx-swap="innerHTML">(.+?)</hx-partial>', old.body, re.S)
    assert result
    assert "6 min ago" in result[1]


def test_a_fresh_part_keeps_the_notice_of_its_page_and_clears_its_own(dashboard, paths):
    fresh, stale = (each.body for each in opened_twice(dashboard, paths["route stats"], headers=PARTIAL))
    assert "old-answers" not in fresh
    assert '<hx-partial hx-target="#old-route-stats" hx-swap="delete"></hx-partial>' in fresh
    assert "old-parts" not in fresh
    assert "old-answers" not in stale
    note = re.search(
        r'"#old-parts" hx-swap="beforeend"><div id="old-route-stats">(.+?)</div></hx-partial>', stale, re.S
    )
    assert note
    assert "6 min ago" in note[1]


def test_the_stream_of_a_transfer_opened_during_an_outage_shows_what_the_page_shows(dashboard, paths):
    shown = r'Updated <time datetime="([^"]+)"'
    page = opened_twice(dashboard, paths["intent running"])[1].body
    unanswered = Snapshot(paths["intent running"].rpartition("/")[2], None, learned_at=None)
    live = intent.receipt_fragment(unanswered.stale(datetime.now(UTC)))
    [in_page], [in_stream] = (re.findall(shown, each) for each in (page, live))
    assert abs(datetime.fromisoformat(in_stream) - datetime.fromisoformat(in_page)) < timedelta(seconds=1)
    assert [each.text() for each in LexborHTMLParser(live).css("h1, h2, .answer-basis")] == [
        each.text() for each in LexborHTMLParser(page).css("#receipt :is(h1, h2, .answer-basis)")
    ]
    assert "No response from the service since" in live
    assert ">Live</span>" not in live


def test_a_snapshot_after_recovery_is_fresh(dashboard, paths):
    assert note_of(opened_twice(dashboard, paths["intent running"])[1])
    dashboard.service.clear_faults()
    dashboard.later(40)
    for _ in range(3):  # the first of them may be the one that tries
        answer = dashboard.visit(paths["intent running"])
        dashboard.later(6)
    assert note_of(answer) == ""
    assert "Age" not in answer


# By the end of an intent's address.
SAID = {
    ".json": ',"as_of":"2026-11-21T11:5',
    "/feed.atom": "Last updated 2026-11-21 11:5",
}


def test_files_feeds_and_embeds_show_their_age_too(dashboard, paths):
    intent, owner = paths["intent running"], paths["address"]
    files = [f"{intent}{end}" for end in (".json", "/raw/intent.json", "/raw/receipt.json", "/card.png",
                                          "/feed.atom")]  # fmt: skip
    files += [f"{owner}/feed.atom", f"/embed{intent}"]
    for path in files:
        dashboard.service.clear_faults()
        fresh, answer = opened_twice(dashboard, path)
        assert "Age" not in fresh, path
        said = SAID.get(path.removeprefix(intent), "")
        assert not said or said not in fresh.body, path
        assert (path, answer.status_code) == (path, 200)
        assert 380 <= int(answer["Age"]) <= 420, path
        assert said in answer.body, path
        if path.endswith(".png"):
            assert answer["ETag"] != fresh["ETag"], "what it says is drawn"


def test_an_export_is_made_of_fresh_responses_or_fails(dashboard, paths):
    path = f"/export{paths['address']}.csv"
    assert dashboard.open(path).status_code == 200
    dashboard.service.inject(FAULTS["502 with a page"])
    assert dashboard.visit(path).status_code == 503


def test_an_earlier_on_chain_check_is_not_presented_as_current(dashboard, paths):
    before = dashboard.open(paths["balances"])
    dashboard.later(100.0)
    dashboard.service.inject(FAULTS["502 with a page"])
    after = dashboard.visit(paths["balances"])
    assert (before.status_code, after.status_code) == (200, 200)
    checked = r'Checked <time datetime="([^"]+)"'
    assert re.search(checked, before.body)
    found = re.search(checked, after.body)
    assert found
    assert "1 min ago" in note_of(after)
    updated = re.search(r'Last updated <time datetime="([^"]+)"', after.body)
    assert datetime.fromisoformat(found[1]) <= datetime.fromisoformat(updated[1])


BANNER = "The service is paused."


def banner(answer: Any) -> str:
    found = LexborHTMLParser(answer.body).css(".banner")
    return " ".join(each.text() for each in found)


def test_a_pause_by_the_operator_is_on_every_page_until_it_is_over(dashboard, paths):
    _, answer = opened_twice(dashboard, paths["intent running"], "paused")
    assert answer.status_code == 200
    assert BANNER in banner(answer)
    assert "this transfer. Service paused." in note_of(answer)
    for name in ("help", "saved", "triage", "demo", "chains", "home", "history"):
        assert BANNER in banner(dashboard.visit(paths[name])), name
    dashboard.later(31)
    assert BANNER not in banner(dashboard.visit(paths["help"])), "it expires without new requests"
    dashboard.service.clear_faults()
    answer = dashboard.visit(paths["history"])
    assert answer.status_code == 200
    assert BANNER not in banner(answer)
