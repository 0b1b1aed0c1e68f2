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
    monkeypatch.setattr(settings.ENV, "intents_helpdesk_key", SecretStr(signing.KEY))
    monkeypatch.setattr(settings.ENV, "intents_helpdesk_hosts", [DESK])
    monkeypatch.setattr(settings.ENV, "intents_chatwoot_origin", CHATWOOT)
    monkeypatch.setattr(settings.ENV, "intents_zendesk_public_key", signing.public_key())
    monkeypatch.setattr(settings.ENV, "intents_zendesk_audience", signing.AUDIENCE)


@pytest.fixture
def slack(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings.ENV, "intents_slack_signing_secret", SecretStr(signing.SECRET))
