"""What an operator was shown, signed into the form that confirms it, so that exactly those bytes are sent."""

import hashlib
from dataclasses import dataclass
from typing import Any, Final

from django.core import signing
from django.utils.crypto import constant_time_compare

SECONDS: Final = 3600  # for which a confirmation can be sent
SHOWN_AGAIN: Final = 100_000  # characters of what was confirmed that its form carries, to be compared with what changed
COMMIT: Final = "intents_ui.confirmations.commit"
REQUEST: Final = signing.Signer(salt="intents_ui.confirmations.request")


@dataclass(frozen=True)
class Confirmed:
    """`text` is None where what was shown is too long to be carried."""

    digest: str
    text: str | None

    def is_of(self, text: str) -> bool:
        return constant_time_compare(self.digest, digest(text))


def signed(text: str, *, intent_id: str, form: str) -> str:
    carried = text if len(text) <= SHOWN_AGAIN else None
    return signing.dumps([intent_id, form, digest(text), carried], salt=COMMIT, compress=True)


def read(given: str, *, intent_id: str, form: str) -> Confirmed | None:
    """Return what this form confirms; None if the signature is not ours, or of another intent or form."""
    try:
        named: list[Any] = signing.loads(given, salt=COMMIT, max_age=SECONDS)
    except signing.BadSignature:
        return None
    return Confirmed(named[2], named[3]) if named[:2] == [intent_id, form] else None


def proof(operation: str, text: str) -> str:
    """Return the signature of a request by hand that is shown for confirmation."""
    return REQUEST.signature(f"{operation} {digest(text)}")


def proves(given: str, *, operation: str, text: str) -> bool:
    return constant_time_compare(given.encode(errors="replace"), proof(operation, text).encode())


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
