"""The mirror's database, and the mirror's process."""

import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import psycopg

from bench.processes import KEY, clean, ended
from tests.mirror.postgres import server

DAY, HOUR = 86_400, 3600
NO_TABLES = (sqlite3.OperationalError, psycopg.errors.UndefinedTable)
UNSEALED = 'SELECT COUNT(*) FROM mirror_window WHERE NOT is_sealed AND start >= ? AND "end" <= ?'


class Database:
    """The mirror's database, read while the mirror writes it: a file, or the URL of a PostgreSQL server."""

    def __init__(self, path: Path | str) -> None:
        self.path = path

    def rows(self, query: str, *values: int) -> list[tuple[int, ...]]:
        if isinstance(self.path, Path):
            with closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)) as database:
                return database.execute(query, values).fetchall()
        with closing(psycopg.connect(self.path)) as database:
            return database.execute(query.replace("?", "%s"), values).fetchall()

    @property
    def transfers(self) -> int:
        return self.rows("SELECT COALESCE(SUM(rows), 0) FROM mirror_window")[0][0]

    def is_sealed(self, since: int, until: int) -> bool:
        """Return whether this time is sealed."""
        with suppress(*NO_TABLES):
            if self.rows("SELECT COUNT(*) FROM mirror_window")[0][0]:
                return self.rows(UNSEALED, since, until)[0][0] == 0
        return False


@contextmanager
def sqlite() -> Iterator[Database]:
    with tempfile.TemporaryDirectory(prefix="intents-mirror-") as folder:
        yield Database(Path(folder, "mirror.sqlite3"))


@contextmanager
def postgres() -> Iterator[Database]:
    with server() as url:
        yield Database(url)


@contextmanager
def mirror(url: str, database: Database, *command: str, calls: int = 5) -> Iterator["subprocess.Popen[bytes]"]:
    """Run `manage.py mirror` during the block. `calls` is `INTENTS_MIRROR_CALLS`, by default as in production."""
    settings = {"INTENTS_DATABASE": str(database.path), "INTENTS_MIRROR_CALLS": str(calls)}
    env = clean(INTENTS_SERVICE_URL=url, SECRET_KEY=KEY, **settings)
    with ended(["manage.py", "mirror", *command], env=env, stdout=subprocess.DEVNULL) as process:
        yield process
