"""Signed values in Redis. What this installation didn't sign is ignored, because others may write there, too."""

from typing import Any

from django.core.signing import BadSignature, Signer

from intents_ui.service import metrics


class SignedValues:
    """Thread-safe. `purpose` and the place of a value are signed with it, so that it is valid nowhere else."""

    def __init__(self, purpose: str, *, key: str | None = None) -> None:
        self._signer = Signer(key=key, salt=f"intents_ui.{purpose}")

    def sign(self, value: object, *, place: str) -> str:
        return self._signer.sign_object([place, value], compress=True)

    def unsign(self, signed: str, *, place: str) -> Any | None:
        """Return the value, or None, which is counted, if the signature is invalid."""
        try:
            found, value = self._signer.unsign_object(signed)
        except (BadSignature, ValueError):
            found = value = None
        if found == place:
            return value
        metrics.shared_ignored["unsigned"].inc()
        return None
