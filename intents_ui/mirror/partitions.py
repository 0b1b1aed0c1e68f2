"""In PostgreSQL, a table for each month of transfers, because to drop one is faster than to delete millions of rows.

The month is that in which a transfer was created. `mirror_transfer_other` has those of impossible times.
"""

from datetime import UTC, datetime

from django.apps.registry import Apps
from django.db import connection
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.backends.utils import CursorWrapper

from intents_ui.mirror.windows import DAY

PARTITION = """
CREATE TABLE partitioned (LIKE mirror_transfer INCLUDING INDEXES INCLUDING GENERATED) PARTITION BY RANGE (created);
DROP TABLE mirror_transfer;
ALTER TABLE partitioned RENAME TO mirror_transfer;
CREATE TABLE mirror_transfer_other PARTITION OF mirror_transfer DEFAULT;
"""
MONTHS = """
SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
WHERE inhparent = 'mirror_transfer'::regclass AND relname <> 'mirror_transfer_other'
"""
ADD = """
DELETE FROM mirror_transfer_other WHERE created >= {start} AND created < {end};
CREATE TABLE {name} PARTITION OF mirror_transfer FOR VALUES FROM ({start}) TO ({end});
"""
NAME = "mirror_transfer_%Y_%m"


def partition(_: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Replace the new table of transfers, which has only its key yet, by a partitioned one (a step of a migration)."""
    if editor.connection.vendor == "postgresql":
        editor.execute(PARTITION)


def add_months(start: int, end: int) -> None:
    """Add the months that are lacking, from that of one Unix time to that of another."""
    if connection.vendor != "postgresql":
        return
    with connection.cursor() as cursor:
        known = _known(cursor)
        month = _month(start)
        while month <= end:
            after = _month(month + 32 * DAY)
            name = datetime.fromtimestamp(month, UTC).strftime(NAME)
            if name not in known:
                cursor.execute(ADD.format(name=name, start=month * 1000, end=after * 1000))
            month = after


def expire(until: int) -> None:
    """Drop the months before this Unix time."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM mirror_transfer_other WHERE created < %s", [until * 1000])
        for name in _known(cursor):
            month = int(datetime.strptime(name, NAME).replace(tzinfo=UTC).timestamp())
            if _month(month + 32 * DAY) <= until:
                cursor.execute(f"DROP TABLE {name}")


def _known(cursor: CursorWrapper) -> set[str]:
    cursor.execute(MONTHS)
    return {name for (name,) in cursor.fetchall()}


def _month(seconds: int) -> int:
    """Return when the month of a Unix time begins."""
    start = datetime.fromtimestamp(seconds, UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return int(start.timestamp())
