"""What tokens cost, for the pages that show many (domain.md 3.5).

A page shows prices beside what it is about: what cannot be had is left out, never an error. A token that the service
has no price for is remembered as such, just as long as one that it has.
"""

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import partial
from itertools import batched

from cachetools import TTLCache

from intents_ui.service.client import ServiceClient
from intents_ui.service.deadline import within
from intents_ui.service.errors import Overloaded, Refused, ServiceError, TooBusy
from intents_ui.service.listings import plain
from intents_ui.service.together import together

MOST_AT_A_TIME = 100  # tokens of one call
FRESH_SECONDS = 90.0
PRICES_HELD = 20_000
PATIENCE_SECONDS = 2.0  # for which a page waits for prices
PAUSE_SECONDS = 10.0  # after a failure, until the service is asked again

type Token = tuple[int, str]


@dataclass(frozen=True, slots=True)
class Price:
    """USD for one whole token, None: the service has none. `at`: as of when, None where the service does not say."""

    usd: Decimal | None
    at: datetime | None = None


NO_PRICE = Price(None)


class Prices:
    """Safe for threads."""

    def __init__(self, service: ServiceClient, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._service = service
        self._clock = clock
        self._lock = threading.Lock()
        self._held: TTLCache[Token, Price] = TTLCache(PRICES_HELD, FRESH_SECONDS, timer=clock)
        self._paused_until = -PAUSE_SECONDS

    def of(self, tokens: Iterable[Token]) -> Mapping[Token, Price]:
        """By chain id and address as given. A token that is missing here could not be asked about: nothing is known."""
        tokens = list(tokens)
        written = {_plain(chain_id, address): (chain_id, address) for chain_id, address in tokens}
        found = self._known(written)
        missing = [written[each] for each in sorted(written.keys() - found.keys())]
        if missing and self._clock() >= self._paused_until:
            found |= self._asked(missing)
        return {token: found[each] for token in tokens if (each := _plain(*token)) in found}

    def _known(self, tokens: Iterable[Token]) -> dict[Token, Price]:
        with self._lock:
            held = {token: self._held.get(token) for token in tokens}
        return {token: price for token, price in held.items() if price}

    def _asked(self, tokens: Sequence[Token]) -> dict[Token, Price]:
        batches = batched(tokens, MOST_AT_A_TIME)
        with within(PATIENCE_SECONDS):
            answers = together(*(partial(self._batch, batch) for batch in batches))
        found: dict[Token, Price] = {}
        for answer in answers:
            if isinstance(answer, ServiceError):
                self._pause(answer)
            else:
                found |= answer
        with self._lock:
            self._held.update(found)
        return found

    def _batch(self, tokens: Sequence[Token]) -> dict[Token, Price]:
        """Prices by what they say they are of: they come in any order, and some not at all."""
        answered = {
            _plain(price.token.chain_id, price.token.token_address): Price(price.price_usd, price.updated_at)
            for price in self._service.get_token_prices(tokens).token_prices
            if price.token.chain_id is not None and price.token.token_address
        }
        return {(each := _plain(*token)): answered.get(each, NO_PRICE) for token in tokens}

    def _pause(self, error: ServiceError) -> None:
        """What was refused says nothing about the next question, and our own connections nothing about the service."""
        if isinstance(error, Overloaded) or (isinstance(error, Refused) and not isinstance(error, TooBusy)):
            return
        self._paused_until = self._clock() + PAUSE_SECONDS


def _plain(chain_id: int, address: str) -> Token:
    """One way to write a token. Of addresses that are no hex too only the letters' case can differ between services."""
    return chain_id, plain(address)
