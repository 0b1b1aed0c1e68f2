"""The mirror's database in the settings, and a dashboard without one."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from intents_ui.mirror import database
from intents_ui.mirror.database import of_url
from tests.serving import ROOT
from tests.test_settings import start

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


def test_a_real_service_without_a_database_has_no_mirror() -> None:
    assert databases(**REAL) == {}


def test_demo_data_is_mirrored_in_the_checkout() -> None:
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
