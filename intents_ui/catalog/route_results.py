"""Route results of the service, in words.

An empty list doesn't prove that there is no route: some versions of the service return one for every request.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from intents_ui.formatting import hashes, text
from intents_ui.search import route_query as query
from intents_ui.search.route_query import Lists, RouteChoice, RouteDirection, RouteQuery, RouteSide, can_be_asked
from intents_ui.service.errors import ServiceError
from intents_ui.service.models import TokenInfo, TokensAnswer
from intents_ui.tokens import names, token_amounts
from intents_ui.tokens.token_amounts import TokenIcon, chain_icon, identity
from intents_ui.transfers.statuses import Tone

# Tokens of a chain shown at first: next to other chains, and alone.
MAX_EACH = 12
MAX_ALONE = 240

NO_PROOF = "A route may still exist. Request a quote to confirm."
NO_PROMISE = "Listed routes aren't guaranteed. Request a quote to confirm."
BY_RULE = "Any token in the response means that there is a route. Request a quote to confirm."
UNREAD = "Couldn't load the listed routes. Request a quote to confirm."


class Verdict(StrEnum):
    """Result of one route request."""

    LISTED = "listed"
    NONE = "none listed"
    OTHER = "other tokens listed"  # by the API's rule a route exists, but the response names other tokens
    UNREADABLE = "unreadable response"
    FAILED = "no response"

    @property
    def tone(self) -> Tone:
        return {Verdict.LISTED: Tone.GOOD, Verdict.NONE: Tone.NEUTRAL}.get(self, Tone.ATTENTION)


@dataclass(frozen=True)
class ResultGroup:
    """Tokens of a result on one chain: `count` of them, the first in `ways`. `query` requests them alone.

    The query of each way is for the route between it and the searched token.

    A chain that isn't `is_known` has no page.
    """

    chain_id: int
    chain: str
    coin: TokenIcon
    ways: tuple[RouteChoice, ...]
    count: int
    query: str
    is_known: bool

    @property
    def more(self) -> int:
        return self.count - len(self.ways)


@dataclass(frozen=True)
class RouteResults:
    """Response of one of the two operations about one route."""

    purpose: str
    operation: str
    verdict: Verdict
    error: ServiceError | None = None


@dataclass(frozen=True)
class RouteAnswer:
    """What the service lists for a query.

    `groups`: the tokens with a route, without the `unreadable` entries. `featured`: those of a chain that was searched
    without a token. `replies`: of both operations, about one route.
    """

    headline: str
    explanation: str
    tone: Tone
    groups: tuple[ResultGroup, ...] = ()
    unreadable: int = 0
    featured: tuple[RouteChoice, ...] = ()
    replies: tuple[RouteResults, ...] = ()


@dataclass(frozen=True)
class RouteSearch:
    """A query with the lists that name its chains and tokens, and the words about its results."""

    question: RouteQuery
    lists: Lists

    def listed(self, answer: TokensAnswer) -> RouteAnswer:
        """Return the result of a query with a token on one side."""
        question = self.question
        # Chains and tokens keep the service's order.
        by_chain: dict[int, dict[str, TokenInfo]] = {chain.id: {} for chain in self.lists.chains()}
        for token in answer.tokens:
            by_chain.setdefault(token.chain_id, {}).setdefault(token_amounts.key(token.address), token)
        groups = tuple(self._group(each, of_chain) for each, of_chain in by_chain.items() if of_chain)
        unreadable = answer.unreadable_entries
        tone = Tone.GOOD if groups else Tone.ATTENTION if unreadable else Tone.NEUTRAL
        headline = self._headline(groups, is_readable=not unreadable)
        explanation = "Request a quote to confirm a route." if groups else NO_PROOF
        if groups and question.kind is RouteDirection.PAY and not question.owner:
            # Without an owner the service lists popular tokens only.
            explanation = f"Without an owner this lists common options only. {explanation}"
        return RouteAnswer(headline, explanation, tone, groups, unreadable)

    def of_chain(self, answer: TokensAnswer) -> RouteAnswer:
        """Return the result of a query with a chain without a token. `answer` is about the chain's native token."""
        question = self.question
        found = []
        for token in query.featured(self.lists.tokens(question.chain_alone.chain_id)):
            address = token_amounts.key(token.address)
            shown = identity(token.chain_id, address, using=self.lists, metadata=token)
            found.append(RouteChoice(shown, question.with_token(address).query))
        native = RouteSearch(question.with_token(hashes.ZERO_ADDRESS), self.lists).listed(answer)
        explanation = f"Select a token for its own routes. {native.explanation}"
        return replace(native, explanation=explanation, featured=tuple(found))

    def one(self, answers: Mapping[RouteDirection, TokensAnswer | ServiceError]) -> RouteAnswer:
        """Return the result of a query with a token on both sides. RECEIVE is the response of GetExactInputRoutes, PAY
        of GetExactOutputRoutes. At least one is needed.

        They can differ, because one fixes the amount spent and the other the amount received.
        """
        question = self.question
        replies = tuple(_reply(kind, answers[kind], question) for kind in (RouteDirection.RECEIVE, RouteDirection.PAY))
        way = f"from {self.name(question.origin)} to {self.name(question.destination)}"
        said = {reply.verdict for reply in replies} - {Verdict.FAILED}
        yes = [reply.purpose for reply in replies if reply.verdict is Verdict.LISTED]
        if yes:
            which = "" if said == {Verdict.LISTED} else f", {yes[0]}"
            return RouteAnswer(f"Yes{which}: a route {way} is listed", NO_PROMISE, Tone.GOOD, replies=replies)
        if Verdict.OTHER in said:
            return RouteAnswer(
                f"Possibly: the service listed other tokens for a route {way}", BY_RULE, Tone.ATTENTION, replies=replies
            )
        if said == {Verdict.NONE}:
            return RouteAnswer(f"No listed route {way}", NO_PROOF, Tone.NEUTRAL, replies=replies)
        return RouteAnswer(f"Unknown: couldn't check for a route {way}", UNREAD, Tone.ATTENTION, replies=replies)

    def name(self, side: RouteSide) -> str:
        """Return `USDC on Base`, or the address of an unnamed token."""
        token = identity(side.chain_id, side.address, using=self.lists)
        symbol = hashes.short_address(side.address) if token.symbol == text.UNKNOWN else token.symbol
        return f"{symbol} on {token.chain}"

    @property
    def title(self) -> str:
        """Return the page title."""
        question = self.question
        origin, destination = (self.name(side) for side in (question.origin, question.destination))
        match question.kind:
            case RouteDirection.NOTHING:
                return "Routes"
            case RouteDirection.CHAIN:
                sides = ((question.origin, "from"), (question.destination, "to"))
                return f"Routes{''.join(self._on(side.chain_id, word) for side, word in sides)}"
            case RouteDirection.RECEIVE:
                return f"Routes from {origin}{self._on(question.restriction, 'to')}"
            case RouteDirection.PAY:
                return f"Routes to {destination}{self._on(question.restriction, 'from')}"
        return f"Route from {origin} to {destination}"

    def _group(self, chain_id: int, of_chain: Mapping[str, TokenInfo]) -> ResultGroup:
        question = self.question
        most = MAX_EACH if question.restriction is None else len(of_chain) if question.is_whole else MAX_ALONE
        known = self.lists.chain(chain_id)
        chain = names.chain(chain_id, info=known)
        ways = []
        for key, token in list(of_chain.items())[:most]:
            side = RouteSide(chain_id, key)
            query = _with(question, side).with_(is_whole=False).query if can_be_asked(side) else ""
            ways.append(RouteChoice(identity(chain_id, key, using=self.lists, metadata=token), query))
        alone = _with(question, RouteSide(chain_id)).with_(is_whole=question.restriction is not None)
        return ResultGroup(
            chain_id,
            chain,
            chain_icon(chain_id, chain, known),
            tuple(ways),
            len(of_chain),
            alone.query,
            is_known=known is not None,
        )

    def _headline(self, groups: Sequence[ResultGroup], *, is_readable: bool) -> str:
        question = self.question
        is_from = question.kind is RouteDirection.RECEIVE
        does = "reachable from" if is_from else "with a route to"
        asked = self.name(question.origin if is_from else question.destination)
        held = f" held by {hashes.short_address(question.owner)}" if question.owner else ""
        on = self._on(question.restriction, "on")
        if groups:
            counted = text.counted(sum(group.count for group in groups), "token")
            return f"{counted}{on or f' on {text.counted(len(groups), "chain")}'}{held} {does} {asked}"
        if not is_readable:
            return f"Unknown: couldn't load the tokens{on}{held} {does} {asked}"
        return f"No listed token{on}{held} {does} {asked}"

    def _on(self, chain_id: int | None, word: str) -> str:
        return f" {word} {names.of_chain(chain_id, using=self.lists)}" if chain_id else ""


def _with(question: RouteQuery, other: RouteSide) -> RouteQuery:
    """Return the query with this token on the other side."""
    is_from = question.kind is RouteDirection.RECEIVE
    return question.with_(destination=other) if is_from else question.with_(origin=other)


def _reply(kind: RouteDirection, answer: TokensAnswer | ServiceError, question: RouteQuery) -> RouteResults:
    if kind is RouteDirection.RECEIVE:
        purpose, operation, wanted = "to spend an exact amount", "GetExactInputRoutes", question.destination
    else:
        held = f" from tokens held by {hashes.short_address(question.owner)}" if question.owner else ""
        purpose, operation, wanted = f"to receive an exact amount{held}", "GetExactOutputRoutes", question.origin
    if isinstance(answer, ServiceError):
        return RouteResults(purpose, operation, Verdict.FAILED, answer)
    named = {(token.chain_id, token_amounts.key(token.address)) for token in answer.tokens}
    if (wanted.chain_id, wanted.address) in named:
        return RouteResults(purpose, operation, Verdict.LISTED)
    otherwise = Verdict.UNREADABLE if answer.unreadable_entries else Verdict.NONE
    return RouteResults(purpose, operation, Verdict.OTHER if named else otherwise)
