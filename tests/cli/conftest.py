"""A dashboard on a real socket, with an embedded service that the test controls."""

from collections.abc import Iterator

import pytest

from intents_ui.emulator.app import Emulator
from tests.command_line import listening
from tests.pages.conftest import emulator, patient_pages, site, without_response_cache

__all__ = ["emulator", "patient_pages", "site", "without_response_cache"]  # fixtures of page tests


@pytest.fixture
def root(emulator: Emulator) -> Iterator[str]:
    with listening() as url:
        yield url
