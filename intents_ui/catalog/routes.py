"""`/routes`: routes from and to a token, and whether the service lists a specific route.

The query is validated before any request. `from` and `token` are the origin, `to` and `for` the destination. A token on
one side requests all routes from it or to it, a token on each side one route. A chain without a token narrows the other
side's results.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from http import HTTPStatus
from typing import Any, Protocol

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from intents_ui import app
from intents_ui.formatting import failures, hashes, text
from intents_ui.formatting.hashes import ZERO_ADDRESS
from intents_ui.http import cursors
from intents_ui.http.marks import is_partial
from intents_ui.search import filters, identifiers
from intents_ui.search.filters import InvalidParameter, Parsed, Parser, Query, UrlFilters, last
from intents_ui.service import operations
from intents_ui.service.errors import ServiceError
from intents_ui.service.models import ChainInfo, TokenInfo, TokensAnswer
from intents_ui.service.operations import ServiceCall
from intents_ui.settings import ENV
from intents_ui.tokens import chains, names, token_amounts
from intents_ui.tokens.names import Names, Provider
from intents_ui.tokens.token_amounts import Identity, TokenIcon, chain_icon, identity
from intents_ui.transfers.statuses import Tone
from intents_ui.web import links
from intents_ui.web.frame import render

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
        return filters.encode(
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
        chain_id = filters.find_chain(last(written, chain), using.chains())
        return lambda word: _address(word, chain_id, using=using) if chain_id else None

    def chain(word: str) -> int:
        problem = f"Unknown chain “{text.name(word).shown}”."
        return filters.required(filters.find_chain(word, using.chains()), problem)

    parsers: dict[str, Parser] = {
        "from": chain,
        "token": token("from"),
        "to": chain,
        "for": token("to"),
        "owner": filters.address,
    }
    parsed = filters.parse(written, parsers, dict[str, Any])
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
        return token_amounts.key(filters.address(written))
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
        for token in featured(self.lists.tokens(question.chain_alone.chain_id)):
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
            way = _with(question, side).with_(is_whole=False).query if links.has_token_page(chain_id, key) else ""
            ways.append(RouteChoice(identity(chain_id, key, using=self.lists, metadata=token), way))
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


def routed_tokens(question: RouteQuery) -> TokensAnswer:
    """Return the tokens with a route from a token, or those with one to it. Their names are known afterwards."""
    found = app.current().service.ask(_receive(question) if question.kind is RouteDirection.RECEIVE else _pay(question))
    app.current().catalog.learn(token.chain_id for token in found.tokens)
    return found


def listed_routes(question: RouteQuery) -> RouteAnswer:
    """Return the routes from a token, or those to one."""
    return RouteSearch(question, app.current().catalog).listed(routed_tokens(question))


def one_route(question: RouteQuery) -> RouteAnswer:
    """Return whether a route from one token to another is listed. Raises an error only if both calls fail."""
    request = app.current().service.ask
    received, paid = app.current().service.threads.both(
        lambda: request(_receive(question)), lambda: request(_pay(question))
    )
    if isinstance(received, ServiceError) and isinstance(paid, ServiceError):
        raise received
    answers = {RouteDirection.RECEIVE: received, RouteDirection.PAY: paid}
    return RouteSearch(question, app.current().catalog).one(answers)


def _receive(question: RouteQuery) -> ServiceCall[TokensAnswer]:
    origin, destination = question.origin, question.destination
    return operations.get_exact_input_routes(
        (origin.chain_id or 0, origin.address or ""), destination=(destination.chain_id, destination.address)
    )


def _pay(question: RouteQuery) -> ServiceCall[TokensAnswer]:
    origin, destination = question.origin, question.destination
    return operations.get_exact_output_routes(
        (destination.chain_id or 0, destination.address or ""),
        origin=(origin.chain_id, origin.address),
        owner_address=question.owner,
    )


@require_safe
def view(request: HttpRequest) -> HttpResponse:
    parsed = read(dict(request.GET.lists()), using=app.current().catalog)
    if parsed.problems:
        return page(request, parsed, status=HTTPStatus.BAD_REQUEST)
    url = cursors.address(reverse("routes"), query=parsed.filters.query)
    if not cursors.is_at(request, url):
        return redirect(url)
    try:
        return page(request, parsed, answer(parsed.filters))
    except ServiceError as error:
        # The form as submitted, with the error in place of the results.
        return page(request, parsed, {"error": error, "words": failures.words(error)}, error=error)


def page(
    request: HttpRequest,
    parsed: Parsed[RouteQuery],
    answered: dict[str, object] | None = None,
    **response: Any,
) -> HttpResponse:
    question, catalog = parsed.filters, app.current().catalog
    catalog.learn((question.origin.chain_id, question.destination.chain_id))
    context: dict[str, object] = {
        "parsed": parsed,
        "question": question,
        "title": RouteSearch(question, catalog).title,
        "chains": [chains.of(each) for each in catalog.chains()],
        "origin": side("origin", parsed, using=catalog),
        "destination": side("destination", parsed, using=catalog),
        "can_quote": ENV.console == "write",
        "found": None,
        "providers": (),
        "error": None,
    }
    return render(request, "routes/routes.html", context | (answered or {}), **response)


def shared_providers(question: RouteQuery) -> tuple[Provider, ...]:
    """Return the route providers of both chains."""
    catalog = app.current().catalog
    origin, destination = catalog.chain(question.origin.chain_id), catalog.chain(question.destination.chain_id)
    if not (origin and destination) or origin.is_testnet != destination.is_testnet:
        return ()
    return chains.between(origin.id, destination.id, served=catalog.chains_by_provider(names.KNOWN_PROVIDERS))


def answer(question: RouteQuery) -> dict[str, object]:
    """Return the context of the results. Raises ServiceError if all requests failed."""
    match question.kind:
        case RouteDirection.CHAIN:
            # The service lists routes of a token only, so these are the routes of the chain's native one.
            found = routed_tokens(question.with_token(ZERO_ADDRESS))
            answered = RouteSearch(question, app.current().catalog).of_chain(found)
            return {"found": answered, "providers": shared_providers(question)}
        case RouteDirection.RECEIVE | RouteDirection.PAY:
            return {"found": listed_routes(question)}
        case RouteDirection.ONE:
            return {"found": one_route(question)}
    return {}


@require_safe
def tokens(request: HttpRequest) -> HttpResponse:
    """Render the token menu of one side after a chain change. Without JavaScript the whole form reloads."""
    if not is_partial(request):
        whole = read(dict(request.GET.lists()), using=app.current().catalog)
        of = request.GET.urlencode() if whole.problems else whole.filters.query
        return redirect(cursors.address(reverse("routes"), query=of))
    side = ("to", "for") if "to" in request.GET else ("from", "token")
    parsed = read({side[0]: request.GET.getlist(side[0])}, using=app.current().catalog)
    chain_id = parsed.filters.destination.chain_id or parsed.filters.origin.chain_id
    catalog = app.current().catalog
    context = {
        "name": side[1],
        "featured": options(catalog.tokens(chain_id) if chain_id else (), request.GET.get(side[1])),
        "chain": names.of_chain(chain_id, using=catalog) if chain_id else None,
    }
    return render(request, "routes/featured_tokens.html", context)
