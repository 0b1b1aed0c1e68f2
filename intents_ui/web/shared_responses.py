"""Responses of the service in Django's cache (Redis), for all processes with the same service and access key.

They are stored as received and parsed again when read. If Redis is unavailable, slow, full or has invalid data, each
process sends its own requests.
"""

import hashlib
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from django.core.cache.backends.base import BaseCache
from django.core.signing import BadSignature, Signer

from intents_ui.service.cache import SharedResponse
from intents_ui.service.operations import CacheKey
from intents_ui.service.redis import RedisGuard, shared_ignored

FORMAT: Final = 4
MAX_SECONDS: Final = 3600.0
MAX_CHARACTERS: Final = 400_000  # of a compressed response


class SignedValues:
    """Signs values in Redis. What this installation didn't sign is ignored, because others may write there, too.

    Thread-safe. `purpose` and the place of a value are signed with it, so that it is valid nowhere else.
    """

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
        shared_ignored["unsigned"].inc()
        return None


class SharedResponses:
    """Second level of the response cache. Thread-safe.

    `owner` identifies the service and access key without revealing them. Each response is signed together with its
    key, so that data that this installation didn't write is ignored. `now` returns Unix time, which hosts share.
    """

    def __init__(
        self,
        cache: BaseCache,
        guard: RedisGuard,
        *,
        owner: str,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._cache = cache
        self._guard = guard
        self._prefix = f"responses:{FORMAT}:{owner}:"
        self._signed = SignedValues("responses")
        self._now = now

    def get(self, keys: Sequence[CacheKey]) -> list[SharedResponse | None]:
        """Return the cached response of each call, in one round trip."""
        names = [self._name(key) for key in keys]
        try:
            values = self._guard.call(lambda: self._cache.get_many(names)) or {}
        except ValueError:  # not the cache's own format
            values = {}
        return [self._read(name, values[name]) if name in values else None for name in names]

    def _read(self, name: str, value: object) -> SharedResponse | None:
        found = self._signed.unsign(str(value), place=name)
        if found is None:
            return None
        asked_at, learned_at, text = found
        return SharedResponse(max(self._now() - asked_at, 0.0), max(self._now() - learned_at, 0.0), text)

    def set(self, key: CacheKey, text: str, *, asked: float, seconds: float) -> None:
        """Store a response that just arrived to a request sent `asked` seconds ago, for `seconds` at most."""
        name = self._name(key)
        value = self._signed.sign([self._now() - asked, self._now(), text], place=name)
        if len(value) <= MAX_CHARACTERS:
            self._guard.call(lambda: self._cache.set(name, value, max(min(seconds, MAX_SECONDS), 1)))

    def delete(self, keys: Sequence[CacheKey]) -> None:
        names = [self._name(key) for key in keys]
        self._guard.call(lambda: self._cache.delete_many(names))

    def _name(self, key: CacheKey) -> str:
        """Return the key in the cache. It contains a hash of the request, because keys are listed and logged."""
        operation, request = key
        return f"{self._prefix}{operation}:{hashlib.blake2b(request, digest_size=20).hexdigest()}"
