"""Balances of an intent, found in its owner's history by the second in which it was created."""

import json
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from intents_ui import app
from intents_ui.service import request_context
from intents_ui.service.client import ServiceClient
from intents_ui.service.errors import Refused
from intents_ui.service.models import Intent, IntentHistory
from intents_ui.service.operations import ServiceConfig
from intents_ui.transfers.transfer import PENDING, Transfer
from intents_ui.web import reading
from intents_ui.web.reading import entry_of

OWNER = "0x" + "11" * 20
WANTED = "0x" + "ab" * 32
CREATED = datetime(2026, 11, 21, 11, 59, 50, 250_000, tzinfo=UTC)


class Service:
    """A history of these IDs, or one that refuses."""

    def __init__(self, *ids: str) -> None:
        self._ids = ids
        self.requested: list[dict[str, Any]] = []

    def entry(self, created_at: datetime = CREATED, intent_id: str = WANTED) -> IntentHistory | None:
        service = ServiceClient(ServiceConfig("http://x"), transport=httpx.MockTransport(self._answer))
        return entry_of(service, intent_id, owner=OWNER, created_at=created_at)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requested.append(json.loads(request.content))
        if not self._ids:
            return _json({"error": "Invalid", "code": 2000, "msg": "?", "status": 400}, status=400)
        rows = [{"intentId": intent_id, "hasBalance": True, "balances": []} for intent_id in self._ids]
        return _json({"intents": rows})


def _json(document: dict[str, Any], *, status: int = 200) -> httpx.Response:
    return httpx.Response(status, stream=httpx.ByteStream(json.dumps(document).encode()))


def test_balances_are_requested_from_the_owners_intents_of_the_creation_second():
    service = Service("0x1", WANTED.upper().replace("X", "x"))
    found = service.entry()
    assert found is not None
    assert found.intent_id.lower() == WANTED
    (asked,) = service.requested
    second = int(CREATED.timestamp())
    assert asked == {
        "page": {"pageSize": 50, "sort": [{"column": "id", "order": "DESC"}]},
        "byOwnerAddress": OWNER,
        "fromTime": second,
        "toTime": second + 1,
        "includeBalances": True,
    }


def test_a_rejected_request_is_an_error_not_an_empty_result():
    with pytest.raises(Refused):
        Service().entry()


def test_balances_are_waited_for_until_the_deadline_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    class Silent:
        def result(self, seconds: float) -> None:
            waits.append(seconds)
            raise TimeoutError

    monkeypatch.setattr(app.current().service.threads, "submit_background", lambda _: Silent())
    created = {"intentId": WANTED, "ownerAddress": OWNER, "createdAt": CREATED.isoformat()}
    transfer = Transfer(Intent.model_validate(created), None, now=datetime.now(UTC))
    with request_context.within(1.0):
        assert reading.balances_within(transfer, seconds=60) is PENDING
    assert waits[0] <= 1.0
    with request_context.within(0):
        assert reading.balances_within(transfer, seconds=60) is PENDING
    assert reading.balances_within(transfer, seconds=60) is PENDING
    assert waits[1:] == [60]
