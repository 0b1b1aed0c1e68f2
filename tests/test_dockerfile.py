"""The Dockerfile's commands, run in a clean folder, so that no container engine is needed."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import yaml

from tests.serving import ROOT, free_port, wait_for
from tests.unprivileged import give_to_unprivileged, unprivileged
from tests.waiting import until


def stages() -> list[list[tuple[str, str]]]:
    """Return the instructions of each stage as (word, rest)."""
    found: list[list[tuple[str, str]]] = []
    for line in (ROOT / "Dockerfile").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        word, rest = line.split(maxsplit=1)
        if word == "FROM":
            found.append([])
        found[-1].append((word, rest))
    return found


def environment(stage: list[tuple[str, str]]) -> dict[str, str]:
    return dict(pair.split("=", 1) for word, rest in stage if word == "ENV" for pair in shlex.split(rest))


def ignore_rules() -> list[tuple[re.Pattern[str], bool]]:
    """Return each line of .dockerignore, and whether it excludes or includes. The last match wins."""
    found = []
    for line in (ROOT / ".dockerignore").read_text().split():
        translated = re.escape(line.removeprefix("!")).replace(r"\*\*/", "(?:.*/)?").replace(r"\*", "[^/]*")
        found.append((re.compile(f"{translated}(?:/.*)?"), not line.startswith("!")))
    return found


def is_ignored(path: str, rules: list[tuple[re.Pattern[str], bool]]) -> bool:
    return next((keeps_out for rule, keeps_out in reversed(rules) if rule.fullmatch(path)), False)


def send(context: Path) -> None:
    """Copy the files in the build context, and no others."""
    rules = ignore_rules()
    for top in ROOT.iterdir():
        if is_ignored(top.name, rules):
            continue
        for path in [top, *top.rglob("*")]:
            place = path.relative_to(ROOT)
            if path.is_file() and not is_ignored(place.as_posix(), rules):
                (context / place).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, context / place)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Run the build stage's commands, with the folder in place of `/app`."""
    image = tmp_path_factory.mktemp("image")
    app, context = image / "app", image / "context"
    app.mkdir()
    send(context)
    build = stages()[0]
    # In the image `python3` is that of its base, here that of the tests. Packages come from the machine's sources.
    path = f"{Path(sys.base_prefix) / 'bin'}:{os.environ['PATH']}"
    mirrors = {name: each for name, each in os.environ.items() if name.startswith(("PIP_", "SSL_", "HTTPS_", "HTTP_"))}
    clean = {"PATH": path, "HOME": str(app), **mirrors, **environment(build)}
    for word, rest in build:
        if word == "COPY":
            *sources, target = rest.split()
            for source in sources:
                copy(context / source, app / target)
        elif word == "RUN":
            subprocess.run(rest.replace("/app", str(app)), shell=True, check=True, cwd=app, env=clean)  # noqa: S602 - commands of our own Dockerfile
    may_be_written(app, False)
    yield app
    may_be_written(app, True)
    shutil.rmtree(image)


def may_be_written(folder: Path, yes: bool) -> None:
    """Restrict writing as in a container with a read-only root."""
    for path in [folder, *folder.rglob("*")]:
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | 0o200 if yes else path.stat().st_mode & ~0o222)


def copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target)
    else:
        shutil.copy(source, target)


def test_the_final_stage_is_unprivileged_and_free_of_build_tools() -> None:
    last = stages()[-1]
    words = [word for word, _ in last]
    assert ("USER", "10001") in last
    assert "HEALTHCHECK" in words
    assert [rest for word, rest in last if word == "COPY"] == ["--from=build /app /app"]
    assert not re.search(r"\b(gcc|make|build-essential|apt-get)\b", str(last))


@pytest.mark.programs
def test_the_image_has_no_build_dependencies_and_compiled_code_only(built: Path) -> None:
    no_pip = subprocess.run([built / ".venv/bin/python", "-m", "pip"], capture_output=True, text=True, check=False)
    assert no_pip.stderr.endswith("No module named pip\n")
    assert not list((built / ".venv/bin").glob("pip*"))
    sources = list((built / "intents_ui").rglob("*.py"))
    assert sources
    assert not [path for path in sources if not list((path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"))]
    templates = list((built / ".templates").iterdir())
    assert len(templates) == len(list((built / "templates").rglob("*.*")))
    assert all(file.stat().st_mode & 0o004 for file in templates), "the image's user can read them"


@pytest.mark.programs
def test_the_image_serves_collected_files_as_a_user_without_write_access(built: Path) -> None:
    last, before = stages()[-1], files(built)
    port = free_port()
    command = next(rest for word, rest in last if word == "CMD").strip("[]").replace('"', "").split(", ")
    env = {"PATH": os.environ["PATH"], **environment(last), "PORT": str(port), "HOST": "127.0.0.1"}
    command = [part.replace("/app", str(built)) for part in command]
    process = subprocess.Popen([*unprivileged(), *command], cwd=built, env=env)
    try:
        page = wait_for(f"http://127.0.0.1:{port}/", process)
        assert os.geteuid() != 0 or "Uid:\t10001" in Path(f"/proc/{process.pid}/status").read_text()
        style = re.search(r'href="(/static/css/frame\.[0-9a-f]{6}\.css)"', page.text)
        assert style, "static files carry a hash in their names"
        answer = wait_for(f"http://127.0.0.1:{port}{style[1]}", process)
        assert "immutable" in answer.headers["cache-control"]
        assert health(built, env) == 0
    finally:
        process.terminate()
        process.wait(60)
    assert health(built, env) != 0
    assert files(built) == before


@pytest.mark.programs
def test_the_image_runs_a_dashboard_and_its_mirror_as_in_the_compose_file(built: Path, tmp_path: Path) -> None:
    service = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]["dashboard"]
    command = [part.replace("/app", str(built)) for part in service["command"]]
    port, before = free_port(), files(built)
    env = {"PATH": os.environ["PATH"], **environment(stages()[-1]), "PORT": str(port), "HOST": "127.0.0.1"}
    env |= {"INTENTS_SERVICE_URL": "embedded", "INTENTS_DATABASE": str(tmp_path / "mirror.sqlite3")}
    give_to_unprivileged(tmp_path)
    process = subprocess.Popen([*unprivileged(), *command], cwd=built, env=env)
    try:
        wait_for(f"http://127.0.0.1:{port}/", process)
        until(lambda: httpx.get(f"http://127.0.0.1:{port}/insight.json", trust_env=False).status_code == 200)
    finally:
        process.terminate()
        assert process.wait(60) == 0
    assert files(built) == before


def files(folder: Path) -> dict[Path, float]:
    return {path: path.lstat().st_mtime for path in folder.rglob("*")}


def health(built: Path, env: dict[str, str]) -> int:
    """Return the exit code of the container's HEALTHCHECK."""
    check = next(rest for word, rest in stages()[-1] if word == "HEALTHCHECK")
    command = check.partition(" CMD ")[2].replace("/app", str(built))
    return subprocess.run(["/bin/sh", "-c", command], cwd=built, env=env, capture_output=True, check=False).returncode


def test_the_build_context_contains_only_what_the_build_needs() -> None:
    rules = ignore_rules()
    copied = [source for word, rest in stages()[0] if word == "COPY" for source in rest.split()[:-1]]
    assert not [source for source in copied if is_ignored(source, rules)]
    for path in (".git/config", ".venv/bin/python", "tests/conftest.py", ".env", "intents_ui/__pycache__/asgi.pyc"):
        assert is_ignored(path, rules), path
