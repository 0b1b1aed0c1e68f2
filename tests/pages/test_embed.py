"""Transfers on other sites: the frame for the configured hosts, and `/oembed`."""

import re
from html import unescape
from typing import Any
from urllib.parse import urlencode
from xml.etree import ElementTree

import pytest
from django.conf import settings
from django.test import Client

from intents_ui.emulator.app import Emulator
from intents_ui.settings import Environment

SWAPPED, REFUNDED = 2, 8
HOSTS = ["https://shop.example", "*.wallet.example"]
UNKNOWN = "0x" + "ab" * 32


# The maximum length of a displayed symbol.
@pytest.fixture
def hosts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr(settings.ENV, "intents_embed_hosts", HOSTS)
    return HOSTS


def id_of(emulator: Emulator, number: int = SWAPPED) -> str:
    return str(emulator.finished(number)["intentId"])


def framed(site: Client, intent_id: str, **headers: str) -> Any:
    return site.get(f"/embed/intent/{intent_id}", headers=headers)


def ancestors(answer: Any) -> str:
    found = re.search(r"frame-ancestors ([^;]+)", answer["Content-Security-Policy"])
    assert found is not None
    return found[1]


def refuses_frames(answer: Any) -> bool:
    """Return whether framing is denied. Browsers ignore X-Frame-Options if the policy has `frame-ancestors`."""
    said = "frame-ancestors" in answer["Content-Security-Policy"]
    return answer["X-Frame-Options"] == "DENY" and (not said or ancestors(answer) == "'none'")


def visible_text(answer: Any) -> str:
    """Return the visible text."""
    body = answer.content.decode().partition("<body")[2]
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", "<body" + body)).split())


def test_a_frame_shows_the_transfers_outcome_and_links_to_its_page(site: Client, emulator: Emulator) -> None:
    intent_id = id_of(emulator, REFUNDED)
    answer = framed(site, intent_id)
    said = visible_text(answer)
    for words in ("Refunded", "In the owner's wallet on Base: 299.", "300.00 USDC", "Base", "Where the funds are"):
        assert words in said
    assert "Demo data" in said
    links = re.findall(r"<a [^>]*>", answer.content.decode())
    assert links == [f'<a href="/intent/{intent_id}" target="_blank" rel="noopener">']


def test_without_hosts_no_site_may_frame_it(site: Client, emulator: Emulator) -> None:
    answer = framed(site, id_of(emulator))
    assert (ancestors(answer), answer["X-Frame-Options"]) == ("'none'", "DENY")


@pytest.mark.parametrize(
    "intent_id", [None, UNKNOWN, "0x12%20", "0X" + "AB" * 32], ids=["there", "unknown", "no id", "elsewhere"]
)
def test_the_configured_hosts_may_frame_it_whatever_its_content(
    site: Client, emulator: Emulator, hosts: list[str], intent_id: str | None
) -> None:
    answer = framed(site, intent_id or id_of(emulator))
    assert ancestors(answer) == "https://shop.example *.wallet.example"
    assert "X-Frame-Options" not in answer
    assert (answer["Cross-Origin-Resource-Policy"], answer["X-Robots-Tag"]) == ("cross-origin", "noindex")


def test_every_site_may_frame_it_if_the_setting_says_so(
    site: Client, emulator: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings.ENV, "intents_embed_hosts", ["*"])
    assert ancestors(framed(site, id_of(emulator))) == "*"


def test_no_other_page_of_the_site_may_be_framed(site: Client, emulator: Emulator, hosts: list[str]) -> None:
    transfer, owner = f"/intent/{id_of(emulator)}", str(emulator.finished(SWAPPED)["ownerAddress"]).lower()
    paths = ["/", "/history", transfer, f"{transfer}/share", f"/address/{owner}", "/console", "/oembed", "/nowhere"]
    paths += ["/api/v1/transfers", "/export/history.csv?to=1", "/history/", "/static/css/theme.css"]
    for path in paths:
        answer = site.get(path)
        assert refuses_frames(answer), path
        answer.close()


@pytest.mark.parametrize(
    ("fault", "status", "words"),
    [
        ("failing-500", 503, "Service error"),
        ("busy-60", 429, "Rate limited by the service"),
        ("not-found", 404, "Not found"),
    ],
)
def test_an_error_is_shown_in_the_frame_with_its_status_code(
    site: Client, emulator: Emulator, hosts: list[str], fault: str, status: int, words: str
) -> None:
    intent_id = id_of(emulator)
    emulator.inject("GetIntent", fault)
    answer = framed(site, intent_id)
    assert answer.status_code == status
    assert words in visible_text(answer)
    assert (ancestors(answer), answer["Cache-Control"]) == (" ".join(hosts), "no-store")
    assert ("Retry-After" in answer) == ('http-equiv="refresh"' in answer.content.decode()) == (status != 404)


def test_a_receipt_that_failed_to_load_is_noted_and_polled_again(site: Client, emulator: Emulator) -> None:
    intent_id = id_of(emulator)
    emulator.inject("GetIntentReceipt", "failing-500")
    answer = framed(site, intent_id)
    assert "Couldn't load progress." in visible_text(answer)
    assert 'id="poll"' in answer.content.decode()


def test_a_frame_polls_only_while_something_can_change(site: Client, emulator: Emulator) -> None:
    moving = emulator.play(SWAPPED)["intentId"]
    page = framed(site, moving).content.decode()
    assert f'hx-get="/embed/intent/{moving}"' in page
    assert '<noscript><meta http-equiv="refresh"' in page
    over = framed(site, id_of(emulator)).content.decode()
    assert "hx-get" not in over
    assert "htmx.min.js" not in over
    assert "http-equiv" not in over


def test_a_refresh_returns_only_the_card_and_ends_the_polling_at_the_end(site: Client, emulator: Emulator) -> None:
    part = {"HX-Request": "true", "HX-Request-Type": "partial"}
    moving = framed(site, str(emulator.play(SWAPPED)["intentId"]), **part).content.decode()
    over = framed(site, id_of(emulator), **part).content.decode()
    assert "<html" not in moving + over
    assert 'hx-target="#poll" hx-swap="delete"' not in moving
    assert 'hx-target="#poll" hx-swap="delete"' in over


# oEmbed


def oembed(site: Client, **query: str | int) -> Any:
    return site.get(f"/oembed?{urlencode(query)}")


def page_of(emulator: Emulator, number: int = REFUNDED) -> str:
    return f"http://testserver/intent/{id_of(emulator, number)}"


@pytest.fixture(autouse=True)
def a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "ALLOWED_HOSTS", ["testserver"])


def test_oembed_returns_the_embed_code_of_a_transfer(site: Client, emulator: Emulator, hosts: list[str]) -> None:
    answer = oembed(site, url=page_of(emulator))
    fields = answer.json()
    assert answer["Content-Type"].startswith("application/json")
    assert (fields["version"], fields["type"], fields["provider_name"]) == ("1.0", "rich", "Intents")
    assert fields["title"] == "Refunded · In the owner's wallet on Base: 299.954 USDC"
    frame = ElementTree.fromstring(fields["html"].replace(" loading", " data-loading"))  # noqa: S314 - our own words
    assert frame.tag == "iframe"
    assert frame.attrib["src"] == f"http://testserver/embed/intent/{id_of(emulator, REFUNDED)}"
    assert frame.attrib["title"] == fields["title"]
    assert (frame.attrib["width"], frame.attrib["height"]) == (str(fields["width"]), str(fields["height"]))
    assert fields["thumbnail_url"] == page_of(emulator) + "/card.png"
    assert (fields["thumbnail_width"], fields["thumbnail_height"]) == (1200, 630)
    assert fields["cache_age"] == 3600


def test_without_embed_hosts_oembed_returns_a_link(site: Client, emulator: Emulator) -> None:
    fields = oembed(site, url=page_of(emulator)).json()
    assert fields["type"] == "link"
    assert fields.keys().isdisjoint({"html", "width", "height"})
    assert fields["thumbnail_url"]


@pytest.mark.parametrize(
    ("query", "status"),
    [
        pytest.param({}, 400, id="no url"),
        pytest.param({"url": "{page}", "maxwidth": "0"}, 400, id="no room"),
        pytest.param({"url": "{page}", "format": "yaml"}, 501, id="another format"),
        pytest.param({"url": "https://elsewhere.example/intent/" + UNKNOWN}, 404, id="another site"),
        pytest.param({"url": "http://testserver@elsewhere.example/intent/" + UNKNOWN}, 404, id="a user of that name"),
        pytest.param({"url": "http://testserver/intent/" + UNKNOWN}, 404, id="unknown"),
        pytest.param({"url": "javascript:alert(1)"}, 404, id="a script"),
    ],
)
def test_invalid_oembed_requests_get_the_standards_status_code(
    site: Client, emulator: Emulator, query: dict[str, str], status: int
) -> None:
    query = {name: value.replace("{page}", page_of(emulator)) for name, value in query.items()}
    assert oembed(site, **query).status_code == status


# INTENTS_EMBED_HOSTS


@pytest.mark.parametrize(
    "value", ["http://shop.example", "https://shop.example/x", "shop.example; script-src *", "'self'", "https:"]
)
def test_embed_hosts_that_no_policy_can_contain_are_rejected(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("INTENTS_EMBED_HOSTS", value)
    with pytest.raises(ValueError, match="must be host names, https origins"):
        Environment()
