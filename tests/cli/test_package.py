"""The package has the command line and the emulator, and needs nothing else."""

import shutil
import signal
import subprocess
import sys
import venv
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution, distributions
from pathlib import Path

import httpx
import pytest
from packaging.requirements import Requirement

from tests.serving import ROOT, free_port, wait_for
from tests.waiting import PATIENCE

pytestmark = pytest.mark.programs


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the programs of an environment with the package and what it requires, in the versions of this one."""
    folder = tmp_path_factory.mktemp("installed")
    offline = ("--quiet", "--disable-pip-version-check", "--no-index", "--no-deps")
    pip = (sys.executable, "-m", "pip")
    subprocess.run([*pip, "wheel", *offline, "--no-build-isolation", "--wheel-dir", folder, ROOT], check=True)
    venv.create(folder / "venv")
    [wheel] = folder.glob("*.whl")
    subprocess.run([*pip, "--python", folder / "venv", "install", *offline, wheel], check=True)
    [packages] = (folder / "venv").glob("lib/python*/site-packages")
    [package] = distributions(path=[str(packages)])
    for each in required(package):
        copy(each, packages)
    return folder / "venv" / "bin"


def required(package: Distribution) -> Iterator[Distribution]:
    for requirement in map(Requirement, package.requires or []):
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            found = distribution(requirement.name)
            yield found
            yield from required(found)


def copy(package: Distribution, folder: Path) -> None:
    for file in package.files or []:
        if ".." not in file.parts:
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(str(file.locate()), folder / file)


def run(installed: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": str(installed), "NO_PROXY": "127.0.0.1"}
    command = [installed / arguments[0], *arguments[1:]]
    return subprocess.run(command, cwd=installed, env=env, capture_output=True, text=True, check=False)


def test_the_commands_are_there_and_the_dashboard_is_not(installed: Path) -> None:
    done = run(installed, "intents-ui", "--help")
    assert done.returncode == 0, done.stderr
    for command in ("lookup", "triage", "watch", "export", "emulator"):
        assert command in done.stdout
    for module in ("django", "intents_ui.pages", "intents_ui.service", "tests"):
        assert f"No module named '{module}'" in run(installed, "python", "-c", f"import {module}").stderr


def test_the_emulator_has_scenarios_and_faults(installed: Path) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}/rpc/Service"
    options = ("--port", str(port), "--scenario", "refund-failed@120", "--fault", "GetTokenList=failing-500")
    command = [installed / "intents-ui", "emulator", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
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
