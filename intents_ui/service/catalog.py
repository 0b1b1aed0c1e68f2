"""Chains and tokens by ID (names, decimals, explorer links), the chains of each route provider, and token prices.

Pages use them to label transfers, so a lookup that fails returns None instead of raising, and pages don't wait for a
newer list while a recent one is cached. Pages that show the lists themselves use the `listed_…` methods, which return
`Listed`. How long a list or a price is fresh is the client's decision (`operations.POLICIES`).
"""

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import wait as wait_for
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache, partial
from itertools import batched
from typing import Any, NamedTuple

from cachetools import TTLCache

from intents_ui.service import operations, request_context
from intents_ui.service.client import ServiceClient
from intents_ui.service.errors import OutOfTime, Overloaded, ServiceError
from intents_ui.service.executor import resting
from intents_ui.service.models import NATIVE_TOKEN, ChainInfo, ChainsAnswer, TokenInfo, TokensAnswer, plain
from intents_ui.service.operations import ServiceCall
from intents_ui.service.request_context import is_over, time_left, within
from intents_ui.service.results import NO_PRICE, Names, Price

SECOND = timedelta(seconds=1)
LISTS_HELD = 256
PAUSE_SECONDS = 10.0  # wait after a failure before the next request for a list that isn't cached
PATIENCE_SECONDS = 2.0  # longest wait of a page for a list that it needs only for names, and for prices
CHAINS_TO_BEGIN_WITH = 8  # number of chains to preload. The service lists the busiest ones first
PRICES_AT_A_TIME = 100  # tokens per request


class ServiceList[A](NamedTuple):
    """One of the service's lists, with what it is about: the tokens of a chain are about the chain's ID."""

    subject: object
    call: ServiceCall[A]


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


CHAINS = ServiceList("chains", operations.get_chains())


@lru_cache(256)
def tokens_of(chain_id: int) -> ServiceList[TokensAnswer]:
    return ServiceList(chain_id, operations.get_token_list([chain_id], include_all_listed=True))


def featured_on(chain_ids: Sequence[int]) -> ServiceList[TokensAnswer]:
    return ServiceList(("featured", tuple(chain_ids)), operations.get_token_list(chain_ids))


def served_by(route_provider: str) -> ServiceList[ChainsAnswer]:
    return ServiceList(("served by", route_provider), operations.get_chains(route_provider=route_provider))


@dataclass(frozen=True, slots=True)
class CatalogIndex:
    """Size and age of the cached lists. Ages are in seconds, None if nothing is cached."""

    chains: int
    chains_age: float | None
    tokens: int
    chains_with_tokens: int
    oldest: float | None
    newest: float | None


class Catalog(Names):
    """Index of the service's chains and tokens. Thread-safe.

    When any list changes, `version` is replaced by another object, and `derived` by an empty dictionary.
    """

    def __init__(self, service: ServiceClient, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._service = service
        self._clock = clock
        self._lock = threading.Lock()
        # The newest response by subject, and how long it is fresh. A page names hundreds of chains and tokens, which
        # needs no look at the cache until then.
        self._lists: dict[object, tuple[Any, float]] = {}
        self._paused: TTLCache[object, bool] = TTLCache(LISTS_HELD, PAUSE_SECONDS, timer=clock)
        self.derived: dict[Any, Any] = {}
        self.version = object()

    def learn(self, chain_ids: Iterable[int | None], *, route_providers: Iterable[str] = ()) -> None:
        """Load the lists needed to name these chains and their tokens, concurrently.

        Waits at most 2 s. A slower request continues in the background for later pages. This page repeats neither it
        nor a request that failed. Known lists are looked up, so that they are renewed even if the page finds all its
        names in `derived`.
        """
        wanted: list[ServiceList[Any]] = [CHAINS]
        wanted += [tokens_of(chain_id) for chain_id in dict.fromkeys(chain_ids) if chain_id is not None]
        wanted += map(served_by, route_providers)
        missing = [listing for listing in wanted if not self._use_cached(listing)]
        if not missing or is_over():
            return
        requests = [self._service.start(listing.call, is_shared=True) for listing in missing]
        with resting(), contextlib.suppress(TimeoutError):
            wait_for(requests, time_left(PATIENCE_SECONDS, expired=TimeoutError))
        for listing, request in zip(missing, requests, strict=True):
            error = request.exception() if request.done() else None
            if request.done() and not error:
                self._keep(listing, request.result())
            elif self._service.cache.peek(listing.call):
                self._look_up(listing)
            elif not isinstance(error, Overloaded):
                self._pause(listing)

    def warm(self) -> None:
        """Preload what most pages need, one list after the other to limit the load on the service."""
        self._look_up(CHAINS)
        for chain in self.chains()[:CHAINS_TO_BEGIN_WITH]:
            self._look_up(tokens_of(chain.id))

    # Names

    def chains(self) -> tuple[ChainInfo, ...]:
        return tuple(self._chains().values())

    def chain(self, chain_id: int | None) -> ChainInfo | None:
        return None if chain_id is None else self._chains().get(chain_id)

    def tokens(self, chain_id: int | None) -> tuple[TokenInfo, ...]:
        return tuple(self._tokens(chain_id).index.values())

    def token(self, chain_id: int | None, address: str | None) -> TokenInfo | None:
        return self._tokens(chain_id).by_address.get(plain(address)) if address else None

    def lists(self, chain_id: int | None, address: str | None) -> bool | None:
        known = self._tokens(chain_id).by_address if address else {}
        wanted = plain(address or "")
        return wanted == NATIVE_TOKEN or wanted in known if known else None

    def featured(self, chain_id: int | None) -> tuple[TokenInfo, ...]:
        derived, place = self.derived, ("featured", chain_id)
        if place not in derived:
            lists = [each for subject, each in self._token_lists().items() if chain_id in (None, subject)]
            derived[place] = tuple(token for each in lists for token in each.index.values() if token.featured)
        found: tuple[TokenInfo, ...] = derived[place]
        return found

    def chains_by_provider(self, route_providers: Iterable[str]) -> dict[str, frozenset[int] | None]:
        """Return the chains of each route provider, None where they can't be loaded. Waits like `learn`."""
        wanted = tuple(route_providers)
        self.learn((), route_providers=wanted)
        known = {provider: self._known(served_by(provider)) for provider in wanted}
        return {provider: frozenset(answer.index) if answer else None for provider, answer in known.items()}

    def count_featured(self, chain_ids: Sequence[int]) -> Mapping[int, int]:
        """Return the number of featured tokens by chain. Chains whose number is unknown are missing.

        Uses one request for all chains, and the cached lists where it fails.
        """
        together, lists = self._find(featured_on(chain_ids)), self._token_lists()
        counts = Counter(token.chain_id for token in (together.index.values() if together else self.featured(None)))
        return {chain_id: counts[chain_id] for chain_id in chain_ids if together or chain_id in lists}

    def known(self) -> CatalogIndex:
        """Return the size and age of the cached lists, without a request. Only tokens of listed chains are counted."""
        chains, cache, lists = self._known(CHAINS), self._service.cache, self._token_lists()
        if chains:
            lists = {chain_id: each for chain_id, each in lists.items() if chain_id in chains.index}
        cached = cache.peek(CHAINS.call)
        ages = [each.age for chain_id in lists if (each := cache.peek(tokens_of(chain_id).call))]
        return CatalogIndex(
            chains=len(chains.index) if chains else 0,
            chains_age=cached.age if cached else None,
            tokens=sum(len(each.index) for each in lists.values()),
            chains_with_tokens=sum(bool(each.index) for each in lists.values()),
            oldest=max(ages, default=None),
            newest=min(ages, default=None),
        )

    # The lists themselves, for the pages about them. They raise ServiceError if no list is cached to fall back on.

    def listed_chains(self, *, route_provider: str | None = None) -> Listed[ChainInfo]:
        """Return all supported chains or a known route provider's. Each provider takes a cache entry."""
        return self._listed(served_by(route_provider) if route_provider else CHAINS)

    def listed_tokens(self, chain_id: int) -> Listed[TokenInfo]:
        return self._listed(tokens_of(chain_id))

    def listed_featured(self, chain_ids: Iterable[int]) -> Listed[TokenInfo]:
        """Return the featured tokens of these chains, with one request for all known ones."""
        wanted, known = set(chain_ids), [chain.id for chain in self.chains()]
        found = self._listed(featured_on(known if wanted.issubset(known) else sorted(wanted)))
        return replace(found, entries=[token for token in found.entries if token.chain_id in wanted])

    def listed_on(self, chain_ids: Sequence[int], *, external: bool = False) -> Listed[TokenInfo]:
        """Return the listed tokens of several chains, unordered, with those of external lists if wanted.

        Each chain takes a request: other pages cache the same lists, one can fail without the others, and the number of
        cache entries doesn't grow with the combinations of chains.
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
        call = operations.get_token_list([chain_id], include_all_listed=True, include_external=True)
        answer = self._service.ask(call)
        return Listed(answer.tokens, answer.unreadable_entries)

    def _listed(self, listing: ServiceList[Any]) -> Listed[Any]:
        """Return a list within its TTL, or a stale one if the request for a newer one fails."""
        with request_context.collecting("stale") as used:
            found = self._refreshed(listing, newest=True)
        entries, unreadable = tuple(found.index.values()), found.unreadable_entries
        if not used.stale:
            return Listed(entries, unreadable)
        age = datetime.now(UTC) - used.stale[0].learned_at
        return Listed(entries, unreadable, age - age % SECOND, used.stale[0].error)

    # What is known

    def _known[A](self, listing: ServiceList[A]) -> A | None:
        answer: A | None = self._lists.get(listing.subject, (None, 0.0))[0]
        return answer

    def _token_lists(self) -> dict[int, TokensAnswer]:
        with self._lock:
            return {subject: answer for subject, (answer, _) in self._lists.items() if isinstance(subject, int)}

    def _chains(self) -> Mapping[int, ChainInfo]:
        return (self._find(CHAINS) or ChainsAnswer()).index

    def _tokens(self, chain_id: int | None) -> TokensAnswer:
        return (self._find(tokens_of(chain_id)) if chain_id is not None else None) or TokensAnswer()

    def _find[A](self, listing: ServiceList[A]) -> A | None:
        """Return a list, requested if necessary, or None if it is unavailable."""
        if not self._use_cached(listing) and not is_over():
            self._look_up(listing)
        return self._known(listing)

    def _use_cached(self, listing: ServiceList[Any]) -> bool:
        """Look up a list if it is cached. Return whether it needs no request now."""
        _, fresh_until = self._lists.get(listing.subject, (None, 0.0))
        if self._clock() < fresh_until:
            return True
        entry = self._service.cache.get(listing.call)
        if entry and entry.may_be_renewed:
            self._look_up(listing)
            return True
        with self._lock:
            return listing.subject in self._paused

    def _look_up(self, listing: ServiceList[Any]) -> None:
        # Discards the stale markers: pages don't report a stale name.
        with contextlib.suppress(ServiceError), request_context.collecting("stale"):
            self._refreshed(listing)

    def _refreshed(self, listing: ServiceList[Any], *, newest: bool = False) -> Any:
        try:
            answer = self._service.ask(listing.call, newest=newest)
        except OutOfTime:
            raise
        except ServiceError:
            self._pause(listing)
            raise
        self._keep(listing, answer)
        return answer

    def _keep(self, listing: ServiceList[Any], answer: Any) -> None:
        entry = self._service.cache.peek(listing.call)
        fresh_until = self._clock() + entry.policy.fresh - entry.age if entry else 0.0
        with self._lock:
            self._paused.pop(listing.subject, None)
            if self._known(listing) is not answer:
                self.derived, self.version = {}, object()
            if len(self._lists) >= LISTS_HELD and listing.subject not in self._lists:
                self._lists.clear()
            self._lists[listing.subject] = answer, fresh_until

    def _pause(self, listing: ServiceList[Any]) -> None:
        """Let pages do without a list for a while, after a failure or while its request takes long."""
        with self._lock:
            self._paused[listing.subject] = True


type Token = tuple[int, str]  # chain ID and address


class Prices:
    """USD token prices, also of tokens for which the service has none. Thread-safe.

    Prices are supplementary on a page, so a lookup that fails leaves them out.
    """

    def __init__(self, service: ServiceClient, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._service = service
        self._clock = clock
        self._paused_until = -PAUSE_SECONDS

    def of(self, tokens: Iterable[Token]) -> Mapping[Token, Price]:
        """Return prices by chain ID and address as given. Tokens whose price couldn't be requested are missing."""
        keys = {token: _key(*token) for token in tokens}
        spelled = {key: token for token, key in keys.items()}
        found: dict[Token, Price] = {}
        batches = list(batched([spelled[key] for key in sorted(spelled)], PRICES_AT_A_TIME))
        if self._clock() < self._paused_until:
            batches = [each for each in batches if self._service.cache.get(operations.get_token_prices(each))]
        with within(PATIENCE_SECONDS):
            answers = self._service.threads.together(*(partial(self._batch, batch) for batch in batches))
        for answer in answers:
            if not isinstance(answer, ServiceError):
                found |= answer
            elif answer.may_serve_stale and not isinstance(answer, Overloaded):  # the service isn't well
                self._paused_until = self._clock() + PAUSE_SECONDS
        return {token: found[key] for token, key in keys.items() if key in found}

    def _batch(self, tokens: Sequence[Token]) -> dict[Token, Price]:
        """Return the prices of a batch, matched by token: the response is unordered and may omit some."""
        answered = {
            _key(price.token.chain_id, price.token.token_address): Price(price.price_usd, price.updated_at)
            for price in self._service.ask(operations.get_token_prices(tokens)).token_prices
            if price.token.chain_id is not None and price.token.token_address
        }
        return {(key := _key(*token)): answered.get(key, NO_PRICE) for token in tokens}


def _key(chain_id: int, address: str) -> Token:
    """Return a token's key. Services may differ in an address's case, also for addresses that aren't hex."""
    return chain_id, plain(address)
