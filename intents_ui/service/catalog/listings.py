"""Requests for the service's lists of chains and tokens, and the keys of their entries."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from intents_ui.service.errors import ServiceError
from intents_ui.service.operations import operations
from intents_ui.service.operations.operations import Call
from intents_ui.service.wire.lenient_models import Wire
from intents_ui.service.wire.models import ChainInfo, TokenInfo

NATIVE_TOKEN = "0x" + "0" * 40
NATIVE_TOKEN_ALIAS = "0x" + "e" * 40


@dataclass(frozen=True, slots=True)
class Listing[K, V]:
    """One of the service's lists. `subject` is its cache key."""

    subject: object
    call: Call[Any]
    entries: Callable[[Any], tuple[V, ...]]
    key: Callable[[V], K]


@dataclass(frozen=True, slots=True)
class Held[K, V]:
    """The last response of a list, with its entries by key."""

    answer: Wire
    index: Mapping[K, V]


@dataclass(frozen=True, slots=True)
class Listed[V]:
    """List without duplicates, for the page about it. `error` is why it is `age` seconds old, if it is stale."""

    entries: tuple[V, ...]
    unreadable: int = 0
    age: float = 0.0
    error: ServiceError | None = None


@lru_cache(256)
def tokens_of(chain_id: int) -> Listing[str, TokenInfo]:
    call = operations.get_token_list([chain_id], include_all_listed=True)
    return Listing(chain_id, call, lambda answer: answer.tokens, lambda token: plain(token.address))


def featured_on(chain_ids: Sequence[int]) -> Listing[tuple[int | None, str], TokenInfo]:
    call = operations.get_token_list(chain_ids)
    return Listing(
        ("featured", tuple(chain_ids)),
        call,
        lambda answer: answer.tokens,
        lambda token: (token.chain_id, plain(token.address)),
    )


def served_by(route_provider: str) -> Listing[int, ChainInfo]:
    call = operations.get_chains(route_provider=route_provider)
    return Listing(("served by", route_provider), call, lambda answer: answer.chains, lambda chain: chain.id)


CHAINS = Listing[int, ChainInfo](
    "chains", operations.get_chains(), lambda answer: answer.chains, lambda chain: chain.id
)


def plain(address: str) -> str:
    """Return the normalized form of a token's address, for lookups."""
    lowered = address.lower()
    return NATIVE_TOKEN if lowered == NATIVE_TOKEN_ALIAS else lowered
