"""Route matrix: how many route providers serve each pair of chains.

Providers that only swap on one chain are counted where a chain meets itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from intents_ui.display.formatting import times
from intents_ui.display.routes.query import RouteQuery, RouteSide
from intents_ui.display.tokens import connections, icons, names
from intents_ui.display.tokens.connections import ServedChains
from intents_ui.display.tokens.icons import TokenIcon
from intents_ui.service.wire.models import ChainInfo

SHADES = 4


@dataclass(frozen=True)
class Head:
    """A chain. `tokens`: the number of its featured tokens, None if unknown."""

    chain_id: int
    chain: str
    coin: TokenIcon
    tokens: int | None


@dataclass(frozen=True)
class PairPerformance:
    """The share of delivered transfers between two chains, the median of their durations, and how many ended."""

    rate: str
    median: timedelta | None
    ended: int

    @property
    def words(self) -> str:
        return f"{self.rate} of {self.ended:,} delivered in 24 hours, median {times.duration(self.median)}"


@dataclass(frozen=True)
class MatrixCell:
    """`shade`: 0 to 4, relative to the other counts of the table. `query`: the routes between the chains.

    `performance`: that of the transfers between them, if known.
    """

    count: int
    shade: int
    query: str
    label: str
    is_same_chain: bool
    performance: PairPerformance | None


@dataclass(frozen=True)
class MatrixRow:
    head: Head
    cells: tuple[MatrixCell, ...]


@dataclass(frozen=True)
class Table:
    """Matrix of mainnets or of testnets, which have no routes between them."""

    name: str
    heads: tuple[Head, ...]
    rows: tuple[MatrixRow, ...]


def tables(
    chains: Sequence[ChainInfo],
    *,
    served: ServedChains,
    featured: Mapping[int, int],
    performance: Mapping[tuple[int, int], PairPerformance],
) -> tuple[Table, ...]:
    """Return the matrix of each kind of chain.

    `featured`: the number of featured tokens by chain, where known. `performance`: by origin and destination.
    """
    mainnets = [chain for chain in chains if not chain.is_testnet]
    testnets = [chain for chain in chains if chain.is_testnet]
    named = (("Mainnets", mainnets), ("Testnets", testnets))
    return tuple(
        _table(name, [_head(chain, featured) for chain in kind], served, performance) for name, kind in named if kind
    )


def _head(chain: ChainInfo, featured: Mapping[int, int]) -> Head:
    name = names.chain(chain.id, info=chain)
    return Head(chain.id, name, icons.of_chain(chain.id, name, logo_uri=chain.logo_uri), featured.get(chain.id))


def _table(
    name: str, heads: Sequence[Head], served: ServedChains, performance: Mapping[tuple[int, int], PairPerformance]
) -> Table:
    shared = {
        (one.chain_id, other.chain_id): connections.between(one.chain_id, other.chain_id, served=served)
        for one in heads
        for other in heads
    }
    most = max(map(len, shared.values()))

    def cell(origin: Head, destination: Head) -> MatrixCell:
        found = shared[origin.chain_id, destination.chain_id]
        is_same = origin is destination
        where = f"on {origin.chain}" if is_same else f"from {origin.chain} to {destination.chain}"
        word = "provider" if len(found) == 1 else "providers"
        labels = f": {', '.join(each.label for each in found)}" if found else ""
        known = performance.get((origin.chain_id, destination.chain_id))
        return MatrixCell(
            count=len(found),
            shade=-(-len(found) * SHADES // most) if most else 0,
            query=RouteQuery(RouteSide(origin.chain_id), RouteSide(destination.chain_id)).query,
            label=f"{len(found) or 'No'} {word} {where}{labels}{f'. {known.words}' if known else ''}",
            is_same_chain=is_same,
            performance=known,
        )

    rows = tuple(MatrixRow(head, tuple(cell(head, other) for other in heads)) for head in heads)
    return Table(name, tuple(heads), rows)
