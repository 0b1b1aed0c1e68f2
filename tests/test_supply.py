"""Dependencies are pinned and vetted, and the code runs no dynamic code."""

import ast
import base64
import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.serving import ROOT

PACKAGE = ROOT / "intents_ui"
# Functions that run text, other programs, or deserialized objects.
NEVER_CALLED = {"eval", "exec", "compile", "__import__"}
NEVER_IMPORTED = {"pickle", "marshal", "shelve", "dill", "yaml", "subprocess", "pty", "code", "multiprocessing"}
NEVER_ASKED_OF_OS = {"system", "popen", "fork", "spawnl", "spawnv", "posix_spawn"}
# They start this interpreter with our own programs (gunicorn, mirror, the demo's past) and no untrusted arguments.
MAY_IMPORT = {"runserver.py": {"subprocess"}, "demo.py": {"multiprocessing"}}


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


def test_no_code_runs_dynamic_code_or_other_programs() -> None:
    words = re.compile(rf"\b({'|'.join(NEVER_CALLED | NEVER_IMPORTED | NEVER_ASKED_OF_OS)})\b")
    suspects = [path for path in PACKAGE.rglob("*.py") if words.search(path.read_text())]
    assert [f"{path}:{line}" for path in suspects for line in dangerous(path)] == []


def dangerous(path: Path) -> Iterator[int]:
    never = NEVER_IMPORTED - MAY_IMPORT.get(path.name, set())
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in NEVER_CALLED:
                yield node.lineno
            case ast.Import(names=names) if never & {each.name.partition(".")[0] for each in names}:
                yield node.lineno
            case ast.ImportFrom(module=str(name)) if name.partition(".")[0] in NEVER_IMPORTED:
                yield node.lineno
            case ast.Attribute(value=ast.Name(id="os"), attr=name) if name in NEVER_ASKED_OF_OS:
                yield node.lineno


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
