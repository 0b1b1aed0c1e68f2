"""The mirror's database in Django's settings."""

import hashlib
import importlib.util
import re
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlsplit

from intents_ui import installation

# Options of a PostgreSQL URL. `host` is for the directory of a Unix socket.
POSTGRES_OPTIONS: Final = {"host", "sslmode", "sslrootcert"}


def of_url(url: str) -> dict[str, Any]:
    """Return Django's settings for a database. Raises ValueError if there can be none at this URL."""
    if url.startswith(("postgres://", "postgresql://")):
        return _postgres(url)
    path = Path(re.sub("^//+", "/", url.removeprefix("sqlite://")))  # `sqlite:////path` is usual, too
    if "://" in str(path) or (url.startswith("sqlite:") and not path.is_absolute()):
        raise ValueError("must be a path, sqlite:///path or postgres://user:password@host/name")
    if not path.is_absolute():
        path = (Path() if installation.IS_WHEEL else installation.ROOT).absolute() / path
    if path.is_dir() or not path.parent.is_dir():
        raise ValueError("must be a file in a directory that exists")
    return sqlite(path)


def of_demo() -> dict[str, Any]:
    """Return a file of this installation that belongs to the tables as they are now."""
    tables = Path(__file__).with_name("models.py").read_bytes()
    name = f"mirror-{hashlib.sha256(tables).hexdigest()[:8]}.sqlite3"
    return sqlite(installation.generated() / ".demo" / name)


def sqlite(path: Path) -> dict[str, Any]:
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": path,
        "OPTIONS": {
            "transaction_mode": "IMMEDIATE",
            # IDs are random, so each row of a backfill changes another page of their index. The usual cache of 2 MB
            # and a checkpoint of each 1,000 pages would read and write most of them again and again.
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL",
        },
    }


def _postgres(url: str) -> dict[str, Any]:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ValueError("must be postgres://user:password@host:port/name") from None
    options = dict(parse_qsl(parts.query))
    if unknown := options.keys() - POSTGRES_OPTIONS:
        raise ValueError(f"must have no options other than {', '.join(sorted(POSTGRES_OPTIONS))}, not {min(unknown)}")
    name = unquote(parts.path).removeprefix("/")
    host = options.pop("host", unquote(parts.hostname or ""))
    if not name or not host:
        raise ValueError("must name the host and the database: postgres://user:password@host/name")
    if not all(map(is_installed, ("psycopg", "psycopg_pool"))):
        raise ValueError('requires packages that are not installed: pip install "intents-ui[postgres]"')
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": host,
        "PORT": port or "",
        # A process that is frozen inside a transaction must not block the next leader.
        "OPTIONS": {**options, "options": "-c idle_in_transaction_session_timeout=10000"},
        # They would stay open if a transaction is cut off, and PgBouncer has none.
        "DISABLE_SERVER_SIDE_CURSORS": True,
    }


def is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # nor is its parent package
        return False
