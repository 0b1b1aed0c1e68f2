"""Dependencies are pinned and vetted, and the code runs no dynamic code."""

import base64
import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.serving import ROOT


@pytest.mark.parametrize("path", sorted(ROOT.glob("requirements*.txt")), ids=lambda path: path.name)
def test_every_installed_package_is_pinned_by_hash(path: Path) -> None:
    entries = path.read_text().replace("\\\n", " ").splitlines()
    assert entries
    assert [entry for entry in entries if not re.match(r"[a-z0-9-]+==\S+ .*--hash=sha256:[0-9a-f]{64}", entry)] == []


def test_every_install_command_requires_hashes() -> None:
    lines = [line for name in ("Makefile", "Dockerfile") for line in (ROOT / name).read_text().splitlines()]
    installing = [line for line in lines if "pip install" in line]
    assert installing
    assert all("--require-hashes" in line for line in installing)


def test_django_has_the_required_security_fixes() -> None:
    (found,) = re.findall(r"^django==(\d+)\.(\d+)\.(\d+) ", (ROOT / "requirements.txt").read_text(), re.MULTILINE)
    assert tuple(map(int, found)) >= (6, 1, 3)


def test_vendored_files_match_their_recorded_hashes() -> None:
    recorded = dict(re.findall(r"`(static/vendor/[^`]+)`, sha384 `([^`]+)`", (ROOT / "THIRD_PARTY.md").read_text()))
    found = {
        str(path.relative_to(ROOT)): base64.b64encode(hashlib.sha384(path.read_bytes()).digest()).decode()
        for path in (ROOT / "static" / "vendor").iterdir()
        if "LICENSE" not in path.name
    }
    assert found == recorded


AUDITOR = """#!/bin/sh
# Stands in for pip-audit: what it knows of the weak release, and of what is locked.
case "$*" in
  *requirements-dev.txt*) {locked} ;;
  *) {control} ;;
esac
"""
FINDS = 'echo "Found 1 known vulnerability in 1 package"; exit 1'
FINDS_NOTHING = 'echo "No known vulnerabilities found"; exit 0'
CANNOT = 'echo "ERROR: django: Dependency not found on PyPI and could not be audited"; exit 1'


@pytest.mark.parametrize(
    ("control", "locked", "env", "status", "says"),
    [
        (FINDS, FINDS_NOTHING, {}, 0, "No known"),
        (FINDS, FINDS, {}, 1, "Found 1"),
        (FINDS, CANNOT, {}, 1, "could not be audited"),
        (CANNOT, CANNOT, {}, 0, "NOT RUN"),
        (FINDS_NOTHING, FINDS_NOTHING, {}, 0, "NOT RUN"),  # the responder knows no vulnerabilities
        (CANNOT, CANNOT, {"CI": "true"}, 1, "NOT RUN"),
        (CANNOT, CANNOT, {"CI": "true", "AUDIT_OFFLINE": ""}, 1, "NOT RUN"),
        (CANNOT, CANNOT, {"CI": "true", "AUDIT_OFFLINE": "1"}, 0, "NOT RUN"),
        (FINDS, FINDS, {"CI": "true", "AUDIT_OFFLINE": "1"}, 1, "Found 1"),
    ],
)
def test_an_audit_fails_or_reports_that_it_could_not_run(
    tmp_path: Path, control: str, locked: str, env: dict[str, str], status: int, says: str
) -> None:
    (tmp_path / ".ci").mkdir()
    (tmp_path / ".ci" / "audit").write_text((ROOT / ".ci" / "audit").read_text())
    auditor = tmp_path / ".venv" / "bin" / "pip-audit"
    auditor.parent.mkdir(parents=True)
    auditor.write_text(AUDITOR.format(control=control, locked=locked))
    auditor.chmod(0o755)
    command = ["/bin/bash", tmp_path / ".ci" / "audit"]
    clean = {"PATH": os.environ["PATH"]}
    done = subprocess.run(command, env=clean | env, capture_output=True, text=True, check=False)
    assert done.returncode == status
    assert says in done.stdout


def test_no_code_runs_text_or_marks_its_own_as_html() -> None:
    """What ruff can't ban. The others: `banned-api` in pyproject.toml."""
    runs = re.compile(r"(?<![.\w])(compile|__import__)\(|def __html__")
    assert [path.name for path in (ROOT / "intents_ui").rglob("*.py") if runs.search(path.read_text())] == []


IMPORTING = """
import runpy, sys
def look(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto", "subprocess.Popen", "os.system"):
        sys.exit(f"{event} {arguments[1:]}")
sys.addaudithook(look)
import intents_ui.asgi
from intents_ui import settings
assert not {"PIL", "intents_ui.emulator.app"} & sys.modules.keys(), "an optional dependency is loaded"
print(settings.CACHES, settings.INSTALLED_APPS, settings.MIDDLEWARE)
runpy.run_path("gunicorn.conf.py")["when_ready"](None)
"""


def test_the_start_asks_nobody_and_processes_share_json_without_sessions() -> None:
    """Nor does it load what only some installations need. It says its address and its service."""
    env = {
        "PATH": os.environ["PATH"],
        "DJANGO_SETTINGS_MODULE": "intents_ui.settings",
        "INTENTS_SERVICE_URL": "https://service.invalid",
        "SECRET_KEY": "x" * 50,
        "REDIS_URL": "redis://127.0.0.1:9/0",
        "HOST": "::1",
    }
    command = [sys.executable, "-c", IMPORTING]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-500:]
    assert "JSONSerializer" in done.stdout or "'serializer': 'intents_ui." in done.stdout
    assert "pickle" not in done.stdout.lower()
    assert "session" not in done.stdout.lower()
    assert "http://[::1]:8000 (service.invalid)" in done.stdout
