"""What tests share: the dashboard as a reader meets it, and the programs that a test cannot do without."""

import os
import shutil
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from tests import canary
from tests.serving import dashboard

pytest_plugins = ["tests.sampling"]


def pytest_configure() -> None:
    """All dashboards of the run have an access key, and nothing that comes out of them may hold it."""
    from intents_ui import settings  # pytest-django has told Django by now where they are
    from intents_ui.service import guard

    os.environ["INTENTS_SERVICE_ACCESS_KEY"] = canary.KEY
    settings.ENV.intents_service_access_key = SecretStr(canary.KEY)
    # What a page says must not depend on how busy the machine is; tests of slow answers set their own waits.
    guard.COPY_PATIENCE = 5.0
    os.environ["INTENTS_BALANCE_TIMEOUT"] = "2"
    settings.ENV.intents_balance_timeout = 2.0
    canary.watch()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, pytest.TestReport]:
    report: pytest.TestReport = yield
    for name, told in report.sections:
        canary.look(name, told)
    if report.when == "teardown" and canary.seen:
        report.outcome = "failed"
        report.longrepr = f"The access key was seen: {', '.join(dict.fromkeys(canary.seen))}"
        canary.seen.clear()
    return report


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
