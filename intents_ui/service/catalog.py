"""Chains and tokens by id: names, decimals, explorer links.

A page needs them to put transfers into words, not to show them: what cannot be had is None, never an error. What was
had before stays until there is something newer.
"""

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from cachetools import LRUCache, TTLCache

from intents_ui.service import operations
from intents_ui.service.allowance import claim
from intents_ui.service.client import ServiceClient
from intents_ui.service.deadline import time_left
from intents_ui.service.errors import OutOfTime, Overloaded, Refused, ServiceError, TooBusy
from intents_ui.service.operations import Call
from intents_ui.service.together import aside
from intents_ui.service.wire import ChainInfo, TokenInfo

NATIVE_TOKEN = "0x" + "0" * 40
NATIVE_TOKEN_ALIAS = "0x" + "e" * 40

TOKEN_LISTS_HELD = 64
PAUSE_SECONDS = 10.0  # after a failure, until the same is asked for again
PATIENCE_SECONDS = 2.0  # for which a page waits for a list that it only wants names from
CHAINS_TO_BEGIN_WITH = 8  # the service names those first on which most happens
EVERYTHING = "everything"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Listing[K, V]:
    """A list of the service: how it is asked for, and by what its entries are looked up."""

    subject: object
    call: Call[Any]
    entries: Callable[[Any], tuple[V, ...]]
    key: Callable[[V], K]


@dataclass(frozen=True, slots=True)
class Asked:
    """A list that was asked for aside of any page; `until` then, nobody waits for it any more."""

    answer: "Future[Mapping[Any, Any]]"
    until: float

    def wait(self) -> None:
        left = max(self.until - time.monotonic(), 0.0)
        with contextlib.suppress(TimeoutError):
            self.answer.result(time_left(left, expired=TimeoutError))


class Catalog:
    """Safe for threads. How long an answer stays fresh is the client's to know (`guard`)."""

    def __init__(self, service: ServiceClient, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._service = service
        self._lock = threading.Lock()
        self._held: LRUCache[object, tuple[object, Mapping[Any, Any]]] = LRUCache(TOKEN_LISTS_HELD)
        self._paused: TTLCache[object, None] = TTLCache(TOKEN_LISTS_HELD, PAUSE_SECONDS, timer=clock)
        self._under_way: dict[object, Asked] = {}
        self._is_out = False

    def learn(self, chain_ids: Iterable[int | None]) -> None:
        """For a page, before it names these chains and their tokens: asks for what is missing, all at once.

        Waits for 2 s at most. What is not there then comes for a later page: its question goes on, and this page does
        not ask it again. Neither does it ask for what failed.
        """
        wanted: list[Listing[Any, Any]] = [CHAINS]
        wanted += [tokens_of(chain_id) for chain_id in dict.fromkeys(chain_ids) if chain_id is not None]
        missing = [listing for listing in wanted if not self._service.knows(listing.call)]
        if not missing or not _may_wait():
            return
        asked = [self._ask_aside(listing) for listing in missing]
        for listing, question in zip(missing, asked, strict=True):
            if question and not self._index_held(listing):
                question.wait()

    def warm(self) -> None:
        """Learns what most pages will need; one list after the other, because nobody waits for them yet."""
        for chain in self.chains()[:CHAINS_TO_BEGIN_WITH]:
            self._index(tokens_of(chain.id))

    def chains(self) -> tuple[ChainInfo, ...]:
        """All supported chains, in the service's order."""
        return tuple(self._chains_by_id().values())

    def chain(self, chain_id: int | None) -> ChainInfo | None:
        return None if chain_id is None else self._chains_by_id().get(chain_id)

    def tokens(self, chain_id: int | None) -> tuple[TokenInfo, ...]:
        """A chain's listed tokens, each once, in the service's order."""
        return () if chain_id is None else tuple(self._tokens_by_address(chain_id).values())

    def token(self, chain_id: int | None, address: str | None) -> TokenInfo | None:
        """A listed token. The zero address and 0xeee… both are the chain's native token."""
        if chain_id is None or not address:
            return None
        return self._tokens_by_address(chain_id).get(_plain(address))

    def lists(self, chain_id: int | None, address: str | None) -> bool | None:
        """False: the chain's tokens are known and this is none of them. None: they are not. Native is always listed."""
        if chain_id is None or not address:
            return None
        known = self._tokens_by_address(chain_id)
        plain = _plain(address)
        return plain == NATIVE_TOKEN or plain in known if known else None

    def _chains_by_id(self) -> Mapping[int, ChainInfo]:
        return self._index(CHAINS)

    def _tokens_by_address(self, chain_id: int) -> Mapping[str, TokenInfo]:
        return self._index(tokens_of(chain_id))

    def _index[K, V](self, listing: Listing[K, V]) -> Mapping[K, V]:
        """What is listed, by key."""
        with self._lock:
            asked = self._under_way.get(listing.subject)
        index = self._index_held(listing)
        if asked and not index:
            asked.wait()
            index = self._index_held(listing)
        if asked or self._is_paused(listing) or not (self._service.knows(listing.call) or _may_wait()):
            return index
        return self._ask(listing)

    def _index_held[K, V](self, listing: Listing[K, V]) -> Mapping[K, V]:
        with self._lock:
            return self._held.get(listing.subject, ((), {}))[1]

    def _is_paused(self, listing: Listing[Any, Any]) -> bool:
        with self._lock:
            return listing.subject in self._paused or EVERYTHING in self._paused

    def _ask_aside(self, listing: Listing[Any, Any]) -> Asked | None:
        """None while there is a pause."""
        if self._is_paused(listing):
            return None
        with self._lock:
            if listing.subject not in self._under_way:
                until = time.monotonic() + PATIENCE_SECONDS
                self._under_way[listing.subject] = Asked(aside(lambda: self._ask_and_be_done(listing)), until)
            return self._under_way[listing.subject]

    def _ask_and_be_done[K, V](self, listing: Listing[K, V]) -> Mapping[K, V]:
        try:
            return self._ask(listing)
        finally:
            with self._lock:
                del self._under_way[listing.subject]

    def _ask[K, V](self, listing: Listing[K, V]) -> Mapping[K, V]:
        """The index is made anew only when the list is a new one."""
        with self._lock:
            listed, index = self._held.get(listing.subject, ((), {}))
        try:
            newest = listing.entries(self._service.ask(listing.call))
        except OutOfTime:
            return index
        except ServiceError as error:
            self._pause(listing.subject, error)
            return index
        if newest is not listed:
            index = _first_by_key(newest, listing.key)
        with self._lock:
            self._is_out = False
            self._held[listing.subject] = newest, index
        return index

    def _pause(self, subject: object, error: ServiceError) -> None:
        # A service that refuses one list can have the others; one that cannot be reached has none. That all of our own
        # connections are taken says nothing about it.
        only_this = isinstance(error, Overloaded) or (isinstance(error, Refused) and not isinstance(error, TooBusy))
        with self._lock:
            self._paused[subject if only_this else EVERYTHING] = None
            is_news, self._is_out = not self._is_out, True
        if is_news:
            log.warning("Chains and tokens cannot be looked up: %s, request %s", error.summary, error.request_id)


def tokens_of(chain_id: int) -> Listing[str, TokenInfo]:
    call = operations.get_token_list([chain_id], include_all_listed=True)
    return Listing(chain_id, call, lambda answer: answer.tokens, lambda token: _plain(token.address))


CHAINS = Listing[int, ChainInfo](
    "chains", operations.get_chains(), lambda answer: answer.chains, lambda chain: chain.id
)


def _may_wait() -> bool:
    try:
        claim()
    except (OutOfTime, Overloaded):
        return False
    return True


def _first_by_key[K, V](entries: tuple[V, ...], key: Callable[[V], K]) -> dict[K, V]:
    index: dict[K, V] = {}
    for entry in entries:
        index.setdefault(key(entry), entry)
    return index


def _plain(address: str) -> str:
    lowered = address.lower()
    return NATIVE_TOKEN if lowered == NATIVE_TOKEN_ALIAS else lowered
