"""HMAC signatures for data in shared storage. Data that this installation didn't sign is ignored."""

import hashlib
import hmac
from typing import Final

from intents_ui.service.counters import Counters, Event

LENGTH: Final = hashlib.sha256().digest_size


class Seal:
    """Signs and verifies content. Thread-safe.

    `key` is derived from the installation's secret, with a different one for each kind of content. `tally` counts
    invalid signatures.
    """

    def __init__(self, key: bytes, *, tally: Counters | None = None) -> None:
        self.tally = tally or Counters()
        self._key = key

    def close(self, content: bytes, *, place: str) -> bytes:
        """Return the content with its signature, which is valid for this place only."""
        return self._signature(content, place) + content

    def open(self, sealed: bytes, *, place: str) -> bytes | None:
        """Return the content, or None, counted in the tally, if the signature is invalid."""
        signature, content = sealed[:LENGTH], sealed[LENGTH:]
        if hmac.compare_digest(signature, self._signature(content, place)):
            return content
        self.tally.add(Event.UNSIGNED)
        return None

    def _signature(self, content: bytes, place: str) -> bytes:
        return hmac.digest(
            self._key, hashlib.sha256(place.encode("utf-8", "surrogatepass")).digest() + content, "sha256"
        )
