"""Fixtures of tests for helpdesks and Slack: those of page tests, with everything on."""

import pytest
from django.conf import settings
from pydantic import SecretStr

from tests.helpdesk import signing
from tests.pages.conftest import emulator, patient_pages, site, still, without_response_cache

__all__ = ["emulator", "patient_pages", "site", "still", "without_response_cache"]

CHATWOOT = "https://chat.acme.example"
DESK = "https://desk.acme.example"


@pytest.fixture
def helpdesks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings.ENV, "intents_embed_hosts", [CHATWOOT, DESK])


@pytest.fixture
def slack(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings.ENV, "intents_slack_signing_secret", SecretStr(signing.SECRET))
