"""Chains and tokens by id: names, decimals, explorer links.

A page needs them to put transfers into words, not to show them: what cannot be had is None, never an error. What was
had before stays until there is something newer.
"""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from cachetools import LRUCache, TTLCache

from intents_ui.service.client import ServiceClient
from intents_ui.service.errors import Refused, ServiceError, TooBusy
from intents_ui.service.wire import ChainInfo, TokenInfo

NATIVE_TOKEN = "0x" + "0" * 40
NATIVE_TOKEN_ALIAS = "0x" + "e" * 40

TOKEN_LISTS_HELD = 64
PAUSE_SECONDS = 10.0  # after a failure, until the same is asked for again
EVERYTHING = "everything"

log = logging.getLogger(__name__)


class Catalog:
    """Safe for threads. How long an answer stays fresh is the client's to know (`guard`)."""

    def __init__(self, service: ServiceClient, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._service = service
        self._lock = threading.Lock()
        self._held: LRUCache[object, tuple[object, Mapping[Any, Any]]] = LRUCache(TOKEN_LISTS_HELD)
        self._paused: TTLCache[object, None] = TTLCache(TOKEN_LISTS_HELD, PAUSE_SECONDS, timer=clock)
        self._is_out = False

    def chains(self) -> tuple[ChainInfo, ...]:
        """All supported chains, in the service's order."""
        return tuple(self._chains_by_id().values())

    def chain(self, chain_id: int | None) -> ChainInfo | None:
        return None if chain_id is None else self._chains_by_id().get(chain_id)

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
        return self._index("chains", lambda: self._service.get_chains().chains, lambda chain: chain.id)

    def _tokens_by_address(self, chain_id: int) -> Mapping[str, TokenInfo]:
        return self._index(
            chain_id,
            lambda: self._service.get_token_list([chain_id], include_all_listed=True).tokens,
            lambda token: _plain(token.address),
        )

    def _index[K, V](self, subject: object, ask: Callable[[], tuple[V, ...]], key: Callable[[V], K]) -> Mapping[K, V]:
        """What `ask` lists, by key. The index is made anew only when the list is a new one."""
        with self._lock:
            listed, index = self._held.get(subject, ((), {}))
            if subject in self._paused or EVERYTHING in self._paused:
                return index
        try:
            newest = ask()
        except ServiceError as error:
            self._pause(subject, error)
            return index
        if newest is not listed:
            index = _first_by_key(newest, key)
        with self._lock:
            self._is_out = False
            self._held[subject] = newest, index
        return index

    def _pause(self, subject: object, error: ServiceError) -> None:
        # A service that refuses one list can have the others; one that cannot be reached has none.
        only_this = isinstance(error, Refused) and not isinstance(error, TooBusy)
        with self._lock:
            self._paused[subject if only_this else EVERYTHING] = None
            is_news, self._is_out = not self._is_out, True
        if is_news:
            log.warning("Chains and tokens cannot be looked up: %s, request %s", error.summary, error.request_id)


def _first_by_key[K, V](entries: tuple[V, ...], key: Callable[[V], K]) -> dict[K, V]:
    index: dict[K, V] = {}
    for entry in entries:
        index.setdefault(key(entry), entry)
    return index


def _plain(address: str) -> str:
    lowered = address.lower()
    return NATIVE_TOKEN if lowered == NATIVE_TOKEN_ALIAS else lowered
