"""Dependencies are pinned and vetted, and the code runs no dynamic code."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.serving import ROOT

OURS = sorted((ROOT / "intents_ui").rglob("*.py"))
EVERY = [*OURS, ROOT / "gunicorn.conf.py", *(ROOT / "bench").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]
# Functions that run text, other programs, or deserialized objects.
NEVER_CALLED = {"eval", "exec", "compile", "__import__"}
NEVER_IMPORTED = {"pickle", "marshal", "shelve", "dill", "yaml", "subprocess", "pty", "code", "multiprocessing"}
NEVER_ASKED_OF_OS = {"system", "popen", "fork", "spawnl", "spawnv", "posix_spawn"}
REASON = re.compile(r"#\s*noqa: ?(?P<codes>[A-Z]+[0-9]+(?:, ?[A-Z]+[0-9]+)*)(?P<reason>.*)")


def settings_of(tool: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"][tool]


@pytest.mark.parametrize(
    "name",
    [
        "requirements.txt",
        "requirements-dev.txt",
        "requirements-mutation.txt",
        "requirements-postgres.txt",
        "requirements-telemetry.txt",
    ],
)
def test_every_installed_package_is_pinned_by_hash(name: str) -> None:
    entries = (ROOT / name).read_text().replace("\\\n", " ").splitlines()
    assert len(entries) > 30
    assert [entry for entry in entries if not re.match(r"[a-z0-9-]+==\S+ .*--hash=sha256:[0-9a-f]{64}", entry)] == []


def test_django_has_the_required_security_fixes() -> None:
    (found,) = re.findall(r"^django==(\d+)\.(\d+)\.(\d+) ", (ROOT / "requirements.txt").read_text(), re.MULTILINE)
    assert tuple(map(int, found)) >= (6, 1, 3)


def test_every_install_command_requires_hashes() -> None:
    installing = [line for line in (ROOT / "Makefile").read_text().splitlines() if "pip install" in line]
    installing += [line for line in (ROOT / "Dockerfile").read_text().splitlines() if "pip install" in line]
    assert len(installing) == 4
    assert all("--require-hashes" in line for line in installing)


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
    ("control", "locked", "status", "says"),
    [
        (FINDS, FINDS_NOTHING, 0, "No known"),
        (FINDS, FINDS, 1, "Found 1"),
        (FINDS, CANNOT, 1, "could not be audited"),
        (CANNOT, CANNOT, 0, "NOT RUN"),
        # The responder knows no vulnerabilities.
        (FINDS_NOTHING, FINDS_NOTHING, 0, "NOT RUN"),
    ],
)
def test_an_audit_fails_or_reports_that_it_could_not_run(
    tmp_path: Path, control: str, locked: str, status: int, says: str
) -> None:
    (tmp_path / ".ci").mkdir()
    (tmp_path / ".ci" / "audit").write_text((ROOT / ".ci" / "audit").read_text())
    auditor = tmp_path / ".venv" / "bin" / "pip-audit"
    auditor.parent.mkdir(parents=True)
    auditor.write_text(AUDITOR.format(control=control, locked=locked))
    auditor.chmod(0o755)
    done = subprocess.run(["/bin/bash", tmp_path / ".ci" / "audit"], capture_output=True, text=True, check=False)
    assert done.returncode == status
    assert says in done.stdout


def test_checks_run_before_tests() -> None:
    rules = (ROOT / "Makefile").read_text()
    (needed, check), (_, lint) = (
        re.findall(rf"^{name}:(.*)\n((?:\t.*\n)+)", rules, re.MULTILINE)[0] for name in ("check", "lint")
    )
    assert needed.split()[0] == "lint"
    assert ".ci/audit" in check
    for tool in ("ruff format --check .", "ruff check .", "mypy", "lint-imports"):
        assert tool in lint
    for name, options in (("test", ""), ("deep", " --deep")):
        assert re.search(rf"^{name}:.*\n\t@.ci/tests{options}$", rules, re.MULTILINE)
    script = (ROOT / ".ci" / "tests").read_text()
    # Browser tests start in parallel with the checks.
    assert "make --no-print-directory check || exit 1\n" in script.partition('"${others[@]}" "${workers[@]}"')[0]


def test_ruffs_security_rules_apply_everywhere_but_in_tests() -> None:
    lint = settings_of("ruff")["lint"]
    assert "S" in lint["select"]
    assert "ignore" not in lint
    switched_off = {
        path: [code for code in codes if code.startswith("S")] for path, codes in lint["per-file-ignores"].items()
    }
    assert [path for path, codes in switched_off.items() if codes] == ["tests/**"]


def test_every_disabled_security_rule_has_a_reason() -> None:
    assert [place for place, codes, reason in switched_off() if "S" in codes.split() and len(reason.split()) < 2] == []


def switched_off() -> Iterator[tuple[str, str, str]]:
    for path in EVERY:
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            if found := REASON.search(line):
                letters = {re.sub(r"[0-9]", "", code.strip()) for code in found["codes"].split(",")}
                yield f"{path.relative_to(ROOT)}:{number}", " ".join(letters), found["reason"].strip(" -")


# They start this interpreter with our own programs (image decoder, gunicorn, mirror) and no untrusted arguments.
MAY_IMPORT = {"sandbox.py": {"subprocess"}, "runserver.py": {"subprocess"}}


@pytest.mark.parametrize("path", OURS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_code_runs_dynamic_code_or_other_programs(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Call(func=ast.Name(id=name)):
                assert name not in NEVER_CALLED, f"line {node.lineno}"
            case ast.Import(names=names):
                never = NEVER_IMPORTED - MAY_IMPORT.get(path.name, set())
                assert not never & {each.name.partition(".")[0] for each in names}, f"line {node.lineno}"
            case ast.ImportFrom(module=module):
                assert (module or "").partition(".")[0] not in NEVER_IMPORTED, f"line {node.lineno}"
            case ast.Attribute(value=ast.Name(id="os"), attr=name):
                assert name not in NEVER_ASKED_OF_OS, f"line {node.lineno}"


def test_processes_share_json_only_and_there_are_no_sessions() -> None:
    result = answer_of(
        "import json; from intents_ui import settings as s;"
        "print(json.dumps([s.CACHES, s.INSTALLED_APPS, s.MIDDLEWARE], default=str))",
        REDIS_URL="redis://127.0.0.1:9/0",
    )
    assert '"serializer": "intents_ui.' in result or "JSONSerializer" in result
    assert "pickle" not in result.lower()
    assert "session" not in result.lower()


IMPORTING = """
import socket, sys
def look(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto", "subprocess.Popen", "os.system"):
        sys.exit(f"{event} {arguments[1:]}")
sys.addaudithook(look)
import intents_ui.asgi
print("nobody was asked")
"""


def test_importing_the_dashboard_sends_no_request() -> None:
    result = answer_of(IMPORTING, INTENTS_SERVICE_URL="https://service.invalid", SECRET_KEY="x" * 50)
    assert result == "nobody was asked\n"


def answer_of(program: str, **env: str) -> str:
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-500:]
    return done.stdout
