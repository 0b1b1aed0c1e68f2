"""The two sides of the route form: chains, featured tokens, and a field for any other token."""

from collections.abc import Callable
from dataclasses import dataclass

from intents_ui.display.formatting import hashes, text
from intents_ui.display.routes import query
from intents_ui.display.routes.query import Lists, ParsedRouteQuery, RouteQuery, RouteSide
from intents_ui.display.tokens import icons, names, token_amounts
from intents_ui.display.tokens.icons import TokenIcon
from intents_ui.display.tokens.token_amounts import Identity, identity
from intents_ui.service.models import ChainInfo, TokenInfo


@dataclass(frozen=True)
class Option:
    value: str
    label: str
    is_chosen: bool


@dataclass(frozen=True)
class Chains:
    mainnets: tuple[Option, ...]
    testnets: tuple[Option, ...]

    @property
    def is_known(self) -> bool:
        return bool(self.mainnets or self.testnets)


@dataclass(frozen=True)
class FeaturedTokens:
    """Options of a token list. `chain` is None while no chain is selected."""

    chain: str | None
    options: tuple[Option, ...]

    @property
    def said(self) -> str:
        """Return the announcement after the list changed with the chain."""
        if self.chain is None:
            return "No chain selected"
        count = len(self.options)
        return f"{count or 'No'} featured {'token' if count == 1 else 'tokens'} on {self.chain}"


@dataclass(frozen=True)
class RouteChoice:
    """A suggested token. `query` is the route query with it."""

    token: Identity
    query: str


@dataclass(frozen=True)
class RouteFormView:
    """One side: the selected token, if any, and the fields. `typed` is the text in the field beside the list.

    `coin` and `where` describe any token of a chain, or of all chains.
    """

    token: Identity | None
    coin: TokenIcon
    where: str
    chains: Chains
    featured: FeaturedTokens
    typed: str
    choices: tuple[RouteChoice, ...]

    @property
    def called(self) -> str:
        symbol = self.token.symbol if self.token else text.UNKNOWN
        return "unnamed token" if symbol == text.UNKNOWN else symbol

    @property
    def is_native(self) -> bool:
        return self.token is not None and hashes.is_native(self.token.address)


def origin(asked: ParsedRouteQuery, *, using: Lists) -> RouteFormView:
    def meant(side: RouteSide) -> RouteQuery:
        return asked.filters.with_(origin=side)

    return _shown(asked.filters.origin, asked, name="token", meant=meant, using=using)


def destination(asked: ParsedRouteQuery, *, using: Lists) -> RouteFormView:
    def meant(side: RouteSide) -> RouteQuery:
        return asked.filters.with_(destination=side)

    return _shown(asked.filters.destination, asked, name="for", meant=meant, using=using)


def _shown(
    side: RouteSide, asked: ParsedRouteQuery, *, name: str, meant: Callable[[RouteSide], RouteQuery], using: Lists
) -> RouteFormView:
    """Return one side. `name`: the URL parameter of its token. `meant`: the query with another token on this side."""
    chain_id, address = side.chain_id, side.address
    offered = featured(chain_id, address, using=using)
    is_offered = any(option.is_chosen for option in offered.options)
    choices = asked.choices.get(name, ())
    chain = names.chain(chain_id, info=using.chain(chain_id), unknown="any chain")
    return RouteFormView(
        token=identity(chain_id, address, using=using) if address else None,
        coin=TokenIcon("?", None, icons.of_chain(chain_id, chain) if chain_id else None),
        where=chain,
        chains=chains(chain_id, using=using),
        featured=offered,
        typed="" if is_offered else hashes.checksum(address) if address else asked.typed[name],
        choices=tuple(_choice(token, meant, using=using) for token in choices),
    )


def _choice(token: TokenInfo, meant: Callable[[RouteSide], RouteQuery], *, using: Lists) -> RouteChoice:
    side = RouteSide(token.chain_id, token_amounts.key(token.address))
    return RouteChoice(identity(side.chain_id, side.address, using=using, metadata=token), meant(side).query)


def chains(chosen: int | None, *, using: Lists) -> Chains:
    known = using.chains()
    return Chains(
        mainnets=tuple(_chain(chain, chosen) for chain in known if not chain.is_testnet),
        testnets=tuple(_chain(chain, chosen) for chain in known if chain.is_testnet),
    )


def featured(chain_id: int | None, chosen: str | None, *, using: Lists) -> FeaturedTokens:
    """Return the token list. `chosen`: a token's address, or the option selected on another chain, which selects its
    counterpart.
    """
    if chain_id is None:
        return FeaturedTokens(None, ())
    offered = query.featured(using.tokens(chain_id))
    options = [_token(token, query.word(token, among=offered), chosen) for token in offered]
    return FeaturedTokens(names.chain(chain_id, info=using.chain(chain_id)), tuple(options))


def _chain(chain: ChainInfo, chosen: int | None) -> Option:
    return Option(str(chain.id), names.chain(chain.id, info=chain), chain.id == chosen)


def _token(token: TokenInfo, word: str, chosen: str | None) -> Option:
    label = f"{text.symbol(token.symbol).shown} · {text.name(token.name).shown}"
    return Option(word, label, chosen in (word, token_amounts.key(token.address)))
