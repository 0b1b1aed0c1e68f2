"""Route lookups, with a short-lived cache of token counts per chain."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace

from cachetools import TLRUCache

from intents_ui.service.catalog.catalog import plain
from intents_ui.service.client import BlockingOperations
from intents_ui.service.operations.operations import Question, ServiceCall
from intents_ui.service.wire.models import TokenInfo
from intents_ui.service.wire.responses import TokensAnswer

FRESH_SECONDS = 60.0
EMPTY_FRESH_SECONDS = 30.0  # short, so that a new route shows up soon
COUNTS_HELD = 512


class Routes:
    """Route lookups. Thread-safe. Errors aren't cached."""

    def __init__(self, service: BlockingOperations, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._service = service
        self._lock = threading.Lock()
        self._counts: TLRUCache[Question, Mapping[int, int]] = TLRUCache(COUNTS_HELD, _end_of_counts, timer=clock)

    def ask(self, call: ServiceCall[TokensAnswer]) -> TokensAnswer:
        return self._service.ask(call)

    def count(self, call: ServiceCall[TokensAnswer]) -> Mapping[int, int]:
        """Return the number of tokens in the response by chain. The tokens themselves aren't cached."""
        question = call.question
        with self._lock:
            cached = self._counts.get(question)
        if cached is not None:
            return cached
        tokens = self._service.ask(replace(call, kind=None)).tokens
        counts = Counter(chain_id for chain_id, _ in {_token(each) for each in tokens})
        with self._lock:
            self._counts[question] = counts
        return counts


def _token(named: TokenInfo) -> tuple[int, str]:
    """Return a token's key, which is the same for both addresses of a native token."""
    return named.chain_id, plain(named.address)


def _end_of_counts(question: Question, counts: Mapping[int, int], now: float) -> float:
    return now + (FRESH_SECONDS if counts else EMPTY_FRESH_SECONDS)
