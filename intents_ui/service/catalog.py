"""Chains and tokens by ID (names, decimals, explorer links), and the chains of each route provider.

Pages use them to label transfers, so a lookup that fails returns None instead of raising, and pages don't wait for a
newer list while a recent one is cached. Old entries stay until newer ones arrive. Pages that show the lists themselves
use the `listed_…` methods, which return `Listed`.
"""

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache, partial
from typing import Any

from cachetools import LRUCache, TTLCache

from intents_ui.service import operations
from intents_ui.service.client import ServiceClient
from intents_ui.service.context import request_context, shares
from intents_ui.service.context.request_context import claim_slot, time_left
from intents_ui.service.errors import OutOfTime, Overloaded, ServiceError
from intents_ui.service.fields import Model
from intents_ui.service.models import ChainInfo, TokenInfo
from intents_ui.service.operations import ServiceCall

SECOND = timedelta(seconds=1)
LISTS_HELD = 256
PAUSE_SECONDS = 10.0  # wait after a failure before the next request for a list that isn't cached
PATIENCE_SECONDS = 2.0  # longest wait of a page for a list that it needs only for names
CHAINS_TO_BEGIN_WITH = 8  # number of chains to preload. The service lists the busiest ones first
# Skip the cache lookup for this long after the last one, because a page names hundreds of chains and tokens.
LOOKED_AT_SECONDS = 0.5

NATIVE_TOKEN = "0x" + "0" * 40
NATIVE_TOKEN_ALIAS = "0x" + "e" * 40


@dataclass(frozen=True, slots=True)
class ServiceList[K, V]:
    """One of the service's lists. `subject` is its cache key."""

    subject: object
    call: ServiceCall[Any]
    entries: Callable[[Any], tuple[V, ...]]
    key: Callable[[V], K]


@dataclass(frozen=True, slots=True)
class Held[K, V]:
    """The last response of a list, with its entries by key."""

    answer: Model
    index: Mapping[K, V]


@dataclass(frozen=True, slots=True)
class Listed[V]:
    """List without duplicates, for the page about it. `error` is why it is of that `age`, if it is stale.

    Of the lists of several chains, the age is the oldest one's, and `failed` are the chains whose list is unavailable.
    """

    entries: Sequence[V]
    unreadable: int = 0
    age: timedelta = timedelta()
    error: ServiceError | None = None
    failed: Mapping[int, ServiceError] = field(default_factory=dict)


@lru_cache(256)
def tokens_of(chain_id: int) -> ServiceList[str, TokenInfo]:
    call = operations.get_token_list([chain_id], include_all_listed=True)
    return ServiceList(chain_id, call, lambda answer: answer.tokens, lambda token: plain(token.address))


def featured_on(chain_ids: Sequence[int]) -> ServiceList[tuple[int | None, str], TokenInfo]:
    subject, call = ("featured", tuple(chain_ids)), operations.get_token_list(chain_ids)
    return ServiceList(
        subject, call, lambda answer: answer.tokens, lambda token: (token.chain_id, plain(token.address))
    )


def served_by(route_provider: str) -> ServiceList[int, ChainInfo]:
    call = operations.get_chains(route_provider=route_provider)
    return ServiceList(("served by", route_provider), call, lambda answer: answer.chains, lambda chain: chain.id)


CHAINS = ServiceList[int, ChainInfo](
    "chains", operations.get_chains(), lambda answer: answer.chains, lambda chain: chain.id
)


def plain(address: str) -> str:
    """Return the normalized form of a token's address, for lookups."""
    lowered = address.lower()
    return NATIVE_TOKEN if lowered == NATIVE_TOKEN_ALIAS else lowered


NEVER: tuple[float, Mapping[Any, Any]] = (float("-inf"), {})


@dataclass(frozen=True, slots=True)
class PendingRequest:
    """Background request for a list. After `until`, pages no longer wait for it."""

    answer: "Future[Mapping[Any, Any]]"
    until: float

    def wait(self) -> None:
        left = max(self.until - time.monotonic(), 0.0)
        with contextlib.suppress(TimeoutError), shares.waiting():
            self.answer.result(time_left(left, expired=TimeoutError))


@dataclass(frozen=True, slots=True)
class CatalogIndex:
    """Size and age of the cached lists. Ages are in seconds, None if nothing is cached."""

    chains: int
    chains_age: float | None
    tokens: int
    chains_with_tokens: int
    oldest: float | None
    newest: float | None


class Catalog:
    """Index of the service's chains and tokens. Thread-safe. `caching_client` decides how long a list is fresh.

    When any list changes, `version` is replaced by another object, and `derived`, which is for results that depend on
    the names, by an empty dictionary.
    """

    def __init__(self, service: ServiceClient, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._service = service
        self._lock = threading.Lock()
        self._lists: LRUCache[object, Held[Any, Any]] = LRUCache(LISTS_HELD)
        self._featured: LRUCache[int, tuple[TokenInfo, ...]] = LRUCache(LISTS_HELD)
        self._featured_anywhere: tuple[TokenInfo, ...] = ()
        self._paused: TTLCache[object, bool] = TTLCache(LISTS_HELD, PAUSE_SECONDS, timer=clock)
        self._pending: dict[object, PendingRequest] = {}
        self._clock = clock
        self._recent: dict[object, tuple[float, Mapping[Any, Any]]] = {}
        self.derived: dict[Any, Any] = {}
        self.version = object()

    def learn(self, chain_ids: Iterable[int | None], *, route_providers: Iterable[str] = ()) -> None:
        """Prefetch the lists needed to name these chains and their tokens, concurrently.

        Waits at most 2 s. A slower request continues in the background for later pages. This page repeats neither it
        nor a request that failed. Known lists are looked up, so that they are renewed even if the page finds all its
        names in `derived`.
        """
        wanted: list[ServiceList[Any, Any]] = [CHAINS]
        wanted += [tokens_of(chain_id) for chain_id in dict.fromkeys(chain_ids) if chain_id is not None]
        wanted += [served_by(provider) for provider in route_providers]
        due = [listing for listing in wanted if not self._is_recent(listing)]
        self._learn(due)
        for listing in due:
            if self._service.is_cached(listing.call):
                self._index(listing)

    def warm(self) -> None:
        """Preload what most pages need, one list after the other to limit the load on the service."""
        for chain in self.chains()[:CHAINS_TO_BEGIN_WITH]:
            self._index(tokens_of(chain.id))

    def chains(self) -> tuple[ChainInfo, ...]:
        """Return all supported chains, in the service's order."""
        return tuple(self._index(CHAINS).values())

    def chain(self, chain_id: int | None) -> ChainInfo | None:
        return None if chain_id is None else self._index(CHAINS).get(chain_id)

    def tokens(self, chain_id: int | None) -> tuple[TokenInfo, ...]:
        """Return a chain's listed tokens without duplicates, in the service's order."""
        return () if chain_id is None else tuple(self._index(tokens_of(chain_id)).values())

    def token(self, chain_id: int | None, address: str | None) -> TokenInfo | None:
        """Return a listed token, or None. The zero address and 0xeee… both mean the chain's native token."""
        if chain_id is None or not address:
            return None
        return self._index(tokens_of(chain_id)).get(plain(address))

    def lists(self, chain_id: int | None, address: str | None) -> bool | None:
        """Return whether a token is listed, or None if the chain's tokens aren't known. The native token always is."""
        if chain_id is None or not address:
            return None
        known = self._index(tokens_of(chain_id))
        wanted = plain(address)
        return wanted == NATIVE_TOKEN or wanted in known if known else None

    def featured(self, chain_id: int | None) -> tuple[TokenInfo, ...]:
        """Return the cached featured tokens of one chain, or of every chain for None, without a request.

        Returns the same object while the lists are unchanged, so callers can cache values derived from it.
        """
        with self._lock:
            return self._featured_anywhere if chain_id is None else self._featured.get(chain_id, ())

    def chains_served(self, route_provider: str) -> frozenset[int] | None:
        """Return the cached chains of a route provider, or None."""
        held = self._cached(served_by(route_provider))
        return frozenset(held.index) if held else None

    def chains_by_provider(self, route_providers: Iterable[str]) -> dict[str, frozenset[int] | None]:
        """Return the chains of each route provider, None where they can't be loaded. Waits like `learn`."""
        wanted = tuple(route_providers)
        self.learn((), route_providers=wanted)
        return {provider: self.chains_served(provider) for provider in wanted}

    def listed_chains(self, *, route_provider: str | None = None) -> Listed[ChainInfo]:
        """Return all supported chains or a route provider's, for the page about them.

        Raises ServiceError if there is no cached list to fall back on. Pass known route providers only, because each
        one takes a cache entry.
        """
        return self._listed(served_by(route_provider) if route_provider else CHAINS)

    def listed_tokens(self, chain_id: int) -> Listed[TokenInfo]:
        """Return a chain's listed tokens, for the page about them. Raises ServiceError if none are cached."""
        return self._listed(tokens_of(chain_id))

    def listed_featured(self, chain_ids: Iterable[int]) -> Listed[TokenInfo]:
        """Return the featured tokens of these chains, with one request for all known ones.

        Raises ServiceError if none are cached.
        """
        wanted, known = set(chain_ids), [chain.id for chain in self.chains()]
        found = self._listed(featured_on(known if wanted.issubset(known) else sorted(wanted)))
        return replace(found, entries=[token for token in found.entries if token.chain_id in wanted])

    def listed_on(self, chain_ids: Sequence[int], *, external: bool = False) -> Listed[TokenInfo]:
        """Return the listed tokens of several chains, unordered, with those of external lists if wanted.

        Each chain takes a request: other pages cache the same lists, one can fail without the others, and the number of
        cache entries doesn't grow with the combinations of chains. Raises ServiceError if no list is available at all.
        """
        ask = self._external if external else self.listed_tokens
        calls = (partial(ask, each) for each in chain_ids)
        answers = dict(zip(chain_ids, self._service.threads.together(*calls), strict=True))
        failed = {chain_id: answer for chain_id, answer in answers.items() if isinstance(answer, ServiceError)}
        lists = [answer for answer in answers.values() if isinstance(answer, Listed)]
        if failed and not lists:
            raise next(iter(failed.values()))
        return Listed(
            entries=[token for each in lists for token in each.entries],
            unreadable=sum(each.unreadable for each in lists),
            age=max((each.age for each in lists), default=timedelta()),
            failed=failed,
        )

    def _external(self, chain_id: int) -> Listed[TokenInfo]:
        answer = self._service.get_token_list([chain_id], include_all_listed=True, include_external=True)
        return Listed(answer.tokens, answer.unreadable_entries)

    def count_featured(self, chain_ids: Sequence[int]) -> Mapping[int, int]:
        """Return the number of featured tokens by chain. Chains whose number is unknown are missing.

        Uses one request for all chains, with the timeout of `learn`, and the cached lists where it fails.
        """
        together = featured_on(chain_ids)
        self._learn([together])
        found = self._cached(together)
        if found:
            counts = Counter(token.chain_id for token in found.index.values())
            return {chain_id: counts[chain_id] for chain_id in chain_ids}
        lists = {chain_id: self._cached_index(tokens_of(chain_id)) for chain_id in chain_ids}
        return {
            chain_id: sum(token.featured is True for token in index.values())
            for chain_id, index in lists.items()
            if index
        }

    def known(self) -> CatalogIndex:
        """Return the size and age of the cached lists, without a request. Only tokens of listed chains are counted."""
        with self._lock:
            held = dict(self._lists)
        chains = held.get(CHAINS.subject)
        of_chains = {
            subject: lists
            for subject, lists in held.items()
            if isinstance(subject, int) and (chains is None or subject in chains.index)
        }
        ages = [age for subject in of_chains if (age := self._service.age(tokens_of(subject).call)) is not None]
        return CatalogIndex(
            chains=len(chains.index) if chains else 0,
            chains_age=self._service.age(CHAINS.call),
            tokens=sum(len(lists.index) for lists in of_chains.values()),
            chains_with_tokens=sum(bool(lists.index) for lists in of_chains.values()),
            oldest=max(ages, default=None),
            newest=min(ages, default=None),
        )

    def _learn(self, wanted: Sequence[ServiceList[Any, Any]]) -> None:
        missing = [
            listing for listing in wanted if not (self._is_recent(listing) or self._service.is_cached(listing.call))
        ]
        if missing and _may_wait():
            for question in [self._fetch_in_background(listing) for listing in missing]:
                if question:
                    question.wait()

    def _cached[K, V](self, listing: ServiceList[K, V]) -> Held[K, V] | None:
        """Return the cached list, without waiting for the service."""
        if self._service.is_cached(listing.call):
            self._fetch(listing)
        with self._lock:
            return self._lists.get(listing.subject)

    def _listed[K, V](self, listing: ServiceList[K, V]) -> Listed[V]:
        """Return a list within its TTL, or a stale one if the request for a newer one fails."""
        with request_context.collecting_stale() as stale:
            held = self._refreshed(listing, newest=True)
        entries, unreadable = tuple(held.index.values()), held.answer.unreadable_entries
        if not stale:
            return Listed(entries, unreadable)
        age = datetime.now(UTC) - stale[0].learned_at
        return Listed(entries, unreadable, age - age % SECOND, stale[0].error)

    def _index[K, V](self, listing: ServiceList[K, V]) -> Mapping[K, V]:
        """Return a list's entries by key."""
        until, index = self._recent.get(listing.subject, NEVER)
        if self._clock() < until:
            return index
        if self._service.is_cached(listing.call):
            # read before the request, which can replace the cached list
            is_fresh = self._service.has_fresh(listing.call)
            index = self._fetch(listing)
            if is_fresh:
                self._skip_lookups(listing, index, LOOKED_AT_SECONDS)
            return index
        with self._lock:
            pending, paused = self._pending.get(listing.subject), listing.subject in self._paused
        if pending:
            pending.wait()
        elif not paused and _may_wait():
            return self._fetch(listing)
        return self._cached_index(listing)

    def _skip_lookups(self, listing: ServiceList[Any, Any], index: Mapping[Any, Any], seconds: float) -> None:
        """Return this index for `seconds` without looking at the cache, unless another thread has a newer one."""
        with self._lock:
            held: Held[Any, Any] | None = self._lists.get(listing.subject)
            if held is None or held.index is not index:
                return
            if len(self._recent) >= LISTS_HELD:
                self._recent.clear()
            self._recent[listing.subject] = (self._clock() + seconds, index)

    def _is_recent(self, listing: ServiceList[Any, Any]) -> bool:
        return self._clock() < self._recent.get(listing.subject, NEVER)[0]

    def _cached_index[K, V](self, listing: ServiceList[K, V]) -> Mapping[K, V]:
        with self._lock:
            held: Held[K, V] | None = self._lists.get(listing.subject)
        return held.index if held else {}

    def _fetch_in_background(self, listing: ServiceList[Any, Any]) -> PendingRequest | None:
        """Start a request in the background, or return None during the pause after a failure."""
        with self._lock:
            if listing.subject in self._paused:
                return None
            if listing.subject not in self._pending:
                until = time.monotonic() + PATIENCE_SECONDS
                self._pending[listing.subject] = PendingRequest(
                    self._service.threads.aside(lambda: self._fetch_and_unregister(listing)), until
                )
            return self._pending[listing.subject]

    def _fetch_and_unregister[K, V](self, listing: ServiceList[K, V]) -> Mapping[K, V]:
        try:
            return self._fetch(listing)
        finally:
            with self._lock:
                del self._pending[listing.subject]

    def _fetch[K, V](self, listing: ServiceList[K, V]) -> Mapping[K, V]:
        try:
            with request_context.collecting_stale():  # discards the stale markers: pages don't report a stale name
                return self._refreshed(listing).index
        except ServiceError:
            return self._cached_index(listing)

    def _refreshed[K, V](self, listing: ServiceList[K, V], *, newest: bool = False) -> Held[K, V]:
        """Return the service's list, and rebuild its index only if the list changed."""
        try:
            answer = self._service.ask(listing.call, newest=newest)
        except OutOfTime:
            raise
        except ServiceError:
            with self._lock:
                self._paused[listing.subject] = True
            raise
        with self._lock:
            held: Held[K, V] | None = self._lists.get(listing.subject)
            if held is None or held.answer is not answer:
                index: dict[Any, Any] = {}
                for entry in listing.entries(answer):
                    index.setdefault(listing.key(entry), entry)
                held = Held(answer, index)
                self._lists[listing.subject] = held
                self._recent.pop(listing.subject, None)
                self.derived, self.version = {}, object()
                if isinstance(listing.subject, int):
                    self._featured[listing.subject] = tuple(token for token in index.values() if token.featured)
                    self._featured_anywhere = tuple(token for tokens in self._featured.values() for token in tokens)
        if not self._service.is_cached(listing.call):
            # Where lists may not be cached, a page would otherwise request a list for every name.
            self._skip_lookups(listing, held.index, PATIENCE_SECONDS)
        return held


def _may_wait() -> bool:
    try:
        claim_slot()
    except (OutOfTime, Overloaded):
        return False
    return True
