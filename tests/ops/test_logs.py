"""The log has a line for each request, without what a user typed, and metrics those of several processes."""

import asyncio
import contextlib
import io
import logging
from contextlib import closing
from pathlib import Path
from unittest.mock import Mock

import pytest
from django.test import Client
from prometheus_client.mmap_dict import MmapedDict, mmap_key

from intents_ui import application
from intents_ui.ops import logs, metrics
from intents_ui.ops.logs import MAX_ONCE, OnceOnly
from tests.pages.conftest import emulator

__all__ = ["emulator"]


@pytest.mark.usefixtures("emulator")
def test_a_rejected_request_leaves_one_line_in_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.StringIO()
    monkeypatch.setattr(logging.getHandlerByName("console"), "stream", written)
    assert Client().get("/tokens", {f"a{number}": "1" for number in range(1001)}).status_code == 400
    (line,) = written.getvalue().splitlines()
    assert "WARNING django.security.TooManyFieldsSent" in line


@pytest.mark.parametrize(("error", "status"), [(asyncio.CancelledError(), 499), (RuntimeError("a bug"), 500)])
async def test_that_a_client_left_is_no_error(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, error: BaseException, status: int
) -> None:
    monkeypatch.setattr(application, "http", Mock(side_effect=error))
    scope = {"path": "/help", "method": "GET", "headers": [], "client": ("127.0.0.1", 50_000)}
    with caplog.at_level(logging.INFO, logs.REQUESTS), contextlib.suppress(type(error)):
        await application.logged(scope, Mock(), Mock())
    assert f"GET none {status}," in caplog.text


def record(message: str, **extra: object) -> logging.LogRecord:
    found = logging.LogRecord("a logger", logging.WARNING, __file__, 1, message, (), None)
    vars(found).update(extra)
    return found


def test_a_message_for_once_is_logged_once_and_few_different_ones() -> None:
    once = OnceOnly()
    assert [once.filter(record("a", once=True)) for _ in range(3)] == [True, False, False]
    assert once.filter(record("b", once=True))
    assert sum(once.filter(record(str(number), once=True)) for number in range(3 * MAX_ONCE)) == MAX_ONCE - 2
    assert [once.filter(record("a")) for _ in range(2)] == [True, True]


def test_a_scrape_leaves_out_the_files_of_processes_that_start_or_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(metrics.FOLDER, str(tmp_path))
    monkeypatch.setattr(metrics, "IS_SHARED", True)
    for pid in (1, 2):
        key = mmap_key("intents_ui_rejected", "intents_ui_rejected_total", ["stage"], ["view"], "Rejected.")
        with closing(MmapedDict(str(tmp_path / f"counter_{pid}.db"))) as file:
            file.write_value(key, 3.0, 0.0)
    (tmp_path / "counter_3.db").touch()  # created, and not yet as large as it will be
    (tmp_path / "gauge_livesum_4.db").symlink_to(tmp_path / "removed after it was listed")
    assert 'intents_ui_rejected_total{stage="view"} 6.0' in metrics.text().decode().splitlines()
