"""Signed confirmations: a form carries what the operator was shown, so that exactly those bytes are sent."""

import hashlib
from dataclasses import dataclass
from typing import Any, Final

from django.core import signing
from django.utils.crypto import constant_time_compare

SECONDS: Final = 3600  # lifetime of a confirmation
SHOWN_AGAIN: Final = 100_000  # characters of the confirmed text that the form carries, to show what changed since
COMMIT: Final = "intents_ui.http.confirmations.commit"
REQUEST: Final = signing.Signer(salt="intents_ui.http.confirmations.request")


@dataclass(frozen=True)
class Confirmed:
    """Content of a confirmation. `text` is None if it was too long for the form."""

    digest: str
    text: str | None


def sign_commit(text: str, *, intent_id: str, form: str) -> str:
    carried = text if len(text) <= SHOWN_AGAIN else None
    return signing.dumps([intent_id, form, digest(text), carried], salt=COMMIT, compress=True)


def read_commit(given: str, *, intent_id: str, form: str) -> Confirmed | None:
    """Return the form's confirmation, or None if its signature is invalid or for another intent or form."""
    try:
        named: list[Any] = signing.loads(given, salt=COMMIT, max_age=SECONDS)
    except signing.BadSignature:
        return None
    return Confirmed(named[2], named[3]) if named[:2] == [intent_id, form] else None


def sign(operation: str, text: str) -> str:
    """Return the signature of a raw request shown for confirmation."""
    return REQUEST.signature(f"{operation} {digest(text)}")


def verify(given: str, *, operation: str, text: str) -> bool:
    return constant_time_compare(given.encode(errors="replace"), sign(operation, text).encode())


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
