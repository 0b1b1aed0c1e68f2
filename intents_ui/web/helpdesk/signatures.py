"""Signatures of requests from helpdesks and from Slack. A request without a valid one is rejected.

Each is valid for five minutes, and is compared in constant time.
"""

import hashlib
import hmac
import re
import time
from typing import Final
from urllib.parse import parse_qs, urlsplit

from django.conf import settings
from django.core.signing import BadSignature, SignatureExpired, TimestampSigner
from pydantic import SecretStr

VALID_SECONDS: Final = 300
# Clocks of Zendesk and of this machine may differ this much.
SKEW_SECONDS: Final = 30
# How long an open side bar can look up texts.
PASS_SECONDS: Final = 8 * 3600
SECONDS: Final = re.compile(r"[0-9]{1,12}", re.ASCII)


class Rejected(Exception):
    """The request isn't signed, or not as it should be. The message says what is wrong."""


NOT_SIGNED: Final = "The request has no signature."
WRONG: Final = "The signature is wrong."
STALE: Final = "The signature is older than five minutes."


def check_url(path: str, query: str) -> None:
    """Check a signed URL: the HMAC of all before its last parameter, `signature`, with INTENTS_HELPDESK_KEY."""
    signed, _, given = query.rpartition("&signature=")
    _compare(given, _hmac(settings.ENV.intents_helpdesk_key, f"{path}?{signed}".encode()))
    _check_time("".join(parse_qs(signed).get("time", [])))


def check_zendesk(token: str) -> None:
    """Check the token that Zendesk sends when it opens an app with signed URLs."""
    import jwt  # imported only when used, because it is large

    env = settings.ENV
    if env.intents_zendesk_public_key is None or env.intents_zendesk_audience is None:
        raise Rejected(WRONG)
    account = str(urlsplit(env.intents_zendesk_audience).hostname)
    try:
        claims = jwt.decode(
            token,
            env.intents_zendesk_public_key,
            algorithms=["RS256"],
            audience=env.intents_zendesk_audience,
            issuer=[account, f"https://{account}"],
            leeway=SKEW_SECONDS,
            options={"require": ["aud", "exp", "iat", "iss", "nbf"]},
        )
    except jwt.ExpiredSignatureError:
        raise Rejected(STALE) from None
    except jwt.InvalidTokenError:
        raise Rejected(WRONG) from None
    _check_age(int(claims["iat"]))


def check_slack(*, timestamp: str, body: bytes, signature: str) -> None:
    """Check the signature of a request from Slack (version 0)."""
    signed = b"v0:" + timestamp.encode() + b":" + body
    _compare(signature, f"v0={_hmac(settings.ENV.intents_slack_signing_secret, signed)}")
    _check_time(timestamp)


def new_pass(opened_by: str) -> str:
    """Return what lets the form of an opened side bar look up texts."""
    return _signer().sign(opened_by)


def check_pass(given: str) -> str:
    """Return what has opened the side bar."""
    try:
        return _signer().unsign(given, max_age=PASS_SECONDS)
    except SignatureExpired:
        raise Rejected("The side bar was opened too long ago.") from None
    except BadSignature:
        raise Rejected(WRONG if given else NOT_SIGNED) from None


def _signer() -> TimestampSigner:
    return TimestampSigner(salt="intents_ui.helpdesk")


def _hmac(key: SecretStr | None, signed: bytes) -> str:
    if key is None:
        raise Rejected(WRONG)
    return hmac.new(key.get_secret_value().encode(), signed, hashlib.sha256).hexdigest()


def _compare(given: str, expected: str) -> None:
    if not given:
        raise Rejected(NOT_SIGNED)
    if not hmac.compare_digest(given.encode(), expected.encode()):
        raise Rejected(WRONG)


def _check_time(written: str) -> None:
    if not SECONDS.fullmatch(written):
        raise Rejected(WRONG)
    _check_age(int(written))


def _check_age(signed_at: int) -> None:
    if abs(time.time() - signed_at) > VALID_SECONDS:
        raise Rejected(STALE)
