"""Pages of one transfer, and small pages: the table is `pages.toml`."""

import html
import json
import re
import tomllib

import pytest

from intents_ui import app, installation, probes, settings
from intents_ui.ops import metrics
from intents_ui.web.jinja import logo_url
from tests.pages.cases import cases
from tests.serving import ROOT
from tests.test_settings import start


@pytest.mark.parametrize("case", cases("pages"))
def test_a_page_says(pages, case):
    pages.check(case)


@pytest.mark.parametrize("scenario", [2, 8, 20, 28])
def test_a_saved_transfer_has_the_name_it_was_saved_with(site, emulator, scenario):
    intent_id = emulator.finished(scenario)["intentId"]
    saved = re.search(r'data-name="([^"]+)"', site.get(f"/intent/{intent_id}").content.decode())
    assert saved
    status = site.get("/saved/status", {"id": intent_id}).content.decode()
    assert html.unescape(saved[1]) in html.unescape(re.sub(r"<[^>]+>", "|", status))


VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


def test_a_checkout_has_the_version_of_its_project():
    assert installation.version() == VERSION


def test_descriptions_of_the_api_have_it(site):
    assert site.get("/api/openapi.json").json()["info"]["version"] == VERSION
    asked = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}}
    answer = site.post("/mcp", asked, content_type="application/json", headers={"Accept": "application/json"})
    assert answer.json()["result"]["serverInfo"]["version"] == VERSION


def test_readiness_and_metrics_have_it(site):
    assert json.loads(probes.readiness(in_detail=True)[1])["version"] == VERSION
    metrics.sample(app.current().service.health.status(), redis=None)
    assert f'intents_ui_build_info{{version="{VERSION}"}} 1.0' in metrics.text().decode()


def test_the_image_has_it_as_a_label():
    dockerfile = (ROOT / "Dockerfile").read_text()
    assert re.findall(r"^LABEL org\.opencontainers\.image\.version=(\S+)$", dockerfile, re.MULTILINE) == [VERSION]


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
    assert "/static/icons.svg#ethereum" in page
    shown = re.findall(r'<b>(\w+)</b><img src="([^"]+)" alt="" ([^>]*)>', page)
    native = "0x" + "0" * 40
    assert {(letters, src) for letters, src, _ in shown} >= {
        ("SOM", f"https://{HOST}/{SOMNIA}/{native}.webp"),
        ("S", f"https://{HOST}/chains/{SOMNIA}.webp"),
    }
    assert all('loading="lazy"' in how and 'referrerpolicy="no-referrer"' in how for *_, how in shown)
