"""Faults of the embedded service, which is called in this process. The demo's own pages prove the rest."""

import asyncio
import json
from typing import Any

import pytest

from intents_ui.service import operations
from intents_ui.service.client import InProcessTransport, ServiceClient
from intents_ui.service.errors import Reason, Unreachable
from tests.service.clients import config


async def application(scope: Any, receive: Any, send: Any) -> None:
    if json.loads((await receive())["body"])["intentId"] == "slow":
        await asyncio.sleep(600)
    raise AssertionError("told to")


def error_of(intent_id: str, *, total: float = 10.0) -> Unreachable:
    client = ServiceClient(config("http://embedded", total=total), transport=InProcessTransport(application))
    with client as service, pytest.raises(Unreachable) as caught:
        service.ask(operations.get_intent(intent_id))
    return caught.value


def test_a_slow_call_is_cut_off_at_the_timeout() -> None:
    assert error_of("slow", total=0.1).reason is Reason.TIMEOUT


def test_an_exception_in_the_application_is_a_service_error(caplog: pytest.LogCaptureFixture) -> None:
    assert error_of("fail").status == 500
    assert "told to" in caplog.text
