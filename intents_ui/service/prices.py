"""Cache of USD token prices.

Prices are supplementary on a page, so a failed lookup leaves them out instead of raising an error. That a token has no
price is cached, too.
"""

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import batched

from cachetools import TTLCache

from intents_ui.service import operations
from intents_ui.service.client import ServiceClient
from intents_ui.service.context.request_context import within
from intents_ui.service.errors import Overloaded, Refused, ServiceError, TooBusy
from intents_ui.service.models import plain
from intents_ui.service.results import NO_PRICE, Price

MOST_AT_A_TIME = 100  # tokens per request
FRESH_SECONDS = 90.0
PRICES_HELD = 20_000
PATIENCE_SECONDS = 2.0  # longest wait of a page for prices
PAUSE_SECONDS = 10.0  # wait after a failure before the next request

type Token = tuple[int, str]


class Prices:
    """Price cache. Thread-safe."""

    def __init__(self, service: ServiceClient, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._service = service
        self._clock = clock
        self._lock = threading.Lock()
        self._cache: TTLCache[Token, Price] = TTLCache(PRICES_HELD, FRESH_SECONDS, timer=clock)
        self._paused_until = -PAUSE_SECONDS

    def of(self, tokens: Iterable[Token]) -> Mapping[Token, Price]:
        """Return prices by chain ID and address as given. Tokens whose price couldn't be requested are missing."""
        tokens = list(tokens)
        written = {_key(*token): token for token in tokens}
        with self._lock:
            found = {key: price for key in written if (price := self._cache.get(key))}
        missing = [written[key] for key in sorted(written.keys() - found.keys())]
        if missing and self._clock() >= self._paused_until:
            found |= self._fetched(missing)
        return {token: found[key] for token in tokens if (key := _key(*token)) in found}

    def _fetched(self, tokens: Sequence[Token]) -> dict[Token, Price]:
        batches = batched(tokens, MOST_AT_A_TIME)
        with within(PATIENCE_SECONDS):
            answers = self._service.threads.together(*(partial(self._batch, batch) for batch in batches))
        found: dict[Token, Price] = {}
        for answer in answers:
            if isinstance(answer, ServiceError):
                self._pause(answer)
            else:
                found |= answer
        with self._lock:
            self._cache.update(found)
        return found

    def _batch(self, tokens: Sequence[Token]) -> dict[Token, Price]:
        """Return the prices of a batch, matched by token: the response is unordered and may omit some."""
        answered = {
            _key(price.token.chain_id, price.token.token_address): Price(price.price_usd, price.updated_at)
            for price in self._service.ask(operations.get_token_prices(tokens)).token_prices
            if price.token.chain_id is not None and price.token.token_address
        }
        return {(key := _key(*token)): answered.get(key, NO_PRICE) for token in tokens}

    def _pause(self, error: ServiceError) -> None:
        """Pause requests after a failure, except a rejected request or a lack of our own connections."""
        if isinstance(error, Overloaded) or (isinstance(error, Refused) and not isinstance(error, TooBusy)):
            return
        self._paused_until = self._clock() + PAUSE_SECONDS


def _key(chain_id: int, address: str) -> Token:
    """Return a token's cache key. Services may differ in an address's case, also for addresses that aren't hex."""
    return chain_id, plain(address)
