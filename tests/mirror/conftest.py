"""Databases of the mirror: SQLite, and PostgreSQL where its programs and psycopg are installed."""

import contextlib
import functools
import re
import shutil
import tempfile
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.apps import apps
from django.conf import settings as django_settings
from django.core.management import call_command
from django.db import connection, connections
from django.test import Client

from intents_ui.mirror import database, readonly
from tests.mirror import past
from tests.mirror.world import World
from tests.pages.conftest import emulator, patient_pages, site, still
from tests.postgres import PROGRAMS, server
from tests.serving import needs

__all__ = ["emulator", "patient_pages", "site", "still"]  # fixtures of page tests

# For tests whose result depends on the database. Without it, `copy` is SQLite.
on_each_engine = pytest.mark.parametrize(
    "copy", ["SQLite", pytest.param("PostgreSQL", marks=pytest.mark.programs)], indirect=True
)


def sqlite(path: Path) -> dict[str, Any]:
    """Return a database that needn't survive a power failure. Waiting for the disk takes longer than most tests."""
    found = database.sqlite(path)
    found["OPTIONS"]["init_command"] += "; PRAGMA synchronous=OFF"
    return found


@contextlib.contextmanager
def using(given: dict[str, Any]) -> Iterator[None]:
    """Let Django use this database in this thread, with the mirror's tables."""
    is_new = isinstance(given["NAME"], Path) and not given["NAME"].exists()
    if is_new:
        given["NAME"].write_bytes(migrated())
    with connected(given):
        if not is_new:
            migrate(str(given))
        yield


@functools.cache
def migrated() -> bytes:
    """Return an empty SQLite database with the mirror's tables: migrations take longer than most tests."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "mirror.sqlite3")
        with connected(sqlite(path)):
            migrate(str(path))
        return path.read_bytes()


@functools.cache
def migrate(_: str) -> None:
    """Migrate the connected database, once."""
    call_command("migrate", verbosity=0)


@contextlib.contextmanager
def connected(given: dict[str, Any]) -> Iterator[None]:
    """Let Django use this database in this thread."""
    usual = connections.settings["default"]
    connections["default"].close()
    connections.settings["default"] = {**usual, **given}
    del connections["default"]
    try:
        yield
    finally:
        connections["default"].close()
        if connections["default"].vendor == "postgresql":
            readonly.read_only(connections["default"]).close_pool()
        connections.settings["default"] = usual
        del connections["default"]


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """Yield the URL of a private PostgreSQL server."""
    pytest.importorskip("psycopg")
    if not PROGRAMS.exists():
        needs(str(PROGRAMS / "postgres"), "apt-get install postgresql")
    needs("setpriv", "apt-get install util-linux")
    with server("fsync=off") as url:
        yield url


@pytest.fixture
def copy(request: pytest.FixtureRequest, tmp_path: Path, django_db_blocker: Any) -> Iterator[None]:
    """Use an empty database (`on_each_engine`)."""
    is_postgres = getattr(request, "param", "SQLite") == "PostgreSQL"
    given = database.of_url(request.getfixturevalue("postgres")) if is_postgres else sqlite(tmp_path / "mirror.sqlite3")
    with django_db_blocker.unblock(), using(given):
        if is_postgres:
            empty()
        yield


@pytest.fixture
def world(copy: None) -> World:
    """Return a service for a mirror in this database."""
    return World()


def empty() -> None:
    """Delete all rows of the mirror."""
    for model in reversed(list(apps.get_app_config("mirror").get_models())):
        model.objects.all().delete()


@pytest.fixture
def mirrored(copy: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pages read the database, and notice each change of it."""
    monkeypatch.setattr(django_settings, "MIRROR_DATABASE", connections.settings["default"])
    monkeypatch.setattr(readonly, "MAX_AGE", -1.0)


@pytest.fixture
def mirrored_file(mirrored: None) -> Path:
    """Let pages read an empty SQLite database. Return its path."""
    return Path(connection.settings_dict["NAME"])


def read(site: Client, path: str, status: int = 200) -> str:
    """Return a page that has this status."""
    answer = site.get(path)
    assert answer.status_code == status, path
    return answer.content.decode()


def text(page: str) -> str:
    """Return the visible text of a page's main part."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", page.partition("<main")[2])).split())


def card(page: str, key: str) -> str:
    """Return the visible text of a card."""
    found = re.search(rf'<section class="card" aria-labelledby="{key}">.*?</section>', page, re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", found[0])).split()) if found else ""


def links(page: str) -> list[str]:
    """Return the IDs of the transfers that the page lists."""
    return re.findall(r'class="row-link" href="/intent/(0x\w+)"', page)


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory, django_db_blocker: Any) -> Path:
    """Return a database with complete figures of three days until the site's time, and an incident."""
    path: Path = tmp_path_factory.mktemp("written") / "mirror.sqlite3"
    with time_machine.travel(past.NOW), django_db_blocker.unblock(), using(sqlite(path)):
        past.whole(past.NOW, days=4)
        past.present(past.NOW)
        past.write(past.NOW)
        past.incident(past.NOW)
        past.count(past.NOW)
    return path


@pytest.fixture
def figures(site: Client, mirrored_file: Path, written: Path) -> Iterator[None]:
    """Let the mirror have these figures, and let no time pass."""
    connection.close()
    for each in mirrored_file.parent.glob(f"{mirrored_file.name}*"):
        each.unlink()
    shutil.copy(written, mirrored_file)
    with time_machine.travel(past.NOW, tick=False):
        yield
