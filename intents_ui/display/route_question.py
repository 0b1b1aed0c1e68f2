"""A question about routes: read from a URL, checked before anything is asked, written back as the one URL.

`from` and `token` are the origin, `to` and `for` the destination. A token on one side asks for all routes from it or to
it, a token on each for one route; a chain without a token narrows the other side's results.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, Protocol, Self
from urllib.parse import urlencode

from intents_ui.display import hashes, names, near_misses, solana, text, tokens
from intents_ui.display.names import Names
from intents_ui.service.wire import ChainInfo, TokenInfo

LONGEST_ECHO = 100
LARGEST_CHAIN = 2**64 - 1
MOST_CHOICES = 5

type Query = Mapping[str, Sequence[str]]


class Lists(Names, Protocol):
    """Where chains and their tokens come from; what cannot be had is empty."""

    def chains(self) -> Sequence[ChainInfo]: ...

    def tokens(self, chain_id: int | None) -> Sequence[TokenInfo]: ...


class Kind(StrEnum):
    NOTHING = "nothing"  # no token is chosen yet
    RECEIVE = "receive"  # what can be received for the origin's token
    PAY = "pay"  # what can pay for the destination's token
    ONE = "one"
    SAME = "same"  # one token on both sides: there is nothing to ask


@dataclass(frozen=True)
class Side:
    """`address` is `tokens.key`, so that the native token has one."""

    chain_id: int | None = None
    address: str | None = None


NOWHERE = Side()


@dataclass(frozen=True)
class Question:
    """`owner` narrows what can pay to what this address holds (4.9). `is_whole`: a long list is shown to its end."""

    origin: Side = NOWHERE
    destination: Side = NOWHERE
    owner: str | None = None
    is_whole: bool = False

    @property
    def kind(self) -> Kind:
        match self.origin.address, self.destination.address:
            case None, None:
                return Kind.NOTHING
            case _, None:
                return Kind.RECEIVE
            case None, _:
                return Kind.PAY
        return Kind.SAME if self.origin == self.destination else Kind.ONE

    @property
    def restriction(self) -> int | None:
        """The one chain that all routes from a token, or to one, are asked for."""
        match self.kind:
            case Kind.RECEIVE:
                return self.destination.chain_id
            case Kind.PAY:
                return self.origin.chain_id
        return None

    @cached_property
    def query(self) -> str:
        """The one way to write this question."""
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
    def from_origin(self) -> "Question":
        """Where the origin's token can go, whatever the chain."""
        return Question(self.origin)

    @property
    def to_destination(self) -> "Question":
        """What can pay for the destination's token, on whatever chain."""
        return Question(destination=self.destination, owner=self.owner)

    @property
    def unrestricted(self) -> "Question":
        return self.from_origin if self.kind is Kind.RECEIVE else self.to_destination

    @property
    def quote(self) -> str:
        """What is known of the request for a quote of this one route (2.2): it lacks the amount."""
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
    def swapped(self) -> "Question":
        """The way back; whose balance counts is a matter of the way there."""
        return Question(self.destination, self.origin)

    def with_(self, **changes: Any) -> Self:
        return replace(self, **changes)


class Problem(ValueError):
    """A sentence for the reader: what cannot be asked, and how to mend it; `choices` are what may have been meant."""

    def __init__(self, sentence: str, *choices: TokenInfo) -> None:
        super().__init__(sentence)
        self.choices = choices


@dataclass(frozen=True)
class Asked:
    """A question as somebody wrote it: `problems` by the name in the URL, `typed` what to show again in its field."""

    question: Question
    problems: Mapping[str, Problem]
    typed: Mapping[str, str]

    @property
    def lacks(self) -> str:
        """Return the name of the token field that is still empty beside its chosen chain; "" when none is."""
        if self.problems or self.question.kind is not Kind.NOTHING:
            return ""
        chosen = {"token": self.question.origin.chain_id, "for": self.question.destination.chain_id}
        return next((name for name, chain_id in chosen.items() if chain_id is not None), "")


# A form without scripts has a list of tokens and a field beside it; what was written into the field wins.
TYPED = {"token": "token_typed", "for": "for_typed"}


def read(query: Query, *, using: Lists) -> Asked:
    """Tokens go by address or by the symbol of a featured one, chains by id or by name."""
    written = {name: _last(query, name) for name in ("from", "token", "to", "for", "owner")}
    for name, field in TYPED.items():
        written[name] = _last(query, field) or written[name]
    problems: dict[str, Problem] = {}
    sides = []
    for chain, token in (("from", "token"), ("to", "for")):
        chain_id = address = None
        try:
            chain_id = _chain_id(written[chain], using.chains())
        except Problem as problem:
            problems[chain] = problem
        else:
            try:
                address = _address(written[token], chain_id, using=using)
            except Problem as problem:
                problems[token if chain_id else chain] = problem
        sides.append(Side(chain_id, address))
    owner = None
    try:
        owner = _owner(written["owner"])
    except Problem as problem:
        problems["owner"] = problem
    question = Question(sides[0], sides[1], owner)
    if _last(query, "show") == "all" and question.restriction:
        question = question.with_(is_whole=True)
    if owner and question.kind in (Kind.NOTHING, Kind.RECEIVE) and not problems:
        problems["owner"] = Problem("A balance is asked about together with a destination token that it could pay for.")
    typed = {name: text.visible(value)[:LONGEST_ECHO] for name, value in written.items()}
    return Asked(question, problems, typed)


def can_be_asked(side: Side) -> bool:
    """Whether a token that the service named is one that this page, and that of the token, would take."""
    chain_id, address = side.chain_id, side.address
    is_address = address is not None and (solana.is_address(address) or hashes.canonical_address(address) is not None)
    return is_address and chain_id is not None and 0 < chain_id <= LARGEST_CHAIN


def featured(listed: Sequence[TokenInfo]) -> list[TokenInfo]:
    """In the service's order, which is by what is traded most."""
    return [token for token in listed if token.featured]


def word(token: TokenInfo, *, among: Sequence[TokenInfo]) -> str:
    """What a featured token is chosen by: its symbol, which means the like on another chain too, if no other has it."""
    symbol = (token.symbol or "").strip()
    alike = [each for each in among if _folded(each.symbol) == _folded(symbol)]
    return symbol if symbol and len(alike) == 1 and not _is_hex(symbol) else token.address


def _query(given: Mapping[str, object]) -> str:
    return urlencode({name: value for name, value in given.items() if value is not None})


def _last(query: Query, name: str) -> str:
    return (query.get(name) or ("",))[-1].strip()


def _chain_id(written: str, chains: Sequence[ChainInfo]) -> int | None:
    """By number or by name. While the catalogue is away, a number is taken as it is."""
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
    raise Problem(f"The service knows no chain “{text.name(written).shown}”.")


def _address(written: str, chain_id: int | None, *, using: Lists) -> str | None:
    if not written:
        return None
    if chain_id is None:
        raise Problem("Choose the chain of this token.")
    if _is_hex(written):
        known = hashes.canonical_address(written)
        if known is None:
            raise Problem(near_misses.of_address(written))
        return tokens.key(known)
    listed = using.tokens(chain_id)
    named = [token for token in listed if _folded(token.symbol) == _folded(written)]
    chosen = featured(named)
    if len(chosen) == 1:
        return tokens.key(chosen[0].address)
    if solana.is_address(written):
        return written
    raise _unclear(written, chain_id, named, chosen, using=using)


def _unclear(
    written: str, chain_id: int, named: Sequence[TokenInfo], chosen: Sequence[TokenInfo], *, using: Lists
) -> Problem:
    chain, symbol = names.chain(chain_id, info=using.chain(chain_id)), text.symbol(written).shown
    if chosen:
        return Problem(f"Several featured tokens of {chain} are called {symbol}. Choose one.", *chosen[:MOST_CHOICES])
    if named:
        sentence = f"{symbol} is listed on {chain} and not featured, so it goes by its address."
        return Problem(sentence, *named[:MOST_CHOICES])
    if not using.tokens(chain_id):
        return Problem(f"The names of {chain}'s tokens cannot be looked up at this moment: give the token's address.")
    return Problem(f"No token of {chain} is called {symbol}. Give its address, or a featured token's symbol.")


def _owner(written: str) -> str | None:
    if not written:
        return None
    found = written if solana.is_address(written) else hashes.canonical_address(written)
    if found is None:
        raise Problem(near_misses.of_address(written))
    return found


def _is_hex(written: str) -> bool:
    """Meant as an address, even if it is not quite one."""
    return written[:2] in ("0x", "0X") or hashes.canonical_address(written) is not None


def _folded(symbol: str | None) -> str:
    return (symbol or "").strip().casefold()
