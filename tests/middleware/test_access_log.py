"""One line for each request, without what a user typed."""

import logging

import pytest

from intents_ui.ops import logs
from tests.faults.hostile import ask
from tests.pages.conftest import emulator

__all__ = ["emulator"]


@pytest.mark.usefixtures("emulator")
def test_a_line_names_the_page_and_neither_path_nor_query(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logs.REQUESTS):
        for path in ("/search?q=canary", "/nowhere/canary?a=canary"):
            ask("GET", path, headers={"User-Agent": "canary", "Referer": "http://localhost/canary"})
    lines = [record for record in caplog.records if record.name == logs.REQUESTS]
    assert [record.getMessage().partition(",")[0] for record in lines] == ["GET search 404", "GET none 404"]
    assert not any("canary" in f"{record.getMessage()} {record.args}" for record in lines)
