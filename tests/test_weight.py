"""Compressed size of what a browser loads. Files are bundled, without comments.

A first visit of a transfer's page is at most 55 KB with its files by brotli and all parts, and 58 KB with its files by
gzip and without late parts. Pages are compressed by gzip.
"""

import gzip
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import brotli
import pytest
from django.conf import settings
from django.core.management import call_command
from django.test import Client, override_settings

from intents_ui.emulator import Emulator
from intents_ui.web import assets
from tests.pages.conftest import emulator, site

__all__ = ["emulator", "site"]

LIMITS = {"br": {"js": 30_000, "css": 20_000}, "gzip": {"js": 34_000, "css": 23_500}}  # of all pages together
FIRST_VISIT = {"br": 55_000, "gzip": 58_000}
EMBEDDED = ("css/frames", "js/frames")  # of pages in other sites
COLLECTED = {"staticfiles": {"BACKEND": "intents_ui.web.assets.BundlingStorage"}}
AT_ONCE = re.compile(r'hx-get="([^"]+)" hx-trigger="load"')
LINKED = re.compile(r'(?:src|href)="/static/([^"]+\.(js|css))"')
CODINGS: dict[str, Callable[[bytes], bytes]] = {"br": brotli.compress, "gzip": gzip.compress}


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
def compressed(path: Path, coding: str) -> int:
    return len(CODINGS[coding](path.read_bytes()))


def test_the_scripts_and_styles_of_all_pages_together_are_light(collected: Path) -> None:
    """Without those of the embedded card, which is part of another site's page."""
    bundled = {name.rpartition(".")[0] for names in assets.BUNDLES.values() for name in names}
    hashed = re.compile(r"((?:css|js|vendor)/\w[\w.-]*)\.[0-9a-f]{12}\.(js|css)")
    names = (hashed.fullmatch(path.relative_to(collected).as_posix()) for path in collected.rglob("*.*"))
    own = {found[0]: found[2] for found in names if found and found[1] not in {*bundled, *EMBEDDED}}
    assert len(own) > 2
    for coding, limits in LIMITS.items():
        for kind, limit in limits.items():
            weights = {name: compressed(collected / name, coding) for name, of_kind in own.items() if of_kind == kind}
            assert sum(weights.values()) <= limit, f"{sum(weights.values())} bytes of {kind} in all: {weights}"


def test_a_first_visit_to_a_transfers_page_is_light(collected: Path, site: Client, emulator: Emulator) -> None:
    """The longest page with its styles and scripts. In the smaller encoding also with the parts that load later."""
    path = f"/intent/{emulator.finished('exact-output-payment')['intentId']}"
    late = AT_ONCE.findall(site.get(path).content.decode())
    assert late
    assert weight(collected, site, "br", path, *late) <= FIRST_VISIT["br"]
    assert weight(collected, site, "gzip", path) <= FIRST_VISIT["gzip"]


def weight(collected: Path, site: Client, coding: str, *paths: str) -> int:
    """Return the transfer size of the responses, and of the files that the first one links."""
    page = site.get(paths[0]).content.decode().partition("</head>")[0]
    names = {name for name, _ in LINKED.findall(page)}
    assert names
    text = sum(len(site.get(path, headers={"Accept-Encoding": "gzip"}).content) for path in paths)
    return text + sum(compressed(collected / name, coding) for name in names)
