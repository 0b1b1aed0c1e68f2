"""Compressed size of what a browser loads: all scripts and styles, and first visits with their files and parts."""

import gzip
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command
from django.test import Client, override_settings

from intents_ui.emulator import Emulator
from intents_ui.web import assets
from tests.pages.conftest import emulator, site

__all__ = ["emulator", "site"]

LIMITS = {"js": 32_900, "css": 23_000}  # of all pages together
EMBEDDED = ("css/frames", "js/frames")  # of pages in other sites
COLLECTED = {"staticfiles": {"BACKEND": "intents_ui.web.assets.BundlingStorage"}}
AT_ONCE = re.compile(r'hx-get="([^"]+)" hx-trigger="load"')
LOADED = re.compile(r'"/static/([^"#]+\.(?:css|js|svg|woff2))')
MAX_REQUESTS = 12


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Yield the files as in an image, and templates that link them. Tests compress the linked ones."""
    place = tmp_path_factory.mktemp("static")
    # With TEMPLATES, Django makes new engines, which remember no URL of a file.
    with (
        override_settings(STATIC_ROOT=place, STORAGES=COLLECTED, TEMPLATES=settings.TEMPLATES),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(assets.BundlingStorage, "compress_files", lambda self, paths: iter(()))
        call_command("collectstatic", interactive=False, verbosity=0)
        yield place


@cache
def compressed(path: Path) -> int:
    content = path.read_bytes()
    return len(content if path.suffix == ".woff2" else gzip.compress(content))


def test_the_scripts_and_styles_of_all_pages_together_are_light(collected: Path) -> None:
    """Without those of the embedded card, which is part of another site's page."""
    bundled = {name.rpartition(".")[0] for names in assets.BUNDLES.values() for name in names}
    hashed = re.compile(r"((?:css|js|vendor)/\w[\w.-]*)\.[0-9a-f]{6}\.(js|css)")
    names = (hashed.fullmatch(path.relative_to(collected).as_posix()) for path in collected.rglob("*.*"))
    own = {found[0]: found[2] for found in names if found and found[1] not in {*bundled, *EMBEDDED}}
    assert len(own) > 2
    for kind, limit in LIMITS.items():
        weights = {name: compressed(collected / name) for name, of_kind in own.items() if of_kind == kind}
        assert sum(weights.values()) <= limit, f"{sum(weights.values())} bytes of {kind} in all: {weights}"


@pytest.mark.parametrize(
    ("scenario", "limit"), [("", 60_000), ("exact-output-payment", 74_000)], ids=["home", "transfer"]
)
def test_a_first_visit_is_light(collected: Path, site: Client, emulator: Emulator, scenario: str, limit: int) -> None:
    """Of the start page, and of the longest page. Suggestions are loaded later."""
    path = f"/intent/{emulator.finished(scenario)['intentId']}" if scenario else "/"
    page = site.get(path).content.decode()
    parts = [path, *AT_ONCE.findall(page)]
    assert bool(scenario) is (len(parts) > 1)
    weights = {each: len(site.get(each, headers={"Accept-Encoding": "gzip"}).content) for each in parts}
    weights |= {name: compressed(collected / name) for name in LOADED.findall(page) if "palette" not in name}
    assert sum(weights.values()) <= limit, f"{sum(weights.values())} bytes: {weights}"
    assert len(weights) - len(parts) < MAX_REQUESTS
