"""The wheel: built, installed into an empty environment, and run in an empty folder."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from intents_ui.installation import version
from tests.browser.kinds import every
from tests.serving import ROOT, free_port, wait_for
from tests.waiting import PATIENCE, until

# Of transfers in the tests' own mirror.
WITHOUT_DEMO = ("address of a recipient", "incident", "search for a shortened ID")


def environment(folder: Path) -> dict[str, str]:
    """Return the environment of a user whose home is a folder. Packages come from the machine's sources."""
    mirrors = {name: each for name, each in os.environ.items() if name.startswith(("PIP_", "SSL_", "HTTPS_", "HTTP_"))}
    return {"PATH": os.environ["PATH"], "HOME": str(folder), **mirrors}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the console script of a wheel that is installed with its dependencies and nothing else."""
    folder = tmp_path_factory.mktemp("wheel")

    def run(*command: str | Path) -> None:
        subprocess.run(command, check=True, cwd=folder, env=environment(folder), stdout=subprocess.DEVNULL)

    options = ("--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", folder)
    run(sys.executable, "-m", "pip", "wheel", *options, ROOT)
    run(sys.executable, "-m", "venv", "packages")
    (wheel,) = folder.glob("intents_ui-*.whl")
    pip = (folder / "packages/bin/python", "-m", "pip", "install", "--quiet")
    run(*pip, "--require-hashes", "--requirement", ROOT / "requirements.txt")
    run(*pip, "--no-index", f"{wheel}[postgres,sentry]")  # fails unless the lock has all that it requires
    return folder / "packages/bin/intents-ui"


@pytest.fixture(scope="module")
def served(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder, port = tmp_path_factory.mktemp("empty"), free_port()
    root = f"http://127.0.0.1:{port}"
    process = subprocess.Popen(
        [installed, "serve", str(port)], cwd=folder, env=environment(folder), start_new_session=True
    )
    try:
        wait_for(f"{root}/healthz", process)
        with httpx.Client(base_url=root, trust_env=False, timeout=PATIENCE) as client:
            yield client
    finally:
        process.terminate()
        assert process.wait(PATIENCE) == 0
    assert [each.name for each in folder.iterdir()] == [".cache"], "it writes nothing else"


@pytest.mark.programs
@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (["version"], 0, f"{version()}\n"),
        (["--help"], 0, "usage: intents-ui COMMAND"),
        ([], 2, "usage: intents-ui COMMAND"),
        (["launch"], 2, "usage: intents-ui COMMAND"),
        (["serve", "--help"], 0, "usage: intents-ui serve "),
        (["mirror", "--help"], 0, "usage: intents-ui mirror "),
        (["doctor", "--help"], 0, "usage: intents-ui doctor "),
        (["emulator", "--help"], 0, "usage: intents-ui emulator "),
        (["emulator", "--list"], 0, "Scenarios:\n"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_commands(installed: Path, tmp_path: Path, words: list[str], status: int, says: str) -> None:
    done = subprocess.run(
        [installed, *words], cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True, check=False
    )
    assert (done.returncode, (done.stdout or done.stderr)[: len(says)]) == (status, says)


@pytest.mark.programs
def test_every_kind_of_page_is_served_outside_a_checkout(served: httpx.Client) -> None:
    until(lambda: served.get("/insight.json").json()["total"]["isComplete"], pause=0.2)
    found = [each for each in every(str(served.base_url).rstrip("/")) if each.status == 200]
    answers = {kind.name: served.get(kind.path).status_code for kind in found if kind.name not in WITHOUT_DEMO}
    assert {name: status for name, status in answers.items() if status != 200} == {}
    assert len(answers) > 80
    succeeded = next(kind.path for kind in found if kind.name == "transfer, succeeded")
    assert served.get(f"{succeeded}/card.png").headers["Content-Type"] == "image/png"


@pytest.mark.programs
def test_its_files_are_collected_and_its_version_is_shown(served: httpx.Client) -> None:
    page = served.get("/help").text
    assert f"intents-ui {version()}" in page
    (style,) = (part.partition('"')[0] for part in page.split('href="')[1:] if part.startswith("/static/css/frame."))
    answer = served.get(style)
    assert answer.status_code == 200
    assert "immutable" in answer.headers["Cache-Control"]


@pytest.mark.programs
def test_a_cache_folder_that_cannot_be_written_ends_the_start_with_a_sentence(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    env = environment(tmp_path) | {"XDG_CACHE_HOME": str(tmp_path / "file")}
    done = subprocess.run([installed, "serve"], cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.endswith("can't be written (NotADirectoryError). Set XDG_CACHE_HOME to a folder that can.\n")
