"""The package has the command line and the emulator, and nothing of the dashboard."""

import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from zipfile import ZipFile

import httpx
import pytest

from tests.serving import ROOT, free_port, wait_for
from tests.waiting import PATIENCE

pytestmark = pytest.mark.programs

COMMAND = (sys.executable, "-m", "intents_ui.cli")


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the content of the wheel."""
    folder = tmp_path_factory.mktemp("package")
    offline = ("--quiet", "--disable-pip-version-check", "--no-index", "--no-deps", "--no-build-isolation")
    subprocess.run([sys.executable, "-m", "pip", "wheel", *offline, "--wheel-dir", folder, ROOT], check=True)
    [wheel] = folder.glob("*.whl")
    ZipFile(wheel).extractall(folder)
    return folder


def started(package: Path, command: Sequence[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(command, cwd=package, env={"PATH": ""}, stdout=subprocess.PIPE, text=True)


def test_it_has_the_commands_and_not_the_dashboard(package: Path) -> None:
    said, _ = started(package, [*COMMAND, "--help"]).communicate(timeout=PATIENCE)
    for command in ("lookup", "triage", "watch", "export", "emulator"):
        assert command in said
    assert {path.parent.name for path in package.glob("intents_ui/*/__init__.py")} == {"cli", "display", "emulator"}


def test_the_emulator_has_scenarios_and_faults(package: Path) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}/rpc/Service"
    options = ("--port", str(port), "--scenario", "refund-failed@120", "--fault", "GetTokenList=failing-500")
    process = started(package, [*COMMAND, "emulator", *options])
    try:
        wait_for(f"{url}/GetChains", process)
        with httpx.Client(trust_env=False, timeout=PATIENCE) as client:
            assert client.post(f"{url}/GetChains", json={}).status_code == 200
            assert client.post(f"{url}/GetTokenList", json={"chainIds": [1]}).status_code == 500
    finally:
        process.send_signal(signal.SIGTERM)
        said, _ = process.communicate(timeout=PATIENCE)
    assert said.split()[0] == "refund-failed"
    assert process.returncode == 0
