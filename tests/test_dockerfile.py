"""The Dockerfile's own commands, run in a clean folder: no container engine is needed to know that they work."""

import os
import re
import shlex
import shutil
import subprocess
import sys
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
    # In the image `python3` is the one that its base names; here it is the one that runs the tests.
    path = f"{Path(sys.base_prefix) / 'bin'}:{os.environ['PATH']}"
    clean = {"PATH": path, "HOME": str(app), **pip_settings(), **environment(build)}
    for word, rest in build:
        if word == "COPY":
            *sources, target = rest.split()
            for source in sources:
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


def as_the_images_user() -> list[str]:
    """In front of a command: it may write nothing here, and read even what is root's alone."""
    if os.geteuid() != 0:
        return []
    may_read = ("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search")
    return ["setpriv", "--reuid=10001", "--regid=10001", "--clear-groups", *may_read, "--"]


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
    command = [part.replace("/app", str(built)) for part in command]
    process = subprocess.Popen([*as_the_images_user(), *command], cwd=built, env=env)
    try:
        page = wait_for(f"http://127.0.0.1:{port}/", process)
        assert os.geteuid() != 0 or "Uid:\t10001" in Path(f"/proc/{process.pid}/status").read_text()
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
