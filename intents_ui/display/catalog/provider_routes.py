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
    """A pair of chains with its number of transfers. `query`: its routes."""

    origin: str
    destination: str
    count: int
    query: str


def used_routes(transfers: Iterable[Situation], *, using: Names) -> list[UsedRoute]:
    """Return the pairs, the most used first."""
    pairs = Counter((each.facts.origin_chain_id, each.facts.destination_chain_id) for each in transfers)
    return [
        UsedRoute(
            names.chain(origin, info=using.chain(origin)),
            names.chain(destination, info=using.chain(destination)),
            count,
            RouteQuery(RouteSide(origin), RouteSide(destination)).query,
        )
        for (origin, destination), count in pairs.most_common()
    ]
