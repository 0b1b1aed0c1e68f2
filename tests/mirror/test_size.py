"""A transfer takes at most 400 bytes in SQLite, with its indexes."""

import hashlib
from pathlib import Path
from typing import Any

from django.db import connection

from intents_ui import settings
from intents_ui.mirror import entry, lease
from intents_ui.mirror.reader import Reading, Span
from intents_ui.mirror.windows import Window
from intents_ui.mirror.writer import Writer
from intents_ui.service.wire.models import Page
from tests.display.builders import NOW
from tests.display.scenes import SERVICE
from tests.mirror.conftest import using

COUNT = 20_000
MOST_BYTES = 400


def test_a_transfer_takes_at_most_400_bytes(tmp_path: Path, django_db_blocker: Any) -> None:
    listed = SERVICE.get_intent_history(page=Page.first(size=100), by_statuses=["SUCCEEDED", "FAILED", "REFUNDED"])
    samples = [entry.read(each, now=NOW) for each in listed.intents]
    start = int(NOW.timestamp())

    def made(number: int) -> entry.Entry:
        address = hashlib.sha256(f"{number}".encode()).digest()
        return samples[number % len(samples)]._replace(
            intent_id=address,
            created=(start + number) * 1000,
            owner=address[:20],
            recipient=address[12:],
            paid=(("recipient", address[12:]),) if number % 3 == 0 else (),
        )

    with django_db_blocker.unblock(), using(settings.sqlite(tmp_path / "mirror.sqlite3")):
        epoch = lease.acquire(now=1)
        assert epoch is not None
        task = Span((Window(start=start, end=start + 1, due=0),))
        Writer(epoch).commit(Reading(task=task, at=0, entries=[made(each) for each in range(COUNT)]), now=start)
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            cursor.execute("SELECT COUNT(*) FROM mirror_transfer")
            assert cursor.fetchone() == (COUNT,)
    assert (tmp_path / "mirror.sqlite3").stat().st_size < COUNT * MOST_BYTES
