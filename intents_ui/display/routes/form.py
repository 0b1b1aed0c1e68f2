"""The two sides of the route form: the selected token, featured tokens, and a field for any other token."""

from collections.abc import Sequence
from dataclasses import dataclass

from intents_ui.display.formatting import hashes, text
from intents_ui.display.routes import query
from intents_ui.display.routes.query import Lists, RouteQuery, RouteSide
from intents_ui.display.search.parameters import Parsed
from intents_ui.display.tokens import names, token_amounts
from intents_ui.display.tokens.token_amounts import Identity, TokenIcon, chain_icon, identity
from intents_ui.service.models import TokenInfo


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
    offered = featured(using.tokens(chain_id) if chain_id else (), address)
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


def featured(listed: Sequence[TokenInfo], chosen: str | None) -> list[Option]:
    """Return the featured tokens of a chain's list as options. `chosen`: a token's address, or the option selected on
    another chain, which selects its counterpart.
    """
    offered = query.featured(listed)
    options = []
    for token in offered:
        label = f"{text.symbol(token.symbol).shown} · {text.name(token.name).shown}"
        word = query.word(token, among=offered)
        options.append(Option(word, label, chosen in (word, token_amounts.key(token.address))))
    return options
