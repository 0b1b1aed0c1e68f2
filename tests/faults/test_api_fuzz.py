"""Schemathesis sends valid and invalid requests to every operation of the API, and compares answers with its schema."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = 60


@pytest.mark.slow
def test_every_operation_answers_as_it_is_described(server: str, tmp_path: Path) -> None:
    """Values can be of the right type and still be rejected, such as a chain that is not listed."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "run", f"{server}/api/openapi.json", "--url", server),
            *("--checks", "all", "--exclude-checks", "positive_data_acceptance", "--suppress-health-check", "all"),
            *("--max-examples", str(EXAMPLES), "--generation-deterministic"),
            *("--continue-on-failure", "--no-color"),
        ],
        cwd=tmp_path,  # it has a cache
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
