"""A signature on what this installation writes where others may write too: what is not signed by it is not believed."""

import hashlib
import hmac
from typing import Final

from intents_ui.service.tally import Event, Tally

LENGTH: Final = hashlib.sha256().digest_size


class Seal:
    """`key`: derived from the installation's secret, another one for each kind of content. Safe for threads.

    `tally` counts what was signed by nobody, or by another installation.
    """

    def __init__(self, key: bytes, *, tally: Tally | None = None) -> None:
        self.tally = tally or Tally()
        self._key = key

    def close(self, content: bytes, *, place: str) -> bytes:
        """Sign content for the place where it lies: in another place it counts as unsigned."""
        return self._signature(content, place) + content

    def open(self, sealed: bytes, *, place: str) -> bytes | None:
        """Return the content; None, and one more in the tally, if its signature is not ours."""
        signature, content = sealed[:LENGTH], sealed[LENGTH:]
        if hmac.compare_digest(signature, self._signature(content, place)):
            return content
        self.tally.add(Event.UNSIGNED)
        return None

    def _signature(self, content: bytes, place: str) -> bytes:
        return hmac.digest(
            self._key, hashlib.sha256(place.encode("utf-8", "surrogatepass")).digest() + content, "sha256"
        )
