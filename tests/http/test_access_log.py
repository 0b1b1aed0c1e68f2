"""One line for each request, without what a user typed."""

import asyncio
import contextlib
import logging

import pytest

from intents_ui.application import RequestLog
from intents_ui.ops import logs
from tests.pages.asgi import ask
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


@pytest.mark.parametrize(("error", "status"), [(asyncio.CancelledError(), 499), (RuntimeError("a bug"), 500)])
def test_that_a_client_left_is_no_error(caplog: pytest.LogCaptureFixture, error: BaseException, status: int) -> None:
    request = RequestLog({"path": "/help", "method": "GET", "headers": [], "client": ("127.0.0.1", 50_000)})
    with caplog.at_level(logging.INFO, logs.REQUESTS), contextlib.suppress(type(error)), request:
        raise error
    assert f"GET none {status}," in caplog.text
