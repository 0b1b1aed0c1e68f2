"""Transfers on other sites: the frame for the configured hosts."""

import re
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from intents_ui.emulator.app import Emulator

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


def test_without_hosts_no_site_may_frame_it(site, emulator):
    answer = framed(site, id_of(emulator))
    assert (ancestors(answer), answer["X-Frame-Options"]) == ("'none'", "DENY")


@pytest.mark.parametrize(
    "intent_id", [None, UNKNOWN, "0x12%20", "0X" + "AB" * 32], ids=["there", "unknown", "no id", "elsewhere"]
)
def test_the_configured_hosts_may_frame_it_whatever_its_content(site, emulator, hosts, intent_id):
    answer = framed(site, intent_id or id_of(emulator))
    assert ancestors(answer) == "https://shop.example *.wallet.example"
    assert "X-Frame-Options" not in answer
    assert (answer["Cross-Origin-Resource-Policy"], answer["X-Robots-Tag"]) == ("cross-origin", "noindex")


def test_every_site_may_frame_it_if_the_setting_says_so(site, emulator, monkeypatch):
    monkeypatch.setattr(settings.ENV, "intents_embed_hosts", ["*"])
    assert ancestors(framed(site, id_of(emulator))) == "*"
