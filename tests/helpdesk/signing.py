"""Signatures as helpdesks and Slack make them, right and wrong."""

import hashlib
import hmac
import time
from functools import cache
from typing import Any, Final
from urllib.parse import urlencode

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

KEY: Final = "a key that the helpdesk knows"
SECRET: Final = "a signing secret of Slack"
ACCOUNT: Final = "acme.zendesk.com"
AUDIENCE: Final = f"https://{ACCOUNT}/api/v2/apps/installations/1.json"
PATH: Final = "/embed/ticket"
MINUTE: Final = 60


@cache
def private_key() -> str:
    """Return Zendesk's private key in PEM."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


@cache
def public_key() -> str:
    key = jwt.algorithms.RSAAlgorithm(jwt.algorithms.RSAAlgorithm.SHA256).prepare_key(private_key())
    assert isinstance(key, rsa.RSAPrivateKey)
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def digest(key: str, signed: bytes) -> str:
    return hmac.new(key.encode(), signed, hashlib.sha256).hexdigest()


def signed_url(written: str, *, key: str = KEY, path: str = PATH, age: float = 0) -> str:
    """Return a signed URL for a text."""
    url = f"{path}?{urlencode({'q': written, 'time': int(time.time() - age)})}"
    return f"{url}&signature={digest(key, url.encode())}"


def claims(**changes: Any) -> dict[str, Any]:
    """Return what Zendesk claims, changed. None leaves out a claim."""
    now = int(time.time())
    known = {"iss": ACCOUNT, "aud": AUDIENCE, "sub": f"https://{ACCOUNT}/api/v2/users/1.json"}
    known |= {"iat": now, "nbf": now, "exp": now + 10 * MINUTE} | changes
    return {name: value for name, value in known.items() if value is not None}


def token(**changes: Any) -> str:
    """Return Zendesk's token."""
    return jwt.encode(claims(**changes), private_key(), algorithm="RS256")


def unsigned_token() -> str:
    return jwt.encode(claims(), None, algorithm="none")


def slack_headers(body: str, *, secret: str = SECRET, age: float = 0, signed: str | None = None) -> dict[str, str]:
    """Return Slack's headers for a body. `signed` is another body, which was signed instead."""
    timestamp = str(int(time.time() - age))
    signature = digest(secret, f"v0:{timestamp}:{body if signed is None else signed}".encode())
    return {"X-Slack-Request-Timestamp": timestamp, "X-Slack-Signature": f"v0={signature}"}
