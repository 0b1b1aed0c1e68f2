"""Sharing: link previews, the card, the QR code, and the frame for the configured hosts."""

import html
import re
from typing import Any
from xml.etree import ElementTree

import pytest
import time_machine
from django.conf import settings
from django.test import Client

from intents_ui.emulator.app import Emulator
from intents_ui.service.client import InProcessTransport
from intents_ui.share import views
from tests.service.pictures import opened

SWAPPED, BRIDGED, REFUNDED, TRAP, RETURN_FAILED = 1, 2, 8, 18, 25
UNKNOWN = "0x" + "5" * 64
SVG = "{http://www.w3.org/2000/svg}"


def tags(page: str) -> dict[str, str]:
    found = re.findall(r'<meta (?:property|name)="([^"]+)" content="([^"]*)">', page)
    return {name: html.unescape(content) for name, content in found}


def preview_tags(site: Client, emulator: Emulator, number: int | str) -> dict[str, str]:
    return tags(site.get(f"/intent/{emulator.finished(number)['intentId']}").content.decode())


@pytest.mark.parametrize(
    ("number", "title", "inside"),
    [
        pytest.param(REFUNDED, r"Refunded · In the owner's wallet on Base: 299\.\d+ USDC", "300.00 USDC", id="back"),
        pytest.param(SWAPPED, r"Succeeded · Swap complete · .*: 0\.\d+ ETH", "25.00 USDC on Base →", id="succeeded"),
        pytest.param(RETURN_FAILED, r"Refund failed · .*: 150\.00 USDC", "At the deposit", id="failed"),
        pytest.param(TRAP, r"Failed · Funds likely refunded", "looks like USDC", id="look-alike"),
    ],
)  # fmt: skip
def test_the_link_preview_shows_the_status(site, emulator, number, title, inside):
    intent_id = emulator.finished(number)["intentId"]
    found = preview_tags(site, emulator, number)
    assert re.fullmatch(title, found["og:title"])
    assert found["description"] == found["og:description"]
    assert inside in found["description"]
    assert len(found["description"]) <= 300
    assert found["og:url"] == f"http://testserver/intent/{intent_id}"
    assert found["og:image"].startswith(f"http://testserver/intent/{intent_id}/card.png?v=")
    assert found["og:image:alt"].startswith(found["og:title"].partition(" · ")[0])
    assert found["twitter:card"] == "summary_large_image"


def card_of(site: Client, emulator: Emulator, number: int, **headers: str) -> Any:
    return site.get(f"/intent/{emulator.finished(number)['intentId']}/card.png", headers=headers)


def test_a_card_is_an_image_that_other_sites_may_embed(site, emulator):
    answer = card_of(site, emulator, REFUNDED)
    assert (answer.status_code, answer["Content-Type"]) == (200, "image/png")
    assert opened(answer.content).size == (1200, 630)
    assert answer["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert answer["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'; sandbox"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert "Set-Cookie" not in answer


def test_an_unchanged_card_is_a_304(site, emulator, monkeypatch):
    first = card_of(site, emulator, REFUNDED)
    monkeypatch.setattr(views, "draw", lambda *_: pytest.fail("it was drawn again"))
    assert card_of(site, emulator, REFUNDED).content == first.content
    again = card_of(site, emulator, REFUNDED, **{"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", first["ETag"])


def test_a_card_that_waits_for_others_is_answered_without_an_image(site, emulator, monkeypatch):
    monkeypatch.setattr(views, "PATIENCE_SECONDS", 0.01)
    with views.RENDERING:
        answer = card_of(site, emulator, REFUNDED)
    assert (answer.status_code, answer["Retry-After"], answer["Cache-Control"]) == (503, "2", "no-store")
    assert opened(card_of(site, emulator, REFUNDED).content).size == (1200, 630)


def test_a_changed_status_changes_the_card(site, emulator):
    with time_machine.travel("2026-11-21T12:00:00Z") as clock:
        path = f"/intent/{emulator.play(SWAPPED)['intentId']}/card.png"
        offered = site.get(path)
        clock.shift(24 * 60 * 60)
        later = site.get(path)
    assert offered["Cache-Control"] == "public, max-age=15"
    assert later["Cache-Control"] == "public, max-age=3600"
    assert offered["ETag"] != later["ETag"]
    assert opened(offered.content).tobytes() != opened(later.content).tobytes()


def drawing_in(svg: bytes) -> ElementTree.Element:
    return ElementTree.fromstring(svg)  # noqa: S314 - it is our own


def test_a_qr_code_sends_no_request(site, monkeypatch):
    monkeypatch.setattr(InProcessTransport, "handle_request", lambda *_: pytest.fail("a request to the service"))
    first, other = (site.get(f"/intent/0x{digit * 64}/qr.svg") for digit in "12")
    assert (first.status_code, first["Content-Type"]) == (200, "image/svg+xml")
    assert first.content != other.content
    assert b"style" not in first.content
    assert drawing_in(first.content).tag == f"{SVG}svg"
    again = site.get(f"/intent/0x{'1' * 64}/qr.svg", headers={"If-None-Match": first["ETag"]})
    assert (again.status_code, first["Cache-Control"]) == (304, "public, max-age=86400")


# Frames on other sites

HOSTS = ["https://shop.example", "*.wallet.example"]


@pytest.fixture
def hosts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr(settings.ENV, "intents_embed_hosts", HOSTS)
    return HOSTS


def id_of(emulator: Emulator, number: int = BRIDGED) -> str:
    return str(emulator.finished(number)["intentId"])


def framed(site: Client, intent_id: str, **headers: str) -> Any:
    return site.get(f"/embed/intent/{intent_id}", headers=headers)


def ancestors(answer: Any) -> str:
    found = re.search(r"frame-ancestors ([^;]+)", answer["Content-Security-Policy"])
    assert found is not None
    return found[1]


def test_without_hosts_no_site_may_frame_it(site, emulator):
    answer = framed(site, id_of(emulator))
    assert (ancestors(answer), answer["X-Frame-Options"]) == ("'none'", "DENY")


@pytest.mark.parametrize(
    "intent_id", [None, UNKNOWN, "0x12%20", "0X" + "AB" * 32], ids=["there", "unknown", "no id", "elsewhere"]
)
def test_the_configured_hosts_may_frame_it_whatever_its_content(site, emulator, hosts, intent_id):
    known = id_of(emulator)
    for fault in ("extra-fields", "failing-500", "busy-60"):
        emulator.inject("GetIntent", fault)
        answer = framed(site, intent_id or known)
        assert ancestors(answer) == " ".join(hosts)
        assert "X-Frame-Options" not in answer
        assert (answer["Cross-Origin-Resource-Policy"], answer["X-Robots-Tag"]) == ("cross-origin", "noindex")


def test_every_site_may_frame_it_if_the_setting_says_so(site, emulator, monkeypatch):
    monkeypatch.setattr(settings.ENV, "intents_embed_hosts", ["*"])
    assert ancestors(framed(site, id_of(emulator))) == "*"
