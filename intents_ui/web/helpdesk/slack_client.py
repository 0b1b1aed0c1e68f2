"""Calls to Slack, which only happen with a bot token."""

import logging
from collections.abc import Mapping
from typing import Any, Final

import httpx
from pydantic import SecretStr

from intents_ui.display.formatting import text

API: Final = "https://slack.com/api"
SECONDS: Final = 1.0  # Slack waits three for the answer to its event

log = logging.getLogger(__name__)


def unfurl(token: SecretStr, *, message: Mapping[str, str], unfurls: Mapping[str, Any]) -> None:
    """Show blocks below the links of a message. A failure is only logged, because Slack then shows its own preview."""
    try:
        response = httpx.post(
            f"{API}/chat.unfurl",
            json={**message, "unfurls": unfurls},
            headers={"Authorization": f"Bearer {token.get_secret_value()}"},
            timeout=SECONDS,
        )
        result = response.json()
        problem = "" if result["ok"] else text.visible(str(result["error"]))[:100]
    except (httpx.HTTPError, ValueError, LookupError, TypeError) as error:
        problem = type(error).__name__
    if problem:
        log.warning("Slack shows no transfer below a link: %s", problem)
