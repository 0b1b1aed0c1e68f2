"""The emulator, with responses that a test can change."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from django.core.cache import cache

from intents_ui import app, startup
from intents_ui.emulator.app import Emulator
from intents_ui.service.client import ServiceClient
from tests.pages.conftest import switch_to
from tests.pages.recorded import Recorded, Script

REFERENCE = {"GetChains", "GetTokenList"}


class Odd:
    """The site with changed responses."""

    def __init__(self, way: Recorded) -> None:
        self.way = way
        self._use()

    def rewrite(self, **changes: Script) -> None:
        """Set the changes. Lists of names stay cached unless they change, because every page would load them again."""
        names_stay = not REFERENCE & (changes.keys() | self.way.changes.keys())
        self.way.changes = changes
        self._use(**({"catalog": app.current().catalog} if names_stay else {}))

    def _use(self, **given: Any) -> None:
        self.client = ServiceClient(app.service_config(), transport=self.way)
        switch_to(replace(startup.build(emulator=app.current().emulator, service=self.client), **given))
        cache.clear()


@contextmanager
def odd_service(emulator: Emulator, monkeypatch: pytest.MonkeyPatch) -> Iterator[Odd]:
    yield Odd(Recorded(emulator))
