"""Databases of the mirror: SQLite, and PostgreSQL where its programs and psycopg are installed."""

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings as django_settings
from django.core.management import call_command
from django.db import connections

from intents_ui import settings
from intents_ui.mirror import readonly
from tests.conftest import needs
from tests.pages.conftest import emulator, patient_pages, site
from tests.serving import brief_pause
from tests.waiting import PATIENCE

__all__ = ["emulator", "patient_pages", "site"]  # fixtures of page tests

PROGRAMS = Path("/usr/lib/postgresql/15/bin")
USER = "nobody"  # whom Debian has: initdb refuses root and users without a name


@contextlib.contextmanager
def using(database: dict[str, Any]) -> Iterator[None]:
    """Let Django use this database in this thread, with the mirror's tables."""
    usual = connections.settings["default"]
    connections["default"].close()
    connections.settings["default"] = {**usual, **database}
    del connections["default"]
    try:
        call_command("migrate", verbosity=0)
        yield
    finally:
        connections["default"].close()
        connections.settings["default"] = usual
        del connections["default"]


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """Yield the URL of a private PostgreSQL server, which listens on a Unix socket only."""
    pytest.importorskip("psycopg")
    if not PROGRAMS.exists():
        needs(str(PROGRAMS / "postgres"), "apt-get install postgresql")
    place = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
    as_user: list[str] = []
    if os.geteuid() == 0:  # as which it refuses to run
        shutil.chown(place, USER)
        as_user = [str(needs("setpriv", "apt-get install util-linux")), f"--reuid={USER}", "--clear-groups", "--"]
    env = {**os.environ, "LC_ALL": "C"}
    subprocess.run(
        [*as_user, str(PROGRAMS / "initdb"), "-D", str(place / "data"), "-U", "mirror", "-A", "trust", "--no-sync"],
        check=True, capture_output=True, env=env, cwd="/",
    )  # fmt: skip
    options = ["-c", "fsync=off", "-c", "listen_addresses=", "-c", f"unix_socket_directories={place}"]
    command = [*as_user, str(PROGRAMS / "postgres"), "-D", str(place / "data"), *options]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env, cwd="/")
    try:
        deadline = time.monotonic() + PATIENCE
        while not (place / ".s.PGSQL.5432").exists():
            assert time.monotonic() < deadline, "PostgreSQL did not start"
            brief_pause()
        yield f"postgres://mirror@/postgres?host={place}"
    finally:
        server.terminate()
        server.wait()
        shutil.rmtree(place, ignore_errors=True)


@pytest.fixture(params=["SQLite", pytest.param("PostgreSQL", marks=pytest.mark.deep)])
def copy(request: pytest.FixtureRequest, tmp_path: Path, django_db_blocker: Any) -> Iterator[None]:
    """Use an empty database."""
    with django_db_blocker.unblock(), contextlib.ExitStack() as stack:
        if request.param == "SQLite":
            stack.enter_context(using(settings.sqlite(tmp_path / "mirror.sqlite3")))
        else:
            stack.enter_context(using(settings.database(request.getfixturevalue("postgres"))))
            empty()
        yield


def empty() -> None:
    """Delete all rows of the mirror."""
    for model in reversed(list(apps.get_app_config("mirror").get_models())):
        model.objects.all().delete()


@pytest.fixture
def mirrored(copy: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pages read the database, and notice each change of it."""
    let_pages_read(monkeypatch)


@pytest.fixture
def mirrored_file(tmp_path: Path, django_db_blocker: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Let pages read an empty SQLite database. Yield its path."""
    path = tmp_path / "mirror.sqlite3"
    with django_db_blocker.unblock(), using(settings.sqlite(path)):
        let_pages_read(monkeypatch)
        yield path


def let_pages_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(django_settings, "MIRROR_DATABASE", connections.settings["default"])
    monkeypatch.setattr(readonly, "MAX_AGE", -1.0)
