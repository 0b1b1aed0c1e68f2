"""Transfers on other sites: the frame for the configured hosts, and `/oembed`."""

import re
from html import unescape
from typing import Any
from urllib.parse import urlencode
from xml.etree import ElementTree

import pytest
from django.conf import settings
from django.test import Client
from django.urls import URLPattern

from intents_ui.emulator.app import Emulator
from intents_ui.service.queries import transfers
from intents_ui.settings import Environment
from tests.pages.recorded import recorded
from tests.url_patterns import url_patterns

SWAPPED, REFUNDED = 2, 8
HOSTS = ["https://shop.example", "*.wallet.example"]
UNKNOWN = "0x" + "ab" * 32
ELSEWHERE = "0x" + "66" * 20
# The maximum length of a displayed symbol.
HOSTILE = '\u202e"><i>]]>'


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


def test_a_frame_has_no_form_and_sets_no_cookie(site: Client, emulator: Emulator, hosts: list[str]) -> None:
    answer = framed(site, id_of(emulator))
    assert "<form" not in answer.content.decode()
    assert "Set-Cookie" not in answer
    assert "form-action 'none'" in answer["Content-Security-Policy"]


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


@pytest.mark.parametrize("pattern", [each for each in url_patterns() if each.name != "embed"], ids=str)
def test_no_other_page_of_the_site_may_be_framed(
    site: Client, emulator: Emulator, hosts: list[str], pattern: URLPattern
) -> None:
    """Each URL is requested with an existing transfer or address, whatever it returns."""
    known = {"intent_id": id_of(emulator), "address": str(emulator.finished(SWAPPED)["ownerAddress"]).lower()}
    path = "/" + re.sub(r"<\w+:(\w+)>", lambda found: known.get(found[1], "1"), str(pattern.pattern))
    assert refuses_frames(site.get(path))


@pytest.mark.parametrize("path", ["/nowhere", "/history/", "/static/css/theme.css", "/static/img/mark.svg"])
def test_error_pages_may_not_be_framed(site: Client, emulator: Emulator, hosts: list[str], path: str) -> None:
    answer = site.get(path)
    assert refuses_frames(answer)
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


@pytest.mark.usefixtures("response_cache")
def test_many_frames_cost_the_service_one_request(
    site: Client, emulator: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    intent_id = id_of(emulator)
    with recorded(emulator, monkeypatch) as service:
        for _ in range(5):
            assert framed(site, intent_id).status_code == 200
    assert len(service.requests("GetIntent")) == len(service.requests("GetIntentReceipt")) == 1


def test_a_spoofed_token_is_marked_in_the_frame(site: Client, emulator: Emulator) -> None:
    marked = [
        number for number in range(1, 31) if 'class="marks"' in framed(site, id_of(emulator, number)).content.decode()
    ]
    assert marked != []


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


def test_oembed_returns_the_same_fields_as_xml(site: Client, emulator: Emulator, hosts: list[str]) -> None:
    answer = oembed(site, url=page_of(emulator), format="xml")
    assert answer["Content-Type"].startswith("text/xml")
    document = ElementTree.fromstring(answer.content)  # noqa: S314 - it is our own
    assert document.tag == "oembed"
    fields = {name: str(value) for name, value in oembed(site, url=page_of(emulator)).json().items()}
    assert {each.tag: each.text for each in document} == fields


def test_without_embed_hosts_oembed_returns_a_link(site: Client, emulator: Emulator) -> None:
    fields = oembed(site, url=page_of(emulator)).json()
    assert fields["type"] == "link"
    assert fields.keys().isdisjoint({"html", "width", "height"})
    assert fields["thumbnail_url"]


@pytest.mark.parametrize(
    ("room", "size"),
    [
        ({}, (480, 440)),
        ({"maxwidth": 2000, "maxheight": 2000}, (480, 440)),
        ({"maxwidth": 320}, (320, 600)),
        ({"maxheight": 200}, (480, 200)),
    ],
)
def test_oembed_respects_the_maximum_size(
    site: Client, emulator: Emulator, hosts: list[str], room: dict[str, int], size: tuple[int, int]
) -> None:
    fields = oembed(site, url=page_of(emulator), **room).json()
    assert (fields["width"], fields["height"]) == size
    assert ("thumbnail_url" in fields) == (room.get("maxwidth", 1200) >= 1200 and room.get("maxheight", 630) >= 630)


@pytest.mark.parametrize(
    ("query", "status"),
    [
        pytest.param({}, 400, id="no url"),
        pytest.param({"url": "{page}", "maxwidth": "0"}, 400, id="no room"),
        pytest.param({"url": "{page}", "maxheight": "-5"}, 400, id="less than no room"),
        pytest.param({"url": "{page}", "maxwidth": "wide"}, 400, id="no number"),
        pytest.param({"url": "{page}", "maxwidth": "²"}, 400, id="another digit"),
        pytest.param({"url": "{page}", "format": "yaml"}, 501, id="another format"),
        pytest.param({"url": "https://elsewhere.example/intent/" + UNKNOWN}, 404, id="another site"),
        pytest.param({"url": "http://testserver@elsewhere.example/intent/" + UNKNOWN}, 404, id="a user of that name"),
        pytest.param({"url": "http://testserver:8080/intent/" + UNKNOWN}, 404, id="another port"),
        pytest.param({"url": "http://testserver/history"}, 404, id="another page"),
        pytest.param({"url": "http://testserver/intent/" + UNKNOWN}, 404, id="unknown"),
        pytest.param({"url": "http://testserver/intent/%20"}, 404, id="no id"),
        pytest.param({"url": "javascript:alert(1)"}, 404, id="a script"),
        pytest.param({"url": "http://[::1"}, 404, id="no address"),
        pytest.param({"url": "{page}" + "?" + "x" * 3000}, 404, id="too long"),
    ],
)
def test_invalid_oembed_requests_get_the_standards_status_code(
    site: Client, emulator: Emulator, query: dict[str, str], status: int
) -> None:
    query = {name: value.replace("{page}", page_of(emulator)) for name, value in query.items()}
    assert oembed(site, **query).status_code == status


@pytest.mark.parametrize("way", ["/intent/{id}?tx=0x1", "/i/{id}", "/intents/{ID}", "/embed/intent/{id}"])
def test_oembed_accepts_every_url_of_a_transfer(site: Client, emulator: Emulator, hosts: list[str], way: str) -> None:
    intent_id = id_of(emulator)
    link = "http://testserver" + way.format(id=intent_id, ID=intent_id.upper())
    assert f"/embed/intent/{intent_id}" in oembed(site, url=link).json()["html"]


@pytest.mark.parametrize("operation", ["GetIntent", "GetIntentReceipt"])
def test_an_unavailable_service_gives_no_oembed_title(site: Client, emulator: Emulator, operation: str) -> None:
    link = page_of(emulator)
    emulator.inject(operation, "failing-500")
    answer = oembed(site, url=link)
    assert (answer.status_code, answer["Retry-After"]) == (503, "10")


def test_a_transfer_page_links_to_oembed(site: Client, emulator: Emulator) -> None:
    intent_id = id_of(emulator)
    page = site.get(f"/intent/{intent_id}").content.decode()
    for kind in ("application/json+oembed", "text/xml+oembed"):
        found = re.search(rf'<link rel="alternate" type="{re.escape(kind)}" href="([^"]+)"', page)
        assert found is not None
        fields = site.get(unescape(found[1]).removeprefix("http://testserver"))
        assert fields.status_code == 200
        assert ("json" in fields["Content-Type"]) == ("json" in kind)


def test_hostile_names_stay_text(
    site: Client, emulator: Emulator, hosts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    read = transfers.read

    def renamed(*given: Any) -> Any:
        found, receipt, trouble = read(*given)
        assert receipt is not None
        assert receipt.summary is not None
        assert receipt.summary.destination_token_metadata is not None
        named = {"symbol": HOSTILE, "token_address": ELSEWHERE}
        token = receipt.summary.destination_token_metadata.model_copy(update=named)
        changed = {"destination_token_metadata": token, "destination_token_address": ELSEWHERE}
        summary = receipt.summary.model_copy(update=changed)
        return found, receipt.model_copy(update={"summary": summary}), trouble

    monkeypatch.setattr(transfers, "read", renamed)
    page = framed(site, id_of(emulator)).content.decode()
    assert '⟨U+202E⟩"><i>]]>' in unescape(page)
    assert '"><i>' not in page
    answers = [oembed(site, url=page_of(emulator, SWAPPED), format=kind) for kind in ("json", "xml")]
    fields = answers[0].json()
    document = ElementTree.fromstring(answers[1].content)  # noqa: S314 - it is our own
    assert document.findtext("title") == fields["title"]
    assert document.findtext("html") == fields["html"]
    assert '⟨U+202E⟩"><i>]]>' in fields["title"]
    assert '"><i>' not in fields["html"]


# INTENTS_EMBED_HOSTS


@pytest.mark.parametrize(
    "value", ["shop.example", "https://shop.example:8443", "*.shop.example", "*", "127.0.0.1:8000", ""]
)
def test_embed_hosts_are_hosts_or_https_origins(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("INTENTS_EMBED_HOSTS", value)
    assert Environment().intents_embed_hosts == [word for word in [value] if word]


@pytest.mark.parametrize(
    "value", ["http://shop.example", "https://shop.example/x", "shop.example; script-src *", "'self'", "https:"]
)
def test_embed_hosts_that_no_policy_can_contain_are_rejected(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("INTENTS_EMBED_HOSTS", value)
    with pytest.raises(ValueError, match="must be host names, https origins"):
        Environment()
