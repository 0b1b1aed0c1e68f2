"""Pages read the mirror without writing to it, in few queries, and go on if they can't."""

import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection, connections

from intents_ui.mirror import readonly
from intents_ui.mirror.database import of_url
from intents_ui.mirror.models import Lease
from intents_ui.mirror.readonly import CopyUnreadable, read_coverage, reading
from tests.mirror.conftest import empty, on_each_engine, using
from tests.mirror.world import START

NOW = datetime.fromtimestamp(START, UTC)


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
