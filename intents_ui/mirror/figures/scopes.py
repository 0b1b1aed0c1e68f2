"""What figures are of: all transfers, or those of a chain, a provider or a route."""

from enum import StrEnum
from typing import NamedTuple

from django.db.models import Q

from intents_ui.mirror.entry import RouteKey


class Level(StrEnum):
    """What figures and incidents can be of, the narrowest first."""

    ROUTE = "route"
    PROVIDER = "provider"
    CHAIN = "chain"
    SERVICE = "service"


class ScopeName(NamedTuple):
    """What figures are of. A provider is one of a route, or all of a route with `;` between them."""

    level: Level
    providers: str = ""
    origin_chain: str = ""
    destination_chain: str = ""


EVERYTHING = ScopeName(Level.SERVICE)


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


def is_part(scope: ScopeName) -> Q:
    """Return the condition that a row of the table of transfers is a part of a scope."""
    match scope.level:
        case Level.ROUTE:
            return Q(**{f"route__{name}": value for name, value in zip(RouteKey._fields, scope[1:], strict=True)})
        case Level.PROVIDER:
            name = scope.providers
            first, last, inner = f"{name};", f";{name}", f";{name};"
            return (
                Q(route__providers=name)
                | Q(route__providers__startswith=first)
                | Q(route__providers__endswith=last)
                | Q(route__providers__contains=inner)
            )
        case Level.CHAIN:
            return Q(route__origin_chain=scope.origin_chain) | Q(route__destination_chain=scope.origin_chain)
    return Q()
