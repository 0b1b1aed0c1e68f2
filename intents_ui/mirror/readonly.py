"""Reads of the mirror for pages: over connections that can't write or wait for long."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections
from django.db.backends.base.base import BaseDatabaseWrapper

from intents_ui.mirror import coverage
from intents_ui.mirror.coverage import Coverage

log = logging.getLogger(__name__)

ALIAS = "read-only"  # Django has a pool for each alias
# Of a process, in seconds. After an outage, each read may connect again at once.
POOL = {"min_size": 0, "max_size": 8, "num_workers": 1, "timeout": 1.0, "reconnect_timeout": 1.0}
LOCK_SECONDS = 0.5
CONNECT_SECONDS = 2
STATEMENT_MILLISECONDS = 2000
MAX_AGE = 1.0  # seconds of what pages share


class CopyUnreadable(Exception):
    """The database can't be read: it is locked, missing, without the mirror's tables, or corrupt."""


@contextmanager
def reading() -> Iterator[None]:
    """Let the queries of this thread use a read-only connection. Raises CopyUnreadable."""
    usual = connections[DEFAULT_DB_ALIAS]
    connections[DEFAULT_DB_ALIAS] = reader = read_only(usual)
    try:
        with understanding():
            yield
    finally:
        connections[DEFAULT_DB_ALIAS] = usual
        reader.close()


@contextmanager
def understanding() -> Iterator[None]:
    """Raise CopyUnreadable instead of errors that values of another type cause. They are logged, because defects
    cause the same.
    """
    try:
        yield
    except (DatabaseError, OSError, ValueError, TypeError, AttributeError, LookupError, ArithmeticError) as error:
        if not isinstance(error, (DatabaseError, OSError)):
            log.warning("The mirror has a value that can't be understood", exc_info=True)
        raise CopyUnreadable(": ".join((type(error).__name__, *str(error).splitlines()[:1]))) from error


def read_only(usual: BaseDatabaseWrapper) -> BaseDatabaseWrapper:
    """Return a connection to the same database that can't write.

    With PostgreSQL it is one of a pool, because opening one takes longer than most reads.
    """
    reader = usual.copy(alias=ALIAS)
    given = reader.settings_dict
    if reader.vendor == "sqlite":
        # A file that is missing must not be created.
        given |= {"NAME": f"file:{quote(str(given['NAME']))}?mode=ro", "OPTIONS": {"timeout": LOCK_SECONDS}}
    else:
        limits = f"-c statement_timeout={STATEMENT_MILLISECONDS} -c default_transaction_read_only=on"
        options = {**given["OPTIONS"], "connect_timeout": CONNECT_SECONDS, "options": limits, "pool": POOL}
        given |= {"OPTIONS": options, "CONN_HEALTH_CHECKS": True}
    return reader


def read_coverage() -> Coverage | None:
    """Return the state of the copy, or None if it can't be read. An error is logged once until it is over."""
    try:
        with reading():
            found = coverage.current(now=coverage.service_now())
    except CopyUnreadable as error:
        if str(error) not in _logged:
            log.warning("The mirror can't be read: %s", error)
        _logged.add(str(error))
        return None
    _logged.clear()
    return found


_logged: set[str] = set()  # errors since the copy could be read
