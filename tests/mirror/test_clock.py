"""Windows are by the service's clock."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest

from intents_ui import wiring
from intents_ui.management.commands.mirror import Command
from intents_ui.service.client import ServiceClient
from tests.mirror.world import World, answer


class Ahead(World):
    """A service whose clock is three minutes ahead."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        date = format_datetime(datetime.now(UTC) + timedelta(minutes=3), usegmt=True)
        return answer(b'{"intents": []}', headers={"Date": date})


def test_the_mirror_follows_the_clock_of_the_service(monkeypatch: pytest.MonkeyPatch, copy: None) -> None:
    client = ServiceClient(wiring.config(), transport=Ahead())
    monkeypatch.setattr("intents_ui.management.commands.mirror.service", lambda: client)
    monkeypatch.setattr("signal.signal", lambda *_: None)
    mirror = Command()._mirror()
    writer = mirror.lead()
    assert writer is not None
    mirror.step(writer)
    ahead = mirror.now() - datetime.now(UTC)
    assert timedelta(minutes=2, seconds=58) < ahead < timedelta(minutes=3, seconds=2)
