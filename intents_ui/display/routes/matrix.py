"""Route matrix: how many tokens of a chain can be received for one token of another.

The service accepts one token per request, so a row is the response for one token of its chain: the native one, or the
featured one with a selected symbol.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from intents_ui.display import failures
from intents_ui.display.formatting import hashes, text
from intents_ui.display.routes import query
from intents_ui.display.routes.query import Lists, RouteQuery, RouteSide
from intents_ui.display.tokens import icons, names, token_amounts
from intents_ui.display.tokens.icons import TokenIcon
from intents_ui.display.tokens.names import Names
from intents_ui.display.tokens.token_amounts import Identity, identity
from intents_ui.service.errors import ServiceError
from intents_ui.service.wire.models import ChainInfo, TokenInfo

PARAMETER = "with"  # in the URL
NATIVE = "native"
MOST_SYMBOLS = 4
LONGEST_SYMBOL = 32
SHADES = 4

# By chain: how many of each chain's tokens are reachable, or why that is unknown.
type Counts = Mapping[int, int]
type Rows = Mapping[int, Counts | ServiceError]
# By chain: the token of its row. None: it has none. Missing: its tokens aren't loaded.
type Origins = Mapping[int, str | None]


@dataclass(frozen=True)
class Head:
    chain_id: int
    chain: str
    coin: TokenIcon


@dataclass(frozen=True)
class MatrixCell:
    """`shade`: 0 to 4, relative to the other counts of the table. `query`: the routes page with the counted tokens."""

    count: int
    shade: int
    query: str
    label: str
    is_same_chain: bool


@dataclass(frozen=True)
class MatrixRow:
    """Tokens reachable from `token`. Without a response there are no cells, and `why` is the reason."""

    head: Head
    token: Identity | None
    query: str = ""
    cells: tuple[MatrixCell, ...] = ()
    why: str = ""


@dataclass(frozen=True)
class Table:
    """Matrix of mainnets or of testnets, which have no routes between them."""

    name: str
    heads: tuple[Head, ...]
    rows: tuple[MatrixRow, ...]

    @property
    def is_empty(self) -> bool:
        """Return whether all responses are empty."""
        return not any(cell.count for row in self.rows for cell in row.cells)


@dataclass(frozen=True)
class MatrixOffer:
    word: str
    label: str
    query: str


@dataclass(frozen=True)
class Offers:
    """Origin tokens that can be selected, and the `chosen` one."""

    chosen: str
    all: tuple[MatrixOffer, ...]

    @property
    def query(self) -> str:
        return _query(self.chosen)

    @property
    def label(self) -> str:
        return "the native token" if self.chosen == NATIVE else text.symbol(self.chosen).shown


def offers(written: str, chains: Sequence[ChainInfo], *, using: Lists) -> Offers:
    """Return the native token and the symbols that most chains feature. The URL may name another symbol."""
    chains_with = Counter(symbol for chain in chains for symbol in _symbols(using.tokens(chain.id)))
    common = sorted(chains_with, key=lambda symbol: (-chains_with[symbol], symbol))
    words = {word.casefold(): word for word in (NATIVE, *common)}
    wanted = written.strip()[:LONGEST_SYMBOL]
    labels = {NATIVE: "Native tokens", **{word: word for word in common[:MOST_SYMBOLS]}}
    return Offers(
        chosen=words.get(wanted.casefold(), wanted) or NATIVE,
        all=tuple(MatrixOffer(word, label, _query(word)) for word, label in labels.items()),
    )


def origins(word: str, chains: Sequence[ChainInfo], *, using: Lists) -> Origins:
    """Return the origin token of each chain. `word`: NATIVE or the symbol of a featured token."""
    if word == NATIVE:
        return {chain.id: hashes.ZERO_ADDRESS for chain in chains}
    listed = {chain.id: using.tokens(chain.id) for chain in chains}
    return {chain_id: _featured(word, found) for chain_id, found in listed.items() if found}


def tables(rows: Rows, asked: Origins, chains: Sequence[ChainInfo], *, using: Names) -> tuple[Table, ...]:
    mainnets = [chain for chain in chains if not chain.is_testnet]
    testnets = [chain for chain in chains if chain.is_testnet]
    named = (("Mainnets", mainnets), ("Testnets", testnets))
    return tuple(_table(name, of_kind, rows, asked, using=using) for name, of_kind in named if of_kind)


def _query(word: str) -> str:
    return "" if word == NATIVE else "?" + urlencode({PARAMETER: word})


def _symbols(listed: Sequence[TokenInfo]) -> set[str]:
    """Return the featured tokens without warnings."""
    named = {token.symbol for token in query.featured(listed) if not hashes.is_native(token.address)}
    return {
        symbol for symbol in named if symbol and text.bare(text.symbol(symbol).shown) == symbol and symbol != NATIVE
    }


def _featured(symbol: str, listed: Sequence[TokenInfo]) -> str | None:
    """Return the address of the only featured token with this symbol."""
    featured = query.featured(listed)
    found = [token.address for token in featured if (token.symbol or "").casefold() == symbol.casefold()]
    return token_amounts.key(found[0]) if len(found) == 1 else None


def _table(name: str, chains: Sequence[ChainInfo], rows: Rows, asked: Origins, *, using: Names) -> Table:
    heads = tuple(_head(chain) for chain in chains)
    answered = [found for head in heads if isinstance(found := rows.get(head.chain_id), Mapping)]
    most = max((found.get(head.chain_id, 0) for found in answered for head in heads), default=0)
    return Table(name, heads, tuple(_row(head, heads, rows, asked, most, using=using) for head in heads))


def _head(chain: ChainInfo) -> Head:
    name = names.chain(chain.id, info=chain)
    return Head(chain.id, name, icons.of_chain(chain.id, name, logo_uri=chain.logo_uri))


def _row(head: Head, heads: Sequence[Head], rows: Rows, asked: Origins, most: int, *, using: Names) -> MatrixRow:
    if head.chain_id not in asked:
        return MatrixRow(head, None, why="Couldn't load the tokens of this chain")
    address, found = asked[head.chain_id], rows.get(head.chain_id)
    if address is None:
        return MatrixRow(head, None, why="Not featured on this chain")
    token = identity(head.chain_id, address, using=using)
    question = RouteQuery(RouteSide(head.chain_id, address))
    if not isinstance(found, Mapping):
        why = failures.words(found).title if found else "Not loaded, because other requests failed"
        return MatrixRow(head, token, question.query, why=why)
    cells = tuple(_cell(question, head, other, found.get(other.chain_id, 0), token, most) for other in heads)
    return MatrixRow(head, token, question.query, cells)


def _cell(question: RouteQuery, head: Head, other: Head, count: int, token: Identity, most: int) -> MatrixCell:
    is_same = other == head
    where = "on the same chain" if is_same else f"on {other.chain}"
    return MatrixCell(
        count=count,
        shade=-(-count * SHADES // most) if most else 0,
        query=question.with_(destination=RouteSide(other.chain_id)).query,
        label=f"{count or 'No'} {'token' if count == 1 else 'tokens'} {where} for {token.symbol} on {head.chain}",
        is_same_chain=is_same,
    )
