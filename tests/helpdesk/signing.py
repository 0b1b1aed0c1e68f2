"""Requests as helpdesks and Slack send them. Slack's are signed, rightly and wrongly."""

import hashlib
import hmac
import time
from typing import Final
from urllib.parse import urlencode

SECRET: Final = "a signing secret of Slack"
PATH: Final = "/embed/ticket"


def url_of(written: str) -> str:
    """Return the URL of the side bar with a text."""
    return f"{PATH}?{urlencode({'q': written})}"


def digest(key: str, signed: bytes) -> str:
    return hmac.new(key.encode(), signed, hashlib.sha256).hexdigest()


def slack_headers(body: str, *, secret: str = SECRET, age: float = 0, signed: str | None = None) -> dict[str, str]:
    """Return Slack's headers for a body. `signed` is another body, which was signed instead."""
    timestamp = str(int(time.time() - age))
    signature = digest(secret, f"v0:{timestamp}:{body if signed is None else signed}".encode())
    return {"X-Slack-Request-Timestamp": timestamp, "X-Slack-Signature": f"v0={signature}"}
