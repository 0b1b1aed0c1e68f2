"""The mirror's database: its settings, and pages that read it without writing to it and go on if they can't."""

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection, connections

from intents_ui.mirror import database, readonly
from intents_ui.mirror.database import of_url
from intents_ui.mirror.models import Lease
from intents_ui.mirror.readonly import CopyUnreadable, read_coverage, reading
from tests.mirror.conftest import empty, on_each_engine, using
from tests.serving import ROOT
from tests.test_settings import start


@on_each_engine
def test_a_page_can_not_write(copy: None) -> None:
    usual = connections["default"]
    with pytest.raises(CopyUnreadable), reading():
        Lease.objects.create(epoch=1, holder="", until=0)
    assert not Lease.objects.exists()
    assert connections["default"] is usual


def locked(path: Path) -> Any:
    """Lock a database as a program does that wants it for itself."""
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("PRAGMA locking_mode=EXCLUSIVE")
    other.execute("BEGIN EXCLUSIVE")
    other.execute("CREATE TABLE more (a)")
    return other


def missing(path: Path) -> None:
    connection.close()
    for each in path.parent.glob(f"{path.name}*"):
        each.unlink()


def without_tables(path: Path) -> None:
    call_command("migrate", "mirror", "zero", verbosity=0)
    connection.close()


def corrupt(path: Path) -> None:
    missing(path)
    path.write_bytes(b"no database " * 1000)


def torn(path: Path) -> None:
    connection.close()
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))


@pytest.mark.parametrize("spoil", [locked, missing, without_tables, corrupt, torn])
def test_a_database_that_cannot_be_read_is_no_empty_copy(
    mirrored_file: Path, monkeypatch: pytest.MonkeyPatch, spoil: Any
) -> None:
    monkeypatch.setattr(readonly, "LOCK_SECONDS", 0.01)
    assert read_coverage() is not None
    connection.close()
    held = spoil(mirrored_file)
    try:
        assert read_coverage() is None
        assert mirrored_file.exists() is (spoil is not missing)
    finally:
        if held:
            held.close()


@pytest.mark.programs
@pytest.mark.parametrize("copy", ["PostgreSQL"], indirect=True)
def test_reads_of_postgresql_share_connections_and_replace_broken_ones(copy: None) -> None:
    def process() -> int:
        with reading(), connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            return int(cursor.fetchone()[0])

    first = process()
    assert [process() for _ in range(3)] == [first] * 3
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 10000)", [first])
    assert process() != first


@pytest.mark.programs
def test_a_server_that_is_gone_is_no_empty_copy_until_it_is_back(
    postgres: str, django_db_blocker: Any, caplog: pytest.LogCaptureFixture
) -> None:
    place = Path(postgres.partition("host=")[2], ".s.PGSQL.5432")
    with django_db_blocker.unblock(), using(of_url(postgres)):
        empty()
        assert read_coverage() is not None
        readonly.read_only(connection).close_pool()
        place.rename(place.with_name("gone"))
        assert [read_coverage() for _ in range(2)] == [None, None]
        place.with_name("gone").rename(place)
        assert read_coverage() is not None
    [logged] = caplog.records
    assert logged.message.startswith("The mirror can't be read: OperationalError: couldn't get a connection")


def test_a_failure_is_logged_once_until_it_is_over(mirrored_file: Path, caplog: pytest.LogCaptureFixture) -> None:
    read_coverage()
    connection.close()
    whole = mirrored_file.read_bytes()
    for content, lines in ((b"no database " * 1000, 1), (None, 1), (whole, 1), (b"no database " * 1000, 2)):
        if content:
            missing(mirrored_file)
            mirrored_file.write_bytes(content)
        read_coverage()
        found = {record.message for record in caplog.records}
        assert found == {"The mirror can't be read: DatabaseError: file is not a database"}
        assert len(caplog.records) == lines


# Settings

REAL = {"INTENTS_SERVICE_URL": "https://a.example", "SECRET_KEY": "a key of the test"}


def databases(**env: str) -> dict[str, Any]:
    script = (
        "import json; from intents_ui import settings; "
        "print(json.dumps([settings.DATABASES, settings.INSTALLED_APPS], default=str))"
    )
    clean = {"PATH": os.environ["PATH"], "TMPDIR": "/nowhere"}
    found = subprocess.check_output([sys.executable, "-c", script], cwd=ROOT, env=clean | env, text=True)
    given, apps = json.loads(found)
    assert ("intents_ui.mirror" in apps) is bool(given)
    return given


def test_without_a_database_demo_data_is_mirrored_in_the_checkout_and_a_real_service_is_not() -> None:
    assert databases(**REAL) == {}
    assert Path(databases()["default"]["NAME"]).parent == ROOT / ".demo"


@pytest.mark.parametrize("prefix", ["", "sqlite://", "sqlite:///"], ids=["path", "URL", "four slashes"])
def test_sqlite_writes_ahead_and_takes_the_lock_when_a_transaction_begins(tmp_path: Path, prefix: str) -> None:
    found = of_url(f"{prefix}{tmp_path}/a b.db")
    assert str(found["NAME"]) == f"{tmp_path}/a b.db"
    assert found["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    assert "journal_mode=WAL" in found["OPTIONS"]["init_command"]


def test_a_postgres_url_is_taken_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "is_installed", lambda module: True)
    found = of_url("postgres://me:p%40ss@db.example:5433/intents?sslmode=require")
    assert (found["USER"], found["PASSWORD"], found["HOST"], found["PORT"]) == ("me", "p@ss", "db.example", 5433)
    assert (found["NAME"], found["OPTIONS"]["sslmode"]) == ("intents", "require")
    assert of_url("postgres:///intents?host=/run/postgresql")["HOST"] == "/run/postgresql"


@pytest.mark.parametrize(
    "url", ["mysql://a/b", "sqlite:a.db", "/nowhere/at/all/mirror.db", "/", "postgres://host", "postgres://host:port/a"]
)
def test_an_invalid_database_is_refused(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "is_installed", lambda module: True)
    with pytest.raises(ValueError, match=r"^must "):
        of_url(url)


def test_an_invalid_database_stops_the_start_with_one_line_without_its_password() -> None:
    ended = start(**REAL, INTENTS_DATABASE="postgres://me:secret-word@h/n?bad=1")
    assert ended.returncode == 1
    assert ended.stderr.startswith("INTENTS_DATABASE: ")
    assert ended.stderr.count("\n") == 1
    assert "secret-word" not in ended.stderr
