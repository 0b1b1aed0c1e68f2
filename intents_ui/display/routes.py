"""What the service lists of routes, in words (interface.md 4.8, 4.9).

An empty list is no proof that there is no route: live handlers answered empty lists to everything (domain.md 3.5).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from intents_ui.display import coins, hashes, names, tokens
from intents_ui.display.coins import Coin
from intents_ui.display.identity import Identity, identity
from intents_ui.display.names import Names
from intents_ui.display.route_question import Kind, Question, Side
from intents_ui.service.answers import TokensAnswer
from intents_ui.service.wire import TokenInfo


@dataclass(frozen=True)
class Way:
    """One token of an answer; `query` asks for the one route between it and the token that was asked about."""

    token: Identity
    query: str


@dataclass(frozen=True)
class Group:
    """The tokens of an answer on one chain; `query` asks for them alone."""

    chain_id: int
    chain: str
    coin: Coin
    ways: tuple[Way, ...]
    query: str


@dataclass(frozen=True)
class Listed:
    """All routes from a token, or to one. `unreadable` entries of the answer are missing here."""

    headline: str
    groups: tuple[Group, ...]
    unreadable: int

    @property
    def is_none(self) -> bool:
        return not (self.groups or self.unreadable)


@dataclass(frozen=True)
class One:
    """Whether the service lists one route. `is_other`: it named tokens, and not the one that was asked about."""

    headline: str
    is_listed: bool
    is_other: bool = False


def listed(answer: TokensAnswer, question: Question, *, using: Names) -> Listed:
    """For a question with a token on one side."""
    groups = tuple(_groups(answer.tokens, question, using=using))
    return Listed(_headline(groups, question, using=using), groups, answer.unreadable_entries)


def one(answer: TokensAnswer, question: Question, *, of: Kind, using: Names) -> One:
    """For a question with a token on both sides. `of`: RECEIVE for an answer of 4.8, PAY for one of 4.9.

    The rule of 4.8: any token in the answer means that the route exists.
    """
    wanted = question.destination if of is Kind.RECEIVE else question.origin
    named = {(token.chain_id, tokens.key(token.address)) for token in answer.tokens}
    way = f"{_name(question.destination, using=using)} for {_name(question.origin, using=using)}"
    headline = f"Yes: the service lists a route to {way}" if named else f"The service lists no route to {way}"
    return One(headline, bool(named), bool(named) and (wanted.chain_id, wanted.address) not in named)


def _groups(answered: Sequence[TokenInfo], question: Question, *, using: Names) -> Iterable[Group]:
    by_chain: dict[int, dict[str, TokenInfo]] = {}
    for token in answered:
        by_chain.setdefault(token.chain_id, {}).setdefault(tokens.key(token.address), token)
    for chain_id, of_chain in by_chain.items():
        chain = names.chain(chain_id, info=using.chain(chain_id))
        ways = tuple(
            Way(identity(chain_id, key, using=using, metadata=token), _with(question, Side(chain_id, key)).query)
            for key, token in of_chain.items()
        )
        only = _with(question, Side(chain_id)).query
        yield Group(chain_id, chain, coins.of_chain(chain_id, chain), ways, only)


def _with(question: Question, other: Side) -> Question:
    """The question with its other side."""
    is_from = question.kind is Kind.RECEIVE
    return question.with_(destination=other) if is_from else question.with_(origin=other)


def _headline(groups: Sequence[Group], question: Question, *, using: Names) -> str:
    is_from = question.kind is Kind.RECEIVE
    asked, other = (question.origin, question.destination)[:: 1 if is_from else -1]
    does = "can be had for" if is_from else "can pay for"
    held = f" that {hashes.short_address(question.owner)} holds" if question.owner else ""
    where = f" on {names.chain(other.chain_id, info=using.chain(other.chain_id))}" if other.chain_id else ""
    if not groups:
        return f"The service lists no token{where}{held} that {does} {_name(asked, using=using)}"
    count = sum(len(group.ways) for group in groups)
    on = where or f" on {_counted(len(groups), 'chain')}"
    return f"Yes: {_counted(count, 'token')}{on}{held} {does} {_name(asked, using=using)}"


def _name(side: Side, *, using: Names) -> str:
    token = identity(side.chain_id, side.address, using=using)
    symbol = hashes.short_address(side.address) if token.symbol == "—" else token.symbol
    return f"{symbol} on {token.chain}"


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"
