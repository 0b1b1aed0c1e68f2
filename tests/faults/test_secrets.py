"""The access key never appears in exceptions, tracebacks, settings or command lines.

Pages, headers, streams and logs of the whole run are searched by tests/canary.py.
"""

import asyncio
import logging
import os
from contextlib import aclosing, contextmanager
from pathlib import Path

import httpx
import pytest
from django.test import Client, RequestFactory
from django.views.debug import technical_500_response

from intents_ui import app, settings
from intents_ui.service import operations
from intents_ui.service.errors import ServiceError
from tests import canary
from tests.canary import KEY
from tests.pages.conftest import fresh
from tests.service.clients import client
from tests.service.scripted_server import Visit, answering, serving
from tests.waiting import PATIENCE


def told_of(error: BaseException) -> str:
    """Everything that hangs on an exception."""
    parts = (error, vars(error), error.args, error.__cause__, error.__context__)
    return "\n".join((str(error), *map(repr, parts)))


def debug_page(error: BaseException) -> str:
    """With the variables of every frame."""
    info = (type(error), error, error.__traceback__)
    return technical_500_response(RequestFactory().get("/"), *info).content.decode()


@pytest.mark.parametrize("script", [Visit.reset, answering("[]")])
def test_no_traceback_with_local_variables_contains_the_access_key(script):
    with serving(script) as server:
        with client(server.url) as service, pytest.raises(ServiceError) as failed:
            service.ask(operations.get_intent("0x1"))
        with pytest.raises(ServiceError) as awaited:
            asyncio.run(one_question(server.url))
    for error in (failed.value, awaited.value):
        assert "get_intent" in debug_page(error)
        assert KEY not in debug_page(error)


async def one_question(url: str) -> None:
    async with aclosing(client(url, total=0.3)) as service:
        await service.ask_async(operations.get_intent("0x1"))


def test_an_internal_error_before_the_call_does_not_reveal_the_access_key(monkeypatch):
    def fails(_: object) -> bytes:
        raise ZeroDivisionError

    monkeypatch.setattr(operations.decode, "write", fails)
    with client("http://127.0.0.1:9") as service, pytest.raises(ZeroDivisionError) as failed:
        service.ask(operations.get_intent("0x1"))
    assert KEY not in told_of(failed.value) + debug_page(failed.value)


def test_printed_settings_do_not_contain_the_access_key():
    assert settings.ENV.intents_service_access_key is not None
    assert settings.ENV.intents_service_access_key.get_secret_value() == KEY
    for result in (
        settings.ENV,
        settings.ENV.model_dump(),
        settings.ENV.model_dump_json(),
        app.service_config(),
        vars(settings),
    ):
        assert KEY not in repr(result)


@pytest.mark.programs
def test_the_access_key_is_on_no_command_line_and_in_no_page(server):
    """Of any process that is ours: the dashboard's, and its workers'."""
    with httpx.Client(base_url=server, trust_env=False, timeout=PATIENCE) as visitor:
        for path in ("/", "/console/GetChains?ask=fields", "/nowhere", "/healthz", "/chains", "/intent/0x12"):
            answer = visitor.get(path)
            assert KEY not in answer.text + str(answer.headers)
    processes = Path("/proc").glob("[0-9]*/cmdline")
    lines = [each.read_bytes() for each in processes if os.access(each, os.R_OK) and each.exists()]
    assert any(b"gunicorn" in line for line in lines), "no dashboard was to be seen"
    assert [line for line in lines if KEY.encode() in line and b"intents_ui.emulator" not in line] == []


@pytest.mark.parametrize(
    "let_slip",
    [
        lambda: logging.getLogger("intents_ui.x").debug("key", extra={"headers": {"X-Access-Key": KEY}}),
        lambda: Client().get("/search", {"q": KEY}),
        lambda: canary.look("a print", f"x{KEY}x"),
    ],
    ids=["log", "page", "output"],
)
def test_the_scan_of_the_whole_run_detects_the_access_key(let_slip):
    assert canary.seen == []
    with contextmanager(fresh)():
        let_slip()  # type: ignore[operator]
    assert canary.seen
    canary.seen.clear()
