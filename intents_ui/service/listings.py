"""The lists of chains and tokens that the service has: how each is asked for, and by what its entries are looked up."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from intents_ui.service import operations
from intents_ui.service.errors import ServiceError
from intents_ui.service.operations import Call
from intents_ui.service.tolerance import Wire
from intents_ui.service.wire import ChainInfo, TokenInfo

NATIVE_TOKEN = "0x" + "0" * 40
NATIVE_TOKEN_ALIAS = "0x" + "e" * 40


@dataclass(frozen=True, slots=True)
class Listing[K, V]:
    """A list of the service; `subject` is its name among the others."""

    subject: object
    call: Call[Any]
    entries: Callable[[Any], tuple[V, ...]]
    key: Callable[[V], K]


@dataclass(frozen=True, slots=True)
class Held[K, V]:
    """A list as it was last had."""

    answer: Wire
    index: Mapping[K, V]


@dataclass(frozen=True, slots=True)
class Listed[V]:
    """A list for the page that is about it, each entry once. `error`: why it is as old as `age` says, in seconds."""

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
    """The one way to look a token up by its address."""
    lowered = address.lower()
    return NATIVE_TOKEN if lowered == NATIVE_TOKEN_ALIAS else lowered
