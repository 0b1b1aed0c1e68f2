"""Route query and its form: parsed from a URL, validated before any request, written back as the canonical URL.

`from` and `token` are the origin, `to` and `for` the destination. A token on one side requests all routes from it or
to it, a token on each side one route. A chain without a token narrows the other side's results.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from intents_ui.formatting import hashes, text
from intents_ui.search import identifiers, parameters
from intents_ui.search.parameters import InvalidParameter, Parsed, Parser, Query, UrlFilters, last
from intents_ui.service.models import ChainInfo, TokenInfo
from intents_ui.tokens import chains, names, token_amounts
from intents_ui.tokens.names import Names
from intents_ui.tokens.token_amounts import Identity, TokenIcon, chain_icon, identity

MAX_CHOICES = 5


class Lists(Names, Protocol):
    """Source of chains and their tokens, empty where they can't be loaded."""

    def chains(self) -> Sequence[ChainInfo]: ...

    def tokens(self, chain_id: int | None) -> Sequence[TokenInfo]: ...


class RouteDirection(StrEnum):
    NOTHING = "nothing"  # no chain or token selected yet
    CHAIN = "chain"  # a chain without a token
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
class RouteQuery(UrlFilters):
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
                return RouteDirection.CHAIN if self.chain_alone.chain_id else RouteDirection.NOTHING
            case _, None:
                return RouteDirection.RECEIVE
            case None, _:
                return RouteDirection.PAY
        return RouteDirection.SAME if self.origin == self.destination else RouteDirection.ONE

    @property
    def chain_alone(self) -> RouteSide:
        """Return the side with a chain without a token, the origin before the destination."""
        return next((side for side in (self.origin, self.destination) if side.chain_id and not side.address), NOWHERE)

    def with_token(self, address: str) -> "RouteQuery":
        """Return the query with this token on the chain that has none."""
        side = RouteSide(self.chain_alone.chain_id, address)
        return self.with_(origin=side) if self.chain_alone is self.origin else self.with_(destination=side)

    @property
    def restriction(self) -> int | None:
        """Return the chain on the other side that limits the results."""
        sides = {RouteDirection.RECEIVE: self.destination, RouteDirection.PAY: self.origin}
        return sides.get(self.kind, NOWHERE).chain_id

    @property
    def written(self) -> dict[str, object]:
        return {
            "from": self.origin.chain_id,
            "token": self.origin.address,
            "to": self.destination.chain_id,
            "for": self.destination.address,
            "owner": self.owner,
            "show": "all" if self.is_whole else None,
        }

    @property
    def from_origin(self) -> "RouteQuery":
        """Return the query for all routes from the origin token."""
        return RouteQuery(self.origin)

    @property
    def to_destination(self) -> "RouteQuery":
        """Return the query for all routes to the destination token."""
        return RouteQuery(destination=self.destination, owner=self.owner)

    @property
    def quote(self) -> str:
        """Return the query of the console's quote form for this route, without the amount."""
        return parameters.encode(
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


FIELDS = ("from", "token", "to", "for", "owner")
# Without scripts, the form has a token list and a text field. The text field takes precedence.
TYPED = {"token": "token_typed", "for": "for_typed"}


def read(query: Query, *, using: Lists) -> Parsed[RouteQuery]:
    """Parse the query. Tokens are given by address or by a featured token's symbol, chains by ID or name.

    Problems and texts are by URL parameter.
    """
    written = {name: [last(query, TYPED.get(name, name)) or last(query, name)] for name in FIELDS}

    def token(chain: str) -> Parser:
        """Return the parser of a token on this chain. An unknown chain has its own message."""
        chain_id = parameters.find_chain(last(written, chain), using.chains())
        return lambda word: _address(word, chain_id, using=using) if chain_id else None

    def chain(word: str) -> int:
        problem = f"Unknown chain “{text.name(word).shown}”."
        return parameters.required(parameters.find_chain(word, using.chains()), problem)

    parsers: dict[str, Parser] = {
        "from": chain,
        "token": token("from"),
        "to": chain,
        "for": token("to"),
        "owner": parameters.address,
    }
    parsed = parameters.parse(written, parsers, dict[str, Any])
    found, typed, problems = parsed.filters, parsed.typed, dict(parsed.problems)
    for side, name in (("from", "token"), ("to", "for")):
        if typed[name] and not typed[side]:
            problems[side] = "Select the chain of this token."
    origin = RouteSide(found.get("from"), found.get("token"))
    question = RouteQuery(origin, RouteSide(found.get("to"), found.get("for")), found.get("owner"))
    if last(query, "show") == "all" and question.restriction:
        question = question.with_(is_whole=True)
    if question.owner and not question.destination.address and not problems:
        problems["owner"] = "Select a destination token to filter by owner."
    in_order = {name: problems[name] for name in written if name in problems}
    return Parsed(question, in_order, typed, parsed.choices)


def can_be_asked(side: RouteSide) -> bool:
    """Return whether this page and the token page accept the token's address."""
    if side.address is None or side.chain_id is None:
        return False
    return hashes.any_address(side.address) is not None and chains.is_possible(side.chain_id)


def featured(listed: Sequence[TokenInfo]) -> list[TokenInfo]:
    """Return featured tokens in the service's order, most traded first."""
    return [token for token in listed if token.featured]


def word_of(token: TokenInfo, *, among: Sequence[TokenInfo]) -> str:
    """Return the value of a featured token's option: its symbol if unique on its chain, otherwise its address."""
    symbol = (token.symbol or "").strip()
    alike = [each for each in among if _folded(each.symbol) == _folded(symbol)]
    return symbol if symbol and len(alike) == 1 and not _is_hex(symbol) else token.address


def _address(written: str, chain_id: int, *, using: Lists) -> str:
    if _is_hex(written):
        return token_amounts.key(parameters.address(written))
    listed = using.tokens(chain_id)
    named = [token for token in listed if _folded(token.symbol) == _folded(written)]
    chosen = featured(named)
    if len(chosen) == 1:
        return token_amounts.key(chosen[0].address)
    if found := identifiers.only(written, identifiers.ADDRESSES):
        return token_amounts.key(found)
    raise _unclear(written, chain_id, named, chosen, using=using)


def _unclear(
    written: str, chain_id: int, named: Sequence[TokenInfo], chosen: Sequence[TokenInfo], *, using: Lists
) -> InvalidParameter:
    chain, symbol = names.of_chain(chain_id, using=using), text.symbol(written).shown
    if chosen:
        return InvalidParameter(
            f"Several featured tokens on {chain} have the symbol {symbol}. Select one.", *chosen[:MAX_CHOICES]
        )
    if named:
        sentence = f"{symbol} is listed but not featured on {chain}. Enter its address."
        return InvalidParameter(sentence, *named[:MAX_CHOICES])
    if not using.tokens(chain_id):
        return InvalidParameter(f"Couldn't look up token names on {chain}. Enter the token address.")
    return InvalidParameter(
        f"No token on {chain} has the symbol {symbol}. Enter a token address or a featured token's symbol."
    )


def _is_hex(written: str) -> bool:
    """Return whether the input looks like an address, valid or not."""
    return written[:2] in ("0x", "0X") or hashes.canonical_address(written) is not None


def _folded(symbol: str | None) -> str:
    return (symbol or "").strip().casefold()


# The form: the selected token of each side, featured tokens, and a field for any other token.


@dataclass(frozen=True)
class Option:
    """An option of a list of featured tokens."""

    value: str
    label: str
    is_chosen: bool


@dataclass(frozen=True)
class RouteChoice:
    """A token and the route query with it, "" if its address can't be searched for."""

    token: Identity
    query: str


@dataclass(frozen=True)
class RouteFormView:
    """One side: the selected token, if any, and the fields. `typed` is the text in the field beside the list.

    `coin` and `chain` describe any token of a chain, or of all chains.
    """

    chain_id: int | None
    chain: str
    coin: TokenIcon
    token: Identity | None
    featured: list[Option]
    typed: str
    choices: list[RouteChoice]


# The URL parameter of each side's token.
PARAMETERS = {"origin": "token", "destination": "for"}


def side(end: str, asked: Parsed[RouteQuery], *, using: Lists) -> RouteFormView:
    """Return one side of the form: "origin" or "destination"."""
    token: RouteSide = getattr(asked.filters, end)
    name, chain_id, address = PARAMETERS[end], token.chain_id, token.address
    offered = options(using.tokens(chain_id) if chain_id else (), address)
    is_offered = any(option.is_chosen for option in offered)
    chain = names.of_chain(chain_id, using=using, unknown="any chain")
    choices = []
    for each in asked.choices.get(name, ()):
        key = token_amounts.key(each.address)
        meant = asked.filters.with_(**{end: RouteSide(each.chain_id, key)})
        choices.append(RouteChoice(identity(each.chain_id, key, using=using, metadata=each), meant.query))
    return RouteFormView(
        chain_id=chain_id,
        chain=chain,
        coin=TokenIcon("?", None, chain_icon(chain_id, chain) if chain_id else None),
        token=identity(chain_id, address, using=using) if address else None,
        featured=offered,
        typed="" if is_offered else hashes.checksum(address) if address else asked.typed[name],
        choices=choices,
    )


def options(listed: Sequence[TokenInfo], chosen: str | None) -> list[Option]:
    """Return the featured tokens of a chain's list as options. `chosen`: a token's address, or the option selected on
    another chain, which selects its counterpart.
    """
    offered = featured(listed)
    found = []
    for token in offered:
        label = f"{text.symbol(token.symbol).shown} · {text.name(token.name).shown}"
        word = word_of(token, among=offered)
        found.append(Option(word, label, chosen in (word, token_amounts.key(token.address))))
    return found
