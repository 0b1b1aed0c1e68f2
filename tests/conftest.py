"""What tests share: the dashboard as a reader meets it, and the programs that a test cannot do without."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.serving import dashboard


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The dashboard with the embedded service, over real HTTP."""
    with dashboard() as root:
        yield root


def needs(program: str, install: str) -> Path:
    """The program's place. Where it is missing the test is skipped and says so; in CI nothing may be skipped."""
    found = shutil.which(program)
    if found:
        return Path(found)
    sentence = f"{program} is not installed: {install}"
    if os.environ.get("CI"):
        pytest.fail(sentence)
    pytest.skip(sentence)
