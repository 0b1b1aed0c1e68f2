"""What figures are of: all transfers, or those of a chain, a provider, a token or a route."""

import json
from enum import StrEnum
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from intents_ui.mirror.entry import RouteKey, TokenKey
from intents_ui.service.models import plain

MAX_PROVIDERS = 8  # of a route. Each makes a transfer a part of three more things


class Level(StrEnum):
    """What figures and incidents can be of, the narrowest first."""

    ROUTE = "route"
    PROVIDER_ON_CHAIN = "provider on chain"
    TOKEN = "token"  # noqa: S105 - a token of a chain is no password
    PROVIDER = "provider"
    CHAIN = "chain"
    SERVICE = "service"


class ScopeName(NamedTuple):
    """A part of the service. A provider is one of a route, or all of a route with `;` between them.

    The chain of a chain or a token is the origin, as is that of a provider on one chain only. `token` is the address of
    a token, in lower case if it is hex.
    """

    level: Level
    providers: str = ""
    origin_chain: str = ""
    destination_chain: str = ""
    token: str = ""

    @property
    def route(self) -> RouteKey:
        return RouteKey(self.providers, self.origin_chain, self.destination_chain)

    @property
    def text(self) -> str:
        return json.dumps(self)


EVERYTHING = ScopeName(Level.SERVICE)


@lru_cache(maxsize=100_000)
def scopes_of(route: RouteKey, tokens: tuple[TokenKey, ...] = ()) -> tuple[ScopeName, ...]:
    """Return what a transfer is a part of, its route first. Of a route's providers, the first eight count."""
    chains = dict.fromkeys(filter(None, (route.origin_chain, route.destination_chain)))
    providers = list(dict.fromkeys(filter(None, route.providers.split(";"))))[:MAX_PROVIDERS]
    return (
        ScopeName(Level.ROUTE, *route),
        *(ScopeName(Level.PROVIDER_ON_CHAIN, *each) for each in product(providers, chains)),
        *dict.fromkeys(scope_of_token(each.chain, each.address) for each in tokens),
        *(ScopeName(Level.PROVIDER, each) for each in providers),
        *(ScopeName(Level.CHAIN, "", each) for each in chains),
        EVERYTHING,
    )


def scope_of_token(chain: str, address: str) -> ScopeName:
    """Return the scope of a token, which a transfer is a part of if it sends or delivers the token."""
    is_hex = address[:2].lower() == "0x"
    return ScopeName(Level.TOKEN, origin_chain=chain, token=plain(address) if is_hex else address)
