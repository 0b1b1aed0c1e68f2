"""What a page reads, the mirror reads soon: hints over a socket that is there only while a process has the lease."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.test import Client

from intents_ui.emulator.app import Emulator
from intents_ui.mirror import hints
from intents_ui.mirror.database import sqlite
from intents_ui.mirror.hints import Hints
from intents_ui.mirror.windows import DAY, MINUTE
from tests.mirror.world import Copy, World, expected, rows

ID = f"0x{7:064x}"
PACKED = bytes.fromhex(ID[2:])


@pytest.fixture
def database(tmp_path: Path) -> dict[str, Any]:
    return sqlite(tmp_path / "mirror.sqlite3")


@pytest.fixture
def received(database: dict[str, Any]) -> Iterator[Hints]:
    with closing(Hints(hints.place(database))) as found:
        yield found


def test_a_hint_arrives_once(database: dict[str, Any], received: Hints) -> None:
    assert received.take() == {}
    hints.send(database, ID, "EXECUTING")
    hints.send(database, ID.upper().replace("X", "x"), "SUCCEEDED")
    assert received.take() == {PACKED: "SUCCEEDED"}
    assert received.take() == {}


def test_hints_are_dropped_when_too_many_wait_or_no_process_reads(database: dict[str, Any], received: Hints) -> None:
    for number in range(2000):
        hints.send(database, f"0x{number:064x}", "FAILED")
    assert 0 < len(received.take()) < 2000
    received.close()
    hints.send(database, ID, "FAILED")


@pytest.mark.parametrize("intent_id", ["", "0x12", "a-name", "0x" + "g" * 64])
def test_an_id_that_is_no_hash_is_not_sent(database: dict[str, Any], received: Hints, intent_id: str) -> None:
    hints.send(database, intent_id, "FAILED")
    assert received.take() == {}


def test_only_the_owner_can_write_to_the_socket_and_its_last_reader_removes_it(
    tmp_path: Path, database: dict[str, Any]
) -> None:
    former, leader = Hints(hints.place(database)), Hints(hints.place(database))
    (socket,) = tmp_path.iterdir()
    assert socket.stat().st_mode & 0o777 == 0o600
    former.close()
    hints.send(database, ID, "FAILED")
    assert leader.take() == {PACKED: "FAILED"}
    leader.close()
    assert not [*tmp_path.iterdir()]


def test_with_postgres_there_are_no_hints() -> None:
    database = {"ENGINE": "django.db.backends.postgresql", "NAME": "mirror"}
    hints.send(database, ID, "FAILED")
    with closing(Hints(hints.place(database))) as found:
        assert found.take() == {}


def test_a_change_that_a_page_has_read_is_in_the_copy_at_once(copy: object) -> None:
    world = World()
    made = world.create(status="FAILED", age=2 * DAY)
    mirror = Copy(world, days=3)
    mirror.settle(20 * MINUTE)
    world.change(made, "REFUNDED")
    mirror.settle(MINUTE)
    assert rows() != expected(world)
    assert mirror.writer
    packed = bytes.fromhex(made.intent_id[2:])
    before = len(world.asked)
    mirror.writer.notice({packed: "REFUNDED"})
    mirror.settle(0)
    assert rows() == expected(world)
    mirror.writer.notice({packed: "REFUNDED"})
    mirror.settle(0)
    assert len(world.asked) == before + 1


@pytest.mark.usefixtures("copy")
def test_the_page_of_a_transfer_sends_what_it_has_read(
    site: Client,
    emulator: Emulator,
    database: dict[str, Any],
    received: Hints,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    intent = emulator.play(2, age=600)["intentId"]
    assert site.get(f"/intent/{intent}").status_code == 200
    assert received.take() == {}
    monkeypatch.setattr(django_settings, "MIRROR_DATABASE", database)
    assert site.get(f"/intent/{intent}").status_code == 200
    assert received.take() == {bytes.fromhex(intent[2:]): "SUCCEEDED"}
