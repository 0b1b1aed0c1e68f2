"""Compressed size of what a browser loads: at most 40 KB of scripts and 24 KB of styles for all pages together, and
at most 60 KB on a first visit of a transfer's page, page included.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command
from django.test import Client, override_settings

from intents_ui.emulator.app import Emulator
from intents_ui.web import assets
from tests.browser.kinds import PLACES
from tests.pages.conftest import emulator, site

__all__ = ["emulator", "site"]

LIMITS = {"js": 40_000, "css": 24_000}
FIRST_VISIT = 60_000
COLLECTED = {"staticfiles": {"BACKEND": "intents_ui.web.assets.SlimStorage"}}
AT_ONCE = re.compile(r'hx-get="([^"]+)" hx-trigger="load"')
LINKED = re.compile(r'(?:src|href)="/static/([^"]+\.(js|css))"')


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Yield the files as in an image, and templates that link them."""
    place = tmp_path_factory.mktemp("static")
    # With TEMPLATES, Django makes new engines, which remember no URL of a file.
    with override_settings(STATIC_ROOT=place, STORAGES=COLLECTED, TEMPLATES=settings.TEMPLATES):
        call_command("collectstatic", interactive=False, verbosity=0)
        yield place


def linked(site: Client, path: str) -> dict[str, str]:
    """Yield each file that a page loads, with its kind."""
    head = site.get(path).content.decode().partition("</head>")[0]
    return dict(LINKED.findall(head))


def transferred(collected: Path, files: dict[str, str], kind: str, coding: str) -> int:
    """Return the transfer size in bytes. Files without a smaller encoding are sent as they are."""
    smallest = (
        next(each for each in (collected / f"{name}.{coding}", collected / name) if each.exists())
        for name, of_kind in files.items()
        if of_kind == kind
    )
    return sum(each.stat().st_size for each in smallest)


@pytest.fixture
def pages(site: Client, emulator: Emulator) -> dict[str, dict[str, str]]:
    """Return the links of each kind of page."""
    done, quoted = (f"/intent/{each['intentId']}" for each in (emulator.finished(8), emulator.play("expired-quote")))
    others = [done, f"/embed{done}", *(f"{done}/{part}" for part in ("balances", "route-stats", "reply", "share"))]
    paths = [*(kind.path for kind in PLACES), *others, f"{quoted}/commit", "/operator"]
    return {path: linked(site, path) for path in paths}


@pytest.mark.slow
def test_the_scripts_and_styles_of_all_pages_together_are_light(
    collected: Path, pages: dict[str, dict[str, str]]
) -> None:
    """Without the embedded card, which is part of another site's page and measured like any page."""
    own = {name: kind for path, files in pages.items() if not is_embedded(path) for name, kind in files.items()}
    assert {"js", "css"} == set(own.values())
    for coding in ("br", "gz"):
        for loaded in (own, *pages.values()):
            for kind, limit in LIMITS.items():
                in_all = transferred(collected, loaded, kind, coding)
                assert in_all <= limit, f"{in_all} bytes of {kind} in all:\n{table(collected, loaded, kind, coding)}"
    for path, files in pages.items():
        joined = {*(f"css/{name}" for name in assets.FRAME), *assets.HEAD, *assets.SCRIPTS, *assets.HTMX}
        of_frame = joined & {re.sub(r"(\.[0-9a-f]{12})?\.(js|css)$", "", name) for name in files}
        assert is_embedded(path) or not of_frame, f"{path} loads twice: {of_frame}"


def is_embedded(path: str) -> bool:
    return path.startswith("/embed/")


def table(collected: Path, files: dict[str, str], kind: str, coding: str) -> str:
    weights = [(transferred(collected, {name: kind}, kind, coding), name) for name in files if files[name] == kind]
    return "\n".join(f"{weight:7} {name} ({coding})" for weight, name in sorted(weights, reverse=True))


@pytest.mark.parametrize("scenario", [3, 16, 28], ids=["succeeded", "with the longest page", "failed"])
def test_a_first_visit_to_a_transfers_page_is_light(
    collected: Path, site: Client, emulator: Emulator, scenario: int
) -> None:
    """The page with its styles and scripts. In the smaller encoding also with the parts that load later."""
    path = f"/intent/{emulator.finished(scenario)['intentId']}"
    late = AT_ONCE.findall(site.get(path).content.decode())
    assert late
    for coding, suffix, pages in (("br", "br", [path, *late]), ("gzip", "gz", [path])):
        text = sum(len(site.get(each, headers={"Accept-Encoding": coding}).content) for each in pages)
        files = {kind: transferred(collected, linked(site, path), kind, suffix) for kind in LIMITS}
        assert text + sum(files.values()) <= FIRST_VISIT, f"{text} bytes of pages, {files} ({coding})"


def test_a_first_visit_to_the_documentation_of_the_api_is_light(collected: Path, site: Client) -> None:
    for coding, suffix in (("br", "br"), ("gzip", "gz")):
        text = len(site.get("/api", headers={"Accept-Encoding": coding}).content)
        files = {kind: transferred(collected, linked(site, "/api"), kind, suffix) for kind in LIMITS}
        assert text + sum(files.values()) <= FIRST_VISIT, f"{text} bytes of the page, {files} ({coding})"
