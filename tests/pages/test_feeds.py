"""Feeds, parsed and validated by the rules of Atom, also during failures."""

import re
from datetime import datetime
from html import unescape
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest
import time_machine
from django.test import Client

from intents_ui.emulator.app import Emulator
from intents_ui.web import feeds

SWAPPED, REFUNDED, EXPIRED = 2, 8, 5
ATOM = "{http://www.w3.org/2005/Atom}"
UNKNOWN = "0x" + "ab" * 32


def intent_path(emulator: Emulator, number: int = REFUNDED) -> str:
    return f"/intent/{emulator.finished(number)['intentId']}"


def owner_path(emulator: Emulator) -> str:
    return f"/address/{str(emulator.finished(SWAPPED)['ownerAddress']).lower()}"


def atom(site: Client, path: str) -> Element:
    """Return the feed after validating it by RFC 4287."""
    answer = site.get(f"{path}/feed.atom")
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/atom+xml; charset=utf-8")
    feed = ElementTree.fromstring(answer.content)  # noqa: S314 - it is our own
    assert feed.tag == f"{ATOM}feed"
    ids = [each.text for each in feed.iter(f"{ATOM}id")]
    assert len(ids) == len(set(ids))
    assert all(each and each.startswith("urn:uuid:") for each in ids)
    assert feed.findtext(f"{ATOM}author/{ATOM}name")
    links = {each.get("rel"): each.get("href") for each in feed.findall(f"{ATOM}link")}
    assert links == {"self": f"http://testserver{path}/feed.atom", "alternate": f"http://testserver{path}"}
    for each in (feed, *feed.findall(f"{ATOM}entry")):
        assert each.findtext(f"{ATOM}title")
        assert datetime.fromisoformat(str(each.findtext(f"{ATOM}updated"))).tzinfo
    return feed


def items(site: Client, path: str) -> list[dict[str, str]]:
    """Return the fields of each entry, and its paragraphs as one text."""
    return [
        {
            **{name: str(each.findtext(f"{ATOM}{name}")) for name in ("id", "title", "published", "updated")},
            "url": str(each.find(f"{ATOM}link").get("href")),  # type: ignore[union-attr]
            "text": unescape(re.sub("</?p>", "\n", str(each.findtext(f"{ATOM}summary")))),
        }
        for each in atom(site, path).findall(f"{ATOM}entry")
    ]


def titles(feed: Element) -> list[str]:
    return [str(each.findtext(f"{ATOM}title")) for each in feed.findall(f"{ATOM}entry")]


@pytest.fixture(autouse=True)
def named(settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["testserver"]


def test_a_transfers_feed_has_an_entry_for_each_step_and_for_the_end(site, emulator):
    feed = atom(site, intent_path(emulator))
    assert [title.split(" · ")[0] for title in titles(feed)] == [
        "Refunded", "Refund", "Origin failed", "Deposit", "Accepted", "Quoted",
    ]  # fmt: skip
    end = feed.find(f"{ATOM}entry")
    assert end is not None
    summary = str(end.findtext(f"{ATOM}summary"))
    assert summary.startswith("<p>The transfer failed and was refunded on Base")
    moments = [str(each.findtext(f"{ATOM}updated")) for each in feed.findall(f"{ATOM}entry")]
    assert moments == sorted(moments, reverse=True)
    assert feed.findtext(f"{ATOM}updated") == moments[0]


def test_an_event_adds_an_entry_and_leaves_the_others_unchanged(site, emulator):
    with time_machine.travel("2026-11-21T12:00:00Z", tick=False) as clock:
        path = f"/intent/{emulator.play(SWAPPED)['intentId']}"
        seen: dict[str, tuple[str, str]] = {}
        for _ in range(30):
            for item in items(site, path):
                result = (item["title"].split(" · ")[0], item["published"])
                assert seen.setdefault(item["id"], result) == result
            clock.shift(4)
    steps = [title for title, _ in sorted(seen.values(), key=lambda result: result[1])]
    assert steps[:5] == ["Quoted", "Accepted", "Accepted", "Deposit", "Origin"]  # accepted, then started
    assert sorted(steps[5:]) == ["Destination", "Succeeded"]


def test_an_expired_quote_has_an_entry_with_its_expiration_time(site, emulator):
    found = items(site, intent_path(emulator, EXPIRED))
    assert [item["title"].split(" · ")[0] for item in found] == ["Quote expired", "Quoted"]
    ended = datetime.fromisoformat(found[0]["updated"])
    assert f"{ended:%Y-%m-%d %H:%M:%S} UTC" in found[1]["text"]


def test_an_owners_feed_has_the_newest_transfers_with_their_current_status(site, emulator):
    with time_machine.travel("2026-11-21T12:00:00Z", tick=False) as clock:
        intent = emulator.play(SWAPPED)
        path = f"/address/{str(intent['ownerAddress']).lower()}"
        before = items(site, path)
        mine = next(item for item in before if item["url"].endswith(str(intent["intentId"])))
        assert mine["title"].startswith("Quoted")
        clock.shift(600)
        later = next(item for item in items(site, path) if item["id"] == mine["id"])
    assert later["title"].startswith("Succeeded")
    assert later["published"] == mine["published"]
    assert later["updated"] > mine["updated"]
    assert 0 < len(before) <= feeds.MOST
    assert [item["published"] for item in before] == sorted((i["published"] for i in before), reverse=True)


@pytest.mark.parametrize("path", [intent_path, owner_path])
def test_an_unchanged_feed_is_a_304(site, emulator, path):
    url = f"{path(emulator)}/feed.atom"
    first = site.get(url)
    assert first["X-Robots-Tag"] == "noindex"
    by_tag = site.get(url, headers={"If-None-Match": first["ETag"]})
    by_time = site.get(url, headers={"If-Modified-Since": first["Last-Modified"]})
    assert [(each.status_code, each.content) for each in (by_tag, by_time)] == [(304, b"")] * 2
    assert site.get(url, headers={"If-None-Match": '"another"'}).status_code == 200


@pytest.mark.parametrize(
    "path", [f"/intent/{UNKNOWN}", "/intent/%20", "/address/0x12", "/address/0x" + "0" * 40, "/address/" + "e" * 40]
)
def test_an_unknown_transfer_has_no_feed(site, emulator, path):
    assert site.get(f"{path}/feed.atom", follow=True).status_code == 404
