"""The Dockerfile's own commands, run in a clean folder: no container engine is needed to know that they work."""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.serving import free_port, wait_for

ROOT = Path(__file__).parent.parent


def stages() -> list[list[tuple[str, str]]]:
    """The instructions of each stage, as (word, rest)."""
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


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The build stage's commands, with the folder standing for `/app`."""
    app = tmp_path_factory.mktemp("image") / "app"
    app.mkdir()
    build = stages()[0]
    clean = {"PATH": os.environ["PATH"], "HOME": str(app), **pip_settings(), **environment(build)}
    for word, rest in build:
        if word == "COPY":
            source, target = rest.split()
            copy(ROOT / source, app / target)
        elif word == "RUN":
            subprocess.run(rest.replace("/app", str(app)), shell=True, check=True, cwd=app, env=clean)  # noqa: S602
    yield app
    shutil.rmtree(app)


def copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(source, target)


def pip_settings() -> dict[str, str]:
    """Where packages come from is the machine's business."""
    return {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "HTTPS_", "HTTP_"))}


def test_the_last_stage_runs_without_rights_and_without_what_built_it() -> None:
    last = stages()[-1]
    words = [word for word, _ in last]
    assert ("USER", "10001") in last
    assert "HEALTHCHECK" in words
    assert [rest for word, rest in last if word == "COPY"] == ["--from=build /app /app"]
    assert not re.search(r"\b(gcc|make|build-essential|apt-get)\b", str(last))


def test_the_image_serves_the_dashboard_from_collected_files_as_another_user(built: Path) -> None:
    last = stages()[-1]
    port = free_port()
    command = next(rest for word, rest in last if word == "CMD").strip("[]").replace('"', "").split(", ")
    env = {"PATH": os.environ["PATH"], **environment(last), "PORT": str(port), "HOST": "127.0.0.1"}
    as_user = {"user": 10001, "group": 10001} if os.geteuid() == 0 else {}
    for folder in (built, *built.parents):  # pytest's folders are its user's own
        if os.geteuid() == 0 and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o055)
    process = subprocess.Popen([part.replace("/app", str(built)) for part in command], cwd=built, env=env, **as_user)
    try:
        page = wait_for(f"http://127.0.0.1:{port}/", process)
        style = re.search(r'href="(/static/css/components\.[0-9a-f]{12}\.css)"', page.text)
        assert style, "static files carry a hash in their names"
        answer = wait_for(f"http://127.0.0.1:{port}{style[1]}", process)
        assert "immutable" in answer.headers["cache-control"]
    finally:
        process.terminate()
        process.wait(20)


def test_beyond_loopback_the_image_refuses_to_start_without_a_service(built: Path) -> None:
    env = {"PATH": os.environ["PATH"], **environment(stages()[-1])}
    refused = subprocess.run(
        [built / ".venv/bin/python", "-m", "gunicorn", "--config", "gunicorn.conf.py"],
        cwd=built, env=env, capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip
    assert refused.returncode != 0
    assert refused.stderr.strip().splitlines()[-1].startswith("INTENTS_SERVICE_URL:")
