"""Response cache: in memory, with an optional second level that other processes share.

Each kind of response has three ages: fresh, shown while it is renewed, and shown if the service fails
(`operations.POLICIES`).
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple, Protocol, cast

from cachetools import LRUCache, TTLCache

from intents_ui.service import decode, operations
from intents_ui.service.errors import NotFound, OutOfTime, Overloaded, ServiceError
from intents_ui.service.models import HistoryAnswer, Intent, IntentReceipt, SearchAnswer
from intents_ui.service.operations import CacheKey, Kind, Policy, ServiceCall, ServiceConfig
from intents_ui.service.outcome import is_older

MAX_BYTES: Final = 20 * 2**20
WEIGHT: Final = 6  # bytes of memory per byte received. Measured: 4 for a history, 6 for a receipt
ENTRY_BYTES: Final = 2_000  # overhead of an entry
MAX_NOT_FOUND: Final = 2_000
NOT_FOUND_SECONDS: Final = 3.0
INVALIDATED_SECONDS: Final = 60.0  # longer than any pending request for the intent
MAX_RETRY_PAUSE: Final = 5.0  # seconds before the next refresh after a failed one
CLOCK_SKEW: Final = 0.05  # seconds by which two clocks may differ about the same moment

# Lists of chains and tokens have half of the memory to themselves, so that other requests can't evict the names that
# every page needs.
LISTS: Final = frozenset({Kind.CHAINS, Kind.TOKENS})


@dataclass(slots=True)
class CacheEntry:
    """Cached response. Times are those of the cache's clock.

    `error` is that of the last refresh, and `retry_at` is when to try the next one.
    """

    answer: Any
    clock: Callable[[], float]
    kind: Kind
    policy: Policy
    asked_at: float
    learned_at: float
    size: int
    text_hash: int
    error: ServiceError | None = None
    retry_at: float = 0.0

    @property
    def age(self) -> float:
        return self.clock() - self.learned_at

    @property
    def is_fresh(self) -> bool:
        return self.age < self.policy.fresh

    @property
    def may_be_renewed(self) -> bool:
        return self.age < self.policy.renewed


class SharedResponse(NamedTuple):
    """Text of a response that another process may have cached. Ages are in seconds."""

    asked: float
    learned: float
    text: str


class SharedResponses(Protocol):
    """Second level of the cache. Its failures are like missing entries."""

    def get(self, keys: Sequence[CacheKey]) -> list[SharedResponse | None]: ...
    def set(self, key: CacheKey, text: str, *, asked: float, seconds: float) -> None: ...
    def delete(self, keys: Sequence[CacheKey]) -> None: ...


class ResponseCache:
    """Thread-safe. Cached responses are shared and must not be modified.

    An older response never replaces a newer one: responses can arrive out of order, and a later request can return an
    earlier state.
    """

    def __init__(
        self,
        config: ServiceConfig,
        *,
        clock: Callable[[], float],
        shared: SharedResponses | None = None,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self.clock = clock
        self.shared = shared
        self._config = config
        self._lock = threading.RLock()
        self._lists: LRUCache[CacheKey, CacheEntry] = LRUCache(max_bytes // 2, lambda entry: entry.size)
        self._others: LRUCache[CacheKey, CacheEntry] = LRUCache(max_bytes // 2, lambda entry: entry.size)
        # Apart, so that made-up IDs can't evict data.
        self._not_found: TTLCache[CacheKey, NotFound] = TTLCache(MAX_NOT_FOUND, NOT_FOUND_SECONDS, timer=clock)
        self._invalidated: TTLCache[CacheKey, float] = TTLCache(20_000, INVALIDATED_SECONDS, timer=clock)

    def get(self, call: ServiceCall[Any]) -> CacheEntry | None:
        """Return the entry while it may be shown at all."""
        return self.get_many([call])[0]

    def get_many(self, calls: Sequence[ServiceCall[Any]]) -> list[CacheEntry | None]:
        """Return the entries. Those that aren't fresh are looked up in the second level, too, in one request."""
        found = [self.peek(call) for call in calls]
        if not self.shared or all(entry and entry.is_fresh for entry in found):
            return found
        self._adopt([call for call, entry in zip(calls, found, strict=True) if not (entry and entry.is_fresh)])
        return [self.peek(call) for call in calls]

    def peek(self, call: ServiceCall[Any]) -> CacheEntry | None:
        """Return this process's entry."""
        with self._lock:
            entry: CacheEntry | None = self._entries(call).get(call.cache_key)
        return entry if entry and entry.age < entry.policy.old else None

    def not_found(self, call: ServiceCall[Any]) -> NotFound | None:
        with self._lock:
            return self._not_found.get(call.cache_key)

    def put[T](
        self, call: ServiceCall[T], answer: T, text: str, *, asked_at: float, learned_at: float | None = None
    ) -> T:
        """Cache the response to a request sent at `asked_at`, received at `learned_at` (default: now, shared, too).

        Returns the response to show.
        """
        kind = call.kind_of(answer) if call.kind_of else call.kind
        key, policy, size, now = call.cache_key, self._config.policies[kind], weight(len(text)), self.clock()
        with self._lock:
            entries, before = self._entries(call), self.peek(call)
            if before and (before.asked_at > asked_at or _is_older(answer, than=before.answer)):
                return cast(T, before.answer)
            if not (self._may_store(call, asked_at) and policy.old and size <= entries.maxsize):
                return answer
            self._not_found.pop(key, None)
            at = now if learned_at is None else learned_at
            entries[key] = CacheEntry(answer, self.clock, kind, policy, asked_at, at, size, hash(text))
        if self.shared and learned_at is None:
            self.shared.set(key, text, asked=now - asked_at, seconds=policy.old)
        return answer

    def fail(self, call: ServiceCall[Any], error: ServiceError, *, asked_at: float) -> None:
        """Record the error of a request sent at `asked_at`.

        One about the object itself supersedes its response, and is cached if it is NotFound. Another one is repeated to
        the next calls for a while, if the request was sent.
        """
        with self._lock:
            if error.may_serve_stale:
                is_sent = error.again_in is None and not isinstance(error, OutOfTime | Overloaded)
                if is_sent and (entry := self.peek(call)):
                    entry.error = error.copied()
                    entry.retry_at = self.clock() + min(entry.policy.fresh, MAX_RETRY_PAUSE)
                return
            if not self._may_store(call, asked_at):
                return
            self._entries(call).pop(call.cache_key, None)
            if isinstance(error, NotFound):
                self._not_found[call.cache_key] = error.copied()
        if self.shared:
            self.shared.delete([call.cache_key])

    def forget(self, intent_id: str) -> list[CacheKey]:
        """Drop all entries that contain this intent, which has changed. Return the keys of its own requests."""
        own = [call.cache_key for call in (operations.get_intent(intent_id), operations.get_intent_receipt(intent_id))]
        now = self.clock()
        with self._lock:
            wanted = intent_id.lower()
            found = [key for key, entry in self._others.items() if wanted in _intents_in(entry.answer)]
            for key in {*own, *found}:
                self._others.pop(key, None)
                self._not_found.pop(key, None)
                self._invalidated[key] = now
        if self.shared:
            self.shared.delete(own)
        return own

    def _entries(self, call: ServiceCall[Any]) -> "LRUCache[CacheKey, CacheEntry]":
        return self._lists if call.kind in LISTS else self._others

    def _may_store(self, call: ServiceCall[Any], asked_at: float) -> bool:
        """Return whether what came of a request sent at `asked_at` may be cached."""
        is_valid = asked_at >= self._invalidated.get(call.cache_key, asked_at)
        return is_valid and self._config.policies[call.kind].old > 0

    def _adopt(self, calls: Sequence[ServiceCall[Any]]) -> None:
        """Copy entries from the second level that are newer than ours."""
        calls = [call for call in calls if self._may_store(call, self.clock())]
        if not (self.shared and calls):
            return
        for call, found in zip(calls, self.shared.get([call.cache_key for call in calls]), strict=True):
            if found is None:
                continue
            asked_at, learned_at = self.clock() - found.asked, self.clock() - found.learned
            entry = self.peek(call)
            if entry and asked_at < entry.asked_at + CLOCK_SKEW:
                continue
            try:  # another version of this program may have written it
                document = self._config.names.read(decode.read(found.text))
                answer = call.read(operations.Answer(document, found.text))
            except (ValueError, ServiceError):
                self.shared.delete([call.cache_key])
            else:
                self.put(call, answer, found.text, asked_at=asked_at, learned_at=learned_at)


def weight(size: int) -> int:
    return size * WEIGHT + ENTRY_BYTES


def _is_older(answer: object, *, than: object) -> bool:
    """Return whether a response has an older state than the one it would replace."""
    if not (isinstance(than, Intent | IntentReceipt) and isinstance(answer, Intent | IntentReceipt)):
        return False
    return is_older(answer, than=than, now=datetime.now(UTC))


def _intents_in(answer: object) -> frozenset[str]:
    """Return the IDs in lower case, because the service accepts them in any."""
    if isinstance(answer, HistoryAnswer | SearchAnswer):
        return frozenset(each.intent_id.lower() for each in answer.intents)
    return frozenset({answer.intent_id.lower()}) if isinstance(answer, Intent | IntentReceipt) else frozenset()
