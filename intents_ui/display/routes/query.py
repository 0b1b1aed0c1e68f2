"""Route query: parsed from a URL, validated before any request, written back as the canonical URL.

`from` and `token` are the origin, `to` and `for` the destination. A token on one side requests all routes from it or
to it, a token on each side one route. A chain without a token narrows the other side's results.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, Protocol, Self
from urllib.parse import urlencode

from intents_ui.display.formatting import hashes, text
from intents_ui.display.search import input_errors
from intents_ui.display.tokens import names, token_amounts
from intents_ui.display.tokens.names import Names
from intents_ui.service.wire.models import ChainInfo, TokenInfo

LONGEST_ECHO = 100
LARGEST_CHAIN = 2**64 - 1
MOST_CHOICES = 5

type Query = Mapping[str, Sequence[str]]


class Lists(Names, Protocol):
    """Source of chains and their tokens, empty where they can't be loaded."""

    def chains(self) -> Sequence[ChainInfo]: ...

    def tokens(self, chain_id: int | None) -> Sequence[TokenInfo]: ...


class RouteDirection(StrEnum):
    NOTHING = "nothing"  # no token selected yet
    RECEIVE = "receive"  # tokens reachable from the origin token
    PAY = "pay"  # tokens with a route to the destination token
    ONE = "one"
    SAME = "same"  # the same token on both sides


@dataclass(frozen=True)
class RouteSide:
    """One side. `address` is a `token_amounts.key`, so that the native token has one."""

    chain_id: int | None = None
    address: str | None = None


NOWHERE = RouteSide()


@dataclass(frozen=True)
class RouteQuery:
    """A route query. `owner` limits the results to tokens held by this address. `is_whole`: show a long list in
    full.
    """

    origin: RouteSide = NOWHERE
    destination: RouteSide = NOWHERE
    owner: str | None = None
    is_whole: bool = False

    @property
    def kind(self) -> RouteDirection:
        match self.origin.address, self.destination.address:
            case None, None:
                return RouteDirection.NOTHING
            case _, None:
                return RouteDirection.RECEIVE
            case None, _:
                return RouteDirection.PAY
        return RouteDirection.SAME if self.origin == self.destination else RouteDirection.ONE

    @property
    def restriction(self) -> int | None:
        """Return the chain on the other side that limits the results."""
        match self.kind:
            case RouteDirection.RECEIVE:
                return self.destination.chain_id
            case RouteDirection.PAY:
                return self.origin.chain_id
        return None

    @cached_property
    def query(self) -> str:
        """Return the canonical query string."""
        return _query(
            {
                "from": self.origin.chain_id,
                "token": self.origin.address,
                "to": self.destination.chain_id,
                "for": self.destination.address,
                "owner": self.owner,
                "show": "all" if self.is_whole else None,
            }
        )

    @property
    def from_origin(self) -> "RouteQuery":
        """Return the query for all routes from the origin token."""
        return RouteQuery(self.origin)

    @property
    def to_destination(self) -> "RouteQuery":
        """Return the query for all routes to the destination token."""
        return RouteQuery(destination=self.destination, owner=self.owner)

    @property
    def unrestricted(self) -> "RouteQuery":
        return self.from_origin if self.kind is RouteDirection.RECEIVE else self.to_destination

    @property
    def quote(self) -> str:
        """Return the query of the console's quote form for this route, without the amount."""
        return _query(
            {
                "ownerAddress": self.owner,
                "originChainId": self.origin.chain_id,
                "originTokenAddress": self.origin.address,
                "destinationChainId": self.destination.chain_id,
                "destinationTokenAddress": self.destination.address,
            }
        )

    @property
    def swapped(self) -> "RouteQuery":
        """Return the query for the opposite direction, without the owner."""
        return RouteQuery(self.destination, self.origin)

    def with_(self, **changes: Any) -> Self:
        return replace(self, **changes)


class RouteProblem(ValueError):
    """A validation message with its fix. `choices` are suggested tokens."""

    def __init__(self, sentence: str, *choices: TokenInfo) -> None:
        super().__init__(sentence)
        self.choices = choices


@dataclass(frozen=True)
class ParsedRouteQuery:
    """A parsed query: `problems` by URL parameter, `typed` is the input to show again in the fields."""

    question: RouteQuery
    problems: Mapping[str, RouteProblem]
    typed: Mapping[str, str]

    @property
    def lacks(self) -> str:
        """Return the name of the token field that is empty beside its selected chain, or ""."""
        if self.problems or self.question.kind is not RouteDirection.NOTHING:
            return ""
        chosen = {"token": self.question.origin.chain_id, "for": self.question.destination.chain_id}
        return next((name for name, chain_id in chosen.items() if chain_id is not None), "")


# Without scripts, the form has a token list and a text field. The text field takes precedence.
TYPED = {"token": "token_typed", "for": "for_typed"}


def read(query: Query, *, using: Lists) -> ParsedRouteQuery:
    """Parse the query. Tokens are given by address or by a featured token's symbol, chains by ID or name."""
    written = {name: _last(query, name) for name in ("from", "token", "to", "for", "owner")}
    for name, field in TYPED.items():
        written[name] = _last(query, field) or written[name]
    problems: dict[str, RouteProblem] = {}
    sides = []
    for chain, token in (("from", "token"), ("to", "for")):
        chain_id = address = None
        try:
            chain_id = _chain_id(written[chain], using.chains())
        except RouteProblem as problem:
            problems[chain] = problem
        else:
            try:
                address = _address(written[token], chain_id, using=using)
            except RouteProblem as problem:
                problems[token if chain_id else chain] = problem
        sides.append(RouteSide(chain_id, address))
    owner = None
    try:
        owner = _owner(written["owner"])
    except RouteProblem as problem:
        problems["owner"] = problem
    question = RouteQuery(sides[0], sides[1], owner)
    if _last(query, "show") == "all" and question.restriction:
        question = question.with_(is_whole=True)
    if owner and question.kind in (RouteDirection.NOTHING, RouteDirection.RECEIVE) and not problems:
        problems["owner"] = RouteProblem("Select a destination token to filter by owner.")
    typed = {name: text.visible(value)[:LONGEST_ECHO] for name, value in written.items()}
    return ParsedRouteQuery(question, problems, typed)


def can_be_asked(side: RouteSide) -> bool:
    """Return whether this page and the token page accept the token's address."""
    chain_id, address = side.chain_id, side.address
    is_address = address is not None and (
        hashes.is_solana_address(address) or hashes.canonical_address(address) is not None
    )
    return is_address and chain_id is not None and 0 < chain_id <= LARGEST_CHAIN


def featured(listed: Sequence[TokenInfo]) -> list[TokenInfo]:
    """Return featured tokens in the service's order, most traded first."""
    return [token for token in listed if token.featured]


def word(token: TokenInfo, *, among: Sequence[TokenInfo]) -> str:
    """Return the value of a featured token's option: its symbol if unique on its chain, otherwise its address."""
    symbol = (token.symbol or "").strip()
    alike = [each for each in among if _folded(each.symbol) == _folded(symbol)]
    return symbol if symbol and len(alike) == 1 and not _is_hex(symbol) else token.address


def _query(given: Mapping[str, object]) -> str:
    return urlencode({name: value for name, value in given.items() if value is not None})


def _last(query: Query, name: str) -> str:
    return (query.get(name) or ("",))[-1].strip()


def _chain_id(written: str, chains: Sequence[ChainInfo]) -> int | None:
    """Parse a chain ID or name. While the chain list is unavailable, any ID is accepted."""
    if not written:
        return None
    named = {chain.id: names.chain(chain.id, info=chain) for chain in chains}
    if written.isascii() and written.isdigit() and len(written) <= 20:
        number = int(written)
        if number in named or (not named and 0 < number <= LARGEST_CHAIN):
            return number
    for number, name in named.items():
        if written.lower() == name.lower():
            return number
    raise RouteProblem(f"Unknown chain “{text.name(written).shown}”.")


def _address(written: str, chain_id: int | None, *, using: Lists) -> str | None:
    if not written:
        return None
    if chain_id is None:
        raise RouteProblem("Select the chain of this token.")
    if _is_hex(written):
        known = hashes.canonical_address(written)
        if known is None:
            raise RouteProblem(input_errors.of_address(written))
        return token_amounts.key(known)
    listed = using.tokens(chain_id)
    named = [token for token in listed if _folded(token.symbol) == _folded(written)]
    chosen = featured(named)
    if len(chosen) == 1:
        return token_amounts.key(chosen[0].address)
    if hashes.is_solana_address(written):
        return written
    raise _unclear(written, chain_id, named, chosen, using=using)


def _unclear(
    written: str, chain_id: int, named: Sequence[TokenInfo], chosen: Sequence[TokenInfo], *, using: Lists
) -> RouteProblem:
    chain, symbol = names.chain(chain_id, info=using.chain(chain_id)), text.symbol(written).shown
    if chosen:
        return RouteProblem(
            f"Several featured tokens on {chain} have the symbol {symbol}. Select one.", *chosen[:MOST_CHOICES]
        )
    if named:
        sentence = f"{symbol} is listed but not featured on {chain}. Enter its address."
        return RouteProblem(sentence, *named[:MOST_CHOICES])
    if not using.tokens(chain_id):
        return RouteProblem(f"Couldn't look up token names on {chain}. Enter the token address.")
    return RouteProblem(
        f"No token on {chain} has the symbol {symbol}. Enter a token address or a featured token's symbol."
    )


def _owner(written: str) -> str | None:
    if not written:
        return None
    found = written if hashes.is_solana_address(written) else hashes.canonical_address(written)
    if found is None:
        raise RouteProblem(input_errors.of_address(written))
    return found


def _is_hex(written: str) -> bool:
    """Return whether the input looks like an address, valid or not."""
    return written[:2] in ("0x", "0X") or hashes.canonical_address(written) is not None


def _folded(symbol: str | None) -> str:
    return (symbol or "").strip().casefold()
