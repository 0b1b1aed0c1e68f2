"""Signatures of requests from Slack. A request without a valid one is rejected.

Each is valid for five minutes, and is compared in constant time.
"""

import hashlib
import hmac
import re
import time
from typing import Final

from pydantic import SecretStr

VALID_SECONDS: Final = 300
SECONDS: Final = re.compile(r"[0-9]{1,12}", re.ASCII)


class Rejected(Exception):
    """The request isn't signed, or not as it should be. The message says what is wrong."""


NOT_SIGNED: Final = "The request has no signature."
WRONG: Final = "The signature is wrong."
STALE: Final = "The signature is older than five minutes."


def check_slack(key: SecretStr, *, timestamp: str, body: bytes, signature: str) -> None:
    """Check the signature of a request from Slack (version 0)."""
    if not signature:
        raise Rejected(NOT_SIGNED)
    signed = b"v0:" + timestamp.encode() + b":" + body
    expected = f"v0={hmac.new(key.get_secret_value().encode(), signed, hashlib.sha256).hexdigest()}"
    if not hmac.compare_digest(signature.encode(), expected.encode()) or not SECONDS.fullmatch(timestamp):
        raise Rejected(WRONG)
    if abs(time.time() - int(timestamp)) > VALID_SECONDS:
        raise Rejected(STALE)
