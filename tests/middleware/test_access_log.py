"""The status of a request without a response: that its client left is no error of the dashboard."""

import asyncio
import logging

import pytest

from intents_ui.middleware.access_log import RequestLog
from intents_ui.ops.logs import REQUESTS


@pytest.mark.parametrize(("error", "status"), [(asyncio.CancelledError(), 499), (RuntimeError("a bug"), 500)])
def test_only_an_exception_is_an_error(caplog: pytest.LogCaptureFixture, error: BaseException, status: int) -> None:
    request = RequestLog({"path": "/help", "method": "GET", "headers": [], "client": ("127.0.0.1", 50_000)})
    with caplog.at_level(logging.INFO, REQUESTS):
        request.end(error)
    assert f"GET none {status}," in caplog.text
