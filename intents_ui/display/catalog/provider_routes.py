"""Pairs of chains that the transfers of a route provider went between."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from intents_ui.display.routes.query import RouteQuery, RouteSide
from intents_ui.display.tokens import names
from intents_ui.display.tokens.names import Names
from intents_ui.display.transfers.situation import Situation


@dataclass(frozen=True)
class UsedRoute:
    """A pair of chains with its number of transfers. `query`: its routes, "" unless both chains are listed."""

    origin: str
    destination: str
    count: int
    query: str


def used_routes(transfers: Iterable[Situation], *, using: Names) -> list[UsedRoute]:
    """Return the pairs, the most used first."""
    pairs = Counter((each.facts.origin_chain_id, each.facts.destination_chain_id) for each in transfers)
    return [_used(*pair, count, using=using) for pair, count in pairs.most_common()]


def _used(origin: int | None, destination: int | None, count: int, *, using: Names) -> UsedRoute:
    start, end = using.chain(origin), using.chain(destination)
    return UsedRoute(
        names.chain(origin, info=start),
        names.chain(destination, info=end),
        count,
        RouteQuery(RouteSide(origin), RouteSide(destination)).query if start and end else "",
    )
