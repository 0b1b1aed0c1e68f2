"""What figures are of: all transfers, or those of a chain, a provider, a token or a route."""

from collections.abc import Iterable
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from django.db.models import Q

from intents_ui.mirror.entry import RouteKey, TokenKey
from intents_ui.service.catalog import plain


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


EVERYTHING = ScopeName(Level.SERVICE)


@lru_cache(maxsize=20_000)
def scopes_of(route: RouteKey) -> tuple[ScopeName, ...]:
    """Return what a route is a part of, with itself."""
    chains = dict.fromkeys(filter(None, (route.origin_chain, route.destination_chain)))
    providers = dict.fromkeys(filter(None, route.providers.split(";")))
    return (
        ScopeName(Level.ROUTE, *route),
        *(ScopeName(Level.PROVIDER, each) for each in providers),
        *(ScopeName(Level.CHAIN, "", each) for each in chains),
        EVERYTHING,
    )


def scope_of_token(chain: str, address: str) -> ScopeName:
    """Return the scope of a token, which a transfer is a part of if it sends or delivers the token."""
    is_hex = address[:2].lower() == "0x"
    return ScopeName(Level.TOKEN, origin_chain=chain, token=plain(address) if is_hex else address)


def scopes_of_tokens(tokens: Iterable[TokenKey | None]) -> tuple[ScopeName, ...]:
    """Return the scopes of the tokens that are known, each once."""
    return tuple(dict.fromkeys(scope_of_token(each.chain, each.address) for each in tokens if each))


def is_part(scope: ScopeName) -> Q:
    """Return the condition that a route is a part of a scope, which isn't a token."""
    match scope.level:
        case Level.ROUTE:
            return Q(**scope.route._asdict())
        case Level.PROVIDER | Level.PROVIDER_ON_CHAIN:
            name, chain = scope.providers, scope.origin_chain
            on_chain = Q(origin_chain=chain) | Q(destination_chain=chain) if chain else Q()
            return on_chain & (
                Q(providers=name)
                | Q(providers__startswith=f"{name};")
                | Q(providers__endswith=f";{name}")
                | Q(providers__contains=f";{name};")
            )
        case Level.CHAIN:
            return Q(origin_chain=scope.origin_chain) | Q(destination_chain=scope.origin_chain)
        case Level.SERVICE:
            return Q()
        case Level.TOKEN:
            raise ValueError("a token is no condition")
