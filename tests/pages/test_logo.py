"""Logos: no third-party images unless configured, and then served by the dashboard."""

import re
from collections.abc import Iterator

import pytest
from django.test import Client

from intents_ui import wiring
from intents_ui.emulator.app import Emulator
from tests.service.logo_host import Host, hosting
from tests.service.pictures import opened, picture
from tests.service.scripted_server import answering

INTO_SOMI, SPOOF = 17, 18
SOMNIA, BASE = 5031, 8453
NATIVE = "0x" + "0" * 40
SOMI = f"/logo/token/{SOMNIA}/{NATIVE}"
USDC_ON_BASE = f"/logo/token/{BASE}/0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Iterator[Host]:
    """Configured logo host that has every logo."""
    with hosting(answering(picture("PNG"))) as found:
        wiring.current().logos = found.logos()
        yield found


def page_of(site: Client, emulator: Emulator, number: int) -> str:
    return site.get(f"/intent/{emulator.finished(number)['intentId']}").content.decode()


@pytest.mark.parametrize("path", ["/", "/history", "/chains", f"/chain/{SOMNIA}", "/intent"])
def test_no_page_links_to_a_third_partys_image_by_default(site: Client, emulator: Emulator, path: str) -> None:
    path = f"/intent/{emulator.finished(INTO_SOMI)['intentId']}" if path == "/intent" else path
    page = site.get(path).content.decode()
    assert "/static/img/coins.svg#" in page
    assert "<img" not in page
    assert "/logo/" not in page
    assert not re.search(r'(?:src|srcset|poster|data|xlink:href)="(?:https?:)?//', page)


def test_a_configured_host_shows_a_logo_where_no_built_in_image_exists(
    site: Client, emulator: Emulator, host: Host
) -> None:
    page = page_of(site, emulator, INTO_SOMI)
    shown = re.findall(r'<img src="([^"]+)" alt="" ', page)
    assert {SOMI, f"/logo/chain/{SOMNIA}"} == set(shown)
    assert "#usdc" in page
    assert host.visits == 0


@pytest.mark.parametrize("path", [SOMI, f"/logo/chain/{SOMNIA}"])
def test_a_logo_is_re_encoded_and_served_without_any_rights(site: Client, host: Host, path: str) -> None:
    answer = site.get(path)
    assert (answer.status_code, answer["Content-Type"]) == (200, "image/webp")
    assert opened(answer.content).size == (64, 64)
    assert answer["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'; sandbox"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Cross-Origin-Resource-Policy"] == "same-origin"
    assert answer["Content-Disposition"].startswith("attachment")
    assert answer["Cache-Control"] == "public, max-age=86400"
    assert "Set-Cookie" not in answer
