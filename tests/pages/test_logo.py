"""Logos: no third-party images unless configured, and then loaded by the browser."""

import re

import pytest

from intents_ui import settings
from intents_ui.web.jinja import logo_url
from tests.test_settings import start

SOMNIA = 5031
HOST = "logos.service.example"  # where the emulator has its logos


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> str:
    """Configured logo host."""
    monkeypatch.setattr(settings.ENV, "intents_logo_hosts", [HOST])
    return HOST


@pytest.mark.parametrize(
    "uri",
    [
        None,
        "",
        f"http://{HOST}/a.png",
        f"//{HOST}/a.png",
        f"https://{HOST}",
        f"https://{HOST}:443/a.png",
        f"https://user@{HOST}/a.png",
        f"https://evil.example/https://{HOST}/a.png",
        f"https://evil.example@{HOST}/a.png",
        f"https://{HOST}.evil.example/a.png",
        f"https://sub.{HOST}/a.png",
        f"https://{HOST}\\@evil.example/a.png",
        f'https://{HOST}/a.png" onerror="x',
        f"https://{HOST}/a b.png",
        f"https://{HOST}/a.png\n",
        f"https://{HOST}/ä.png",
        f"https://{HOST}/a.svg#x",
        "data:image/png;base64,AAAA",
        "javascript:alert(1)",
    ],
)
def test_only_a_plain_url_on_a_configured_host_is_used(host, uri):
    assert logo_url(f"https://{host}/a.png?size=64") == f"https://{host}/a.png?size=64"
    assert logo_url(uri) is None


def test_browsers_load_logos_without_a_bundled_icon_from_a_configured_host():
    code = """
import intents_ui.asgi
from django.test import Client
answer = Client(SERVER_NAME="localhost").get("/chain/5031")
print(answer["Content-Security-Policy"])
print(answer["Cross-Origin-Embedder-Policy"])
print(answer.content.decode())
"""
    answer = start(
        code, INTENTS_LOGO_HOSTS=f"{HOST.title()}, img.example", DJANGO_SETTINGS_MODULE="intents_ui.settings"
    )
    policy, embedding, page = answer.stdout.split("\n", 2)
    assert f"img-src 'self' https://{HOST} https://img.example;" in policy
    assert embedding == "credentialless"
    assert "/static/img/icons.svg#ethereum" in page
    shown = re.findall(r'<b>(\w+)</b><img src="([^"]+)" alt="" ([^>]*)>', page)
    native = "0x" + "0" * 40
    assert {(letters, src) for letters, src, _ in shown} >= {
        ("SOM", f"https://{HOST}/{SOMNIA}/{native}.webp"),
        ("S", f"https://{HOST}/chains/{SOMNIA}.webp"),
    }
    assert all('loading="lazy"' in how and 'referrerpolicy="no-referrer"' in how for *_, how in shown)
