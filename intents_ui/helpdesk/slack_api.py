"""Requests of Slack and to it: their signatures, and transfers below links.

A request without a valid signature is rejected. Each is valid for five minutes, and is compared in constant time. Calls
to Slack only happen with a bot token.
"""

import hashlib
import hmac
import logging
import re
import time
from collections.abc import Mapping
from typing import Any, Final

import httpx
from django.http import HttpRequest
from pydantic import SecretStr

from intents_ui.formatting import text

VALID_SECONDS: Final = 300
TIMESTAMP: Final = re.compile(r"[0-9]{1,12}", re.ASCII)
NOT_SIGNED: Final = "The request has no signature."
WRONG: Final = "The signature is wrong."
STALE: Final = "The signature is older than five minutes."
API: Final = "https://slack.com/api"
API_SECONDS: Final = 1.0  # Slack waits three for the answer to its event

log = logging.getLogger(__name__)


def signature_problem(request: HttpRequest, key: SecretStr) -> str:
    """Return what is wrong with the signature (version 0) of a request from Slack, or ""."""
    timestamp = request.headers.get("X-Slack-Request-Timestamp", "")
    signature = request.headers.get("X-Slack-Signature", "")
    if not signature:
        return NOT_SIGNED
    signed = b"v0:" + timestamp.encode() + b":" + request.body
    expected = f"v0={hmac.new(key.get_secret_value().encode(), signed, hashlib.sha256).hexdigest()}"
    if not hmac.compare_digest(signature.encode(), expected.encode()) or not TIMESTAMP.fullmatch(timestamp):
        return WRONG
    return STALE if abs(time.time() - int(timestamp)) > VALID_SECONDS else ""


def unfurl(token: SecretStr, *, message: Mapping[str, str], unfurls: Mapping[str, Any]) -> None:
    """Show blocks below the links of a message. A failure is only logged, because Slack then shows its own preview."""
    try:
        response = httpx.post(
            f"{API}/chat.unfurl",
            json={**message, "unfurls": unfurls},
            headers={"Authorization": f"Bearer {token.get_secret_value()}"},
            timeout=API_SECONDS,
        )
        result = response.json()
        problem = "" if result["ok"] else text.visible(str(result["error"]))[:100]
    except (httpx.HTTPError, ValueError, LookupError, TypeError) as error:
        problem = type(error).__name__
    if problem:
        log.warning("Slack shows no transfer below a link: %s", problem)
