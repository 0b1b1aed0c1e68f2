"""Redis-backed response cache shared between processes.

Responses are stored compressed as received and parsed again when read, so nothing is unpickled. If Redis is
unavailable, slow, full or has invalid data, each process sends its own requests.
"""

import hashlib
import time
import zlib
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, cast

from intents_ui.service.cache.redis_guard import RedisGuard
from intents_ui.service.cache.seal import Seal
from intents_ui.service.operations.operations import Question

FORMAT: Final = 2
PAUSE: Final = 5.0  # seconds without Redis calls after a failure
PATIENCE: Final = 0.05  # Redis timeout in seconds. The service itself isn't much slower
LONGEST: Final = 3600.0  # longest TTL in seconds
MOST_BYTES: Final = 256 * 1024  # of a compressed response
MOST_INFLATED: Final = 8 * 2**20
QUICK: Final = 1  # a zlib level: a third larger than the best one, in a fifth of the time


class RedisEntry(NamedTuple):
    """Response from Redis. Ages are in seconds, subject to the clock skew between hosts."""

    asked: float
    learned: float
    text: str


class RedisCache:
    """Redis cache. Thread-safe.

    `whose` identifies the service and access key without revealing them. `seal` signs each response together with its
    key. `now` returns Unix time, which hosts share.
    """

    def __init__(
        self,
        url: str,
        *,
        whose: str,
        seal: Seal,
        now: Callable[[], float] = time.time,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        from redis import Redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry

        self._redis = Redis.from_url(
            url, socket_timeout=PATIENCE, socket_connect_timeout=PATIENCE, retry=Retry(NoBackoff(), 0)
        )
        self._prefix = f"intents-ui:answer:{FORMAT}:{whose}:"
        self._seal = seal
        self._now = now
        self._call = RedisGuard("each process sends its own requests", pause=PAUSE, clock=clock).call

    def find(self, question: Question) -> RedisEntry | None:
        return self._found(question, self._call(lambda: cast("bytes | None", self._redis.get(self._key(question)))))

    def find_all(self, questions: Sequence[Question]) -> list[RedisEntry | None]:
        """Return the cached response of each call in one round trip."""
        if not questions:
            return []
        values = self._call(lambda: cast("list[bytes | None]", self._redis.mget([*map(self._key, questions)])))
        return [self._found(*each) for each in zip(questions, values or [None] * len(questions), strict=True)]

    def _found(self, question: Question, value: bytes | None) -> RedisEntry | None:
        if value is None:
            return None
        content = self._seal.open(value, place=self._key(question))
        try:
            asked_at, learned_at, text = _read(content or b"")
        except (ValueError, zlib.error):
            self.drop(question)
            return None
        return RedisEntry(max(self._now() - asked_at, 0.0), max(self._now() - learned_at, 0.0), text)

    def keep(self, question: Question, content: bytes, *, asked: float, seconds: float) -> None:
        """Store a response that just arrived to a request sent `asked` seconds ago, for `seconds` at most."""
        value = self._seal.close(_written(self._now() - asked, self._now(), content), place=self._key(question))
        if len(value) <= MOST_BYTES:
            milliseconds = round(min(seconds, LONGEST) * 1000)
            self._call(lambda: self._redis.set(self._key(question), value, px=max(milliseconds, 1)))

    def drop(self, *questions: Question) -> None:
        self._call(lambda: self._redis.delete(*map(self._key, questions)))

    def close(self) -> None:
        self._redis.close()

    def _key(self, question: Question) -> str:
        """Return the Redis key. It contains a hash of the request, because keys are listed and logged."""
        operation, request = question
        return f"{self._prefix}{operation}:{hashlib.blake2b(request, digest_size=20).hexdigest()}"


def _written(asked_at: float, learned_at: float, content: bytes) -> bytes:
    return zlib.compress(b"%.6f %.6f\n%b" % (asked_at, learned_at, content), QUICK)


def _read(value: bytes) -> tuple[float, float, str]:
    """Decode an entry. Raises ValueError or zlib.error if it is invalid."""
    inflater = zlib.decompressobj()
    written = inflater.decompress(value, MOST_INFLATED)
    if not inflater.eof:
        raise ValueError("it is too large, or cut off")
    head, _, content = written.partition(b"\n")
    asked_at, learned_at = map(float, head.split(b" "))
    return asked_at, learned_at, content.decode()
