"""Metadata for search engines and other programs: descriptions, canonical URLs, indexing."""

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.robotparser import RobotFileParser
from xml.etree import ElementTree

import pytest
from django.contrib.staticfiles import finders

from intents_ui import settings
from intents_ui.emulator.app import Emulator
from tests.pages.test_share import tags

PLACES = ("/", "/search", "/history", "/triage", "/chain/8453", "/routes", "/console/GetIntent", "/help", "/saved")
REFUNDED = 8


def canonical(page: str) -> list[str]:
    return re.findall(r'<link rel="canonical" href="([^"]*)">', page)


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings.ENV, "intents_index", "index")


@pytest.fixture
def contact(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(settings.ENV, "intents_security_contact", "mailto:security@intents.example")
    return "mailto:security@intents.example"


@pytest.mark.parametrize("path", PLACES)
def test_every_page_has_a_description_and_a_canonical_url(site, path):
    page = site.get(path).content.decode()
    assert canonical(page) == [path]
    assert 20 < len(tags(page)["description"]) <= 300
    assert page.count('name="description"') == 1
    assert re.search(r"<title>[^<]{3,} · Intents</title>", page)


def place(emulator: Emulator, of: str) -> str:
    found = emulator.finished(REFUNDED)
    return f"/intent/{found['intentId']}" if of == "intentId" else f"/address/{found[of].lower()}"


def test_an_addresss_description_shows_its_totals(site, emulator):
    page = site.get(place(emulator, "ownerAddress")).content.decode()
    said = tags(page)
    assert re.match(r"(at least )?\d[\d,]* transfers?(, |$)", said["description"])
    assert said["og:title"].endswith(said["description"])
    assert said["twitter:card"] == "summary"
    assert said["og:url"] == f"http://testserver{place(emulator, 'ownerAddress')}"
    assert f'hx-get="{place(emulator, "ownerAddress")}/share"' in page


def allows(answer: Any, path: str) -> bool:
    rules = RobotFileParser()
    rules.parse(answer.content.decode().splitlines())
    return rules.can_fetch("AnyBot", f"http://testserver{path}")


def test_crawlers_are_kept_off_pages_that_are_expensive_for_the_service(site):
    answer = site.get("/robots.txt")
    assert answer["Content-Type"].startswith("text/plain")
    refused = ("/export/history.csv", "/search?q=1", "/console", "/triage", "/live/0x1", "/history", "/attention")
    assert not [path for path in refused if allows(answer, path)]
    # A crawler that may not read them would miss both the noindex tag and the link preview.
    assert all(allows(answer, path) for path in ("/", "/help", "/chains", "/intent/0x1", "/intent/0x1/card.png"))


@pytest.mark.usefixtures("listed")
def test_the_index_setting_lets_crawlers_read_the_lists(site):
    answer = site.get("/robots.txt")
    assert all(allows(answer, path) for path in ("/history", "/attention"))
    assert not allows(answer, "/export/history.csv")


def fields(answer: Any) -> dict[str, str]:
    return dict(line.split(": ", 1) for line in answer.content.decode().splitlines())


def test_the_security_file_has_a_contact_and_an_expiration(site, contact):
    answer = site.get("/.well-known/security.txt", secure=True)
    found = fields(answer)
    assert answer["Content-Type"] == "text/plain; charset=utf-8"
    assert found["Contact"] == contact
    assert found["Canonical"] == "https://testserver/.well-known/security.txt"
    left = datetime.fromisoformat(found["Expires"]) - datetime.now(UTC)
    assert timedelta(days=100) < left < timedelta(days=365)


def test_the_manifest_refers_to_existing_files(site):
    answer = site.get("/site.webmanifest")
    result = json.loads(answer.content)
    assert answer["Content-Type"] == "application/manifest+json"
    assert site.get(result["start_url"]).status_code == 200
    assert all(finders.find(icon["src"].removeprefix("/static/")) for icon in result["icons"])
    assert '<link rel="manifest" href="/site.webmanifest">' in site.get("/").content.decode()


def test_what_an_app_shares_is_searched_for(site):
    target = json.loads(site.get("/site.webmanifest").content)["share_target"]
    shared = site.get(target["action"], {target["params"]["text"]: "Look: 0x" + "12" * 32})
    assert "0x" + "12" * 32 in shared.content.decode()


def test_browsers_learn_the_search_of_this_host(site):
    found = re.search(
        r'<link rel="search" type="([^"]+)" title="Intents" href="([^"]+)">', site.get("/").content.decode()
    )
    assert found
    answer = site.get(found[2], headers={"Host": "localhost:8000"})
    assert answer["Content-Type"] == found[1] == "application/opensearchdescription+xml"
    described = ElementTree.fromstring(answer.content)  # noqa: S314 - our own file
    names = {"o": "http://a9.com/-/spec/opensearch/1.1/"}
    assert described.find("o:Url", names).attrib["template"] == "http://localhost:8000/search?q={searchTerms}"
    assert finders.find(described.find("o:Image", names).text.removeprefix("http://localhost:8000/static/"))
