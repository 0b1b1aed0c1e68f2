"""Pages of one transfer, and small pages: the table is `pages.toml`."""

import html
import json
import re
import tomllib

import pytest

from intents_ui import app, installation, probes
from intents_ui.ops import metrics
from tests.pages.cases import cases
from tests.serving import ROOT


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
