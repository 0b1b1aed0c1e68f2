"""`/routes`: routes from and to a token, and whether the service lists a specific route.

The query is validated before any request. `from` and `token` are the origin, `to` and `for` the destination. A token on
one side requests all routes from it or to it, a token on each side one route. A chain without a token narrows the other
side's results.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from http import HTTPStatus
from types import SimpleNamespace
from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from intents_ui import app
from intents_ui.catalog import chains
from intents_ui.formatting import failures, hashes, text
from intents_ui.http import cursors
from intents_ui.http.marks import is_partial
from intents_ui.search import filters, identifiers
from intents_ui.search.filters import InvalidParameter, Parsed, Parser, Query, UrlFilters, last
from intents_ui.service import operations
from intents_ui.service.errors import ServiceError
from intents_ui.service.models import TokenInfo, TokensAnswer
from intents_ui.settings import ENV
from intents_ui.tokens import names
from intents_ui.tokens.token_amounts import Identity, TokenIcon, chain_icon, identity, key
from intents_ui.transfers.statuses import Tone
from intents_ui.web.frame import render

MAX_CHOICES = 5
# Tokens of a chain shown at first: next to other chains, and alone.
MAX_EACH = 12
MAX_ALONE = 240

FIELDS = ("from", "token", "to", "for", "owner")

NO_PROOF = "A route may still exist. Request a quote to confirm."


class RouteDirection(StrEnum):
    NOTHING = "nothing"  # no chain or token selected yet
    CHAIN = "chain"  # a chain without a token
    RECEIVE = "receive"  # tokens reachable from the origin token
    PAY = "pay"  # tokens with a route to the destination token
    ONE = "one"
    SAME = "same"  # the same token on both sides


class Verdict(StrEnum):
    LISTED = "listed"
    NONE = "none listed"
    OTHER = "other tokens listed"  # by the API's rule a route exists, but the response names other tokens
    UNREADABLE = "unreadable response"
    FAILED = "no response"

    @property
    def tone(self) -> Tone:
        return {Verdict.LISTED: Tone.GOOD, Verdict.NONE: Tone.NEUTRAL}.get(self, Tone.ATTENTION)


@dataclass(frozen=True)
class RouteQuery(UrlFilters):
    """A route query. Tokens are a `token_amounts.key`, so that the native token has one.

    `owner` limits the results to tokens held by this address. `show` is "all" for a long list in full.
    """

    PARAMETERS: ClassVar[Mapping[str, str]] = {"origin": "from", "destination": "to", "wanted": "for"}

    origin: int | None = None
    token: str | None = None
    destination: int | None = None
    wanted: str | None = None
    owner: str | None = None
    show: str | None = None

    @property
    def kind(self) -> RouteDirection:
        if self.token and self.wanted:
            is_same = (self.origin, self.token) == (self.destination, self.wanted)
            return RouteDirection.SAME if is_same else RouteDirection.ONE
        if self.token or self.wanted:
            return RouteDirection.RECEIVE if self.token else RouteDirection.PAY
        return RouteDirection.CHAIN if self.origin or self.destination else RouteDirection.NOTHING

    @property
    def restriction(self) -> int | None:
        """Return the chain on the other side that limits the results."""
        return {RouteDirection.RECEIVE: self.destination, RouteDirection.PAY: self.origin}.get(self.kind)

    @property
    def from_origin(self) -> "RouteQuery":
        return RouteQuery(self.origin, self.token)

    @property
    def to_destination(self) -> "RouteQuery":
        return RouteQuery(destination=self.destination, wanted=self.wanted, owner=self.owner)

    @property
    def swapped(self) -> "RouteQuery":
        """Return the query for the opposite direction, without the owner."""
        return RouteQuery(self.destination, self.wanted, self.origin, self.token)

    @property
    def quote(self) -> str:
        """Return the query of the console's quote form for this route, without the amount."""
        return filters.encode(
            {
                "ownerAddress": self.owner,
                "originChainId": self.origin,
                "originTokenAddress": self.token,
                "destinationChainId": self.destination,
                "destinationTokenAddress": self.wanted,
            }
        )

    def with_token(self, address: str) -> "RouteQuery":
        """Return the query of a chain without a token with this token, at the origin if both sides have a chain."""
        return self.with_(token=address) if self.origin else self.with_(wanted=address)

    def with_other(self, chain_id: int, address: str | None = None) -> "RouteQuery":
        """Return the query with this on the other side. A chain alone is narrowed to first, and then shown in full."""
        show = "all" if self.restriction and not address else None
        if self.kind is RouteDirection.RECEIVE:
            return self.with_(destination=chain_id, wanted=address, show=show)
        return self.with_(origin=chain_id, token=address, show=show)


@dataclass(frozen=True)
class TokenGroup:
    """Tokens with a route on one chain: `count`, the first in `tokens`. A chain that isn't `is_known` has no page."""

    chain_id: int
    chain: str
    coin: TokenIcon
    is_known: bool
    tokens: tuple[Identity, ...]
    count: int

    @property
    def more(self) -> int:
        return self.count - len(self.tokens)


@dataclass(frozen=True)
class RouteCheck:
    """What one of the two operations answered about one route."""

    purpose: str
    operation: str
    verdict: Verdict
    error: ServiceError | None = None


@dataclass(frozen=True)
class RouteAnswer:
    """What the service lists for a query: tokens by chain without the `unreadable` entries, or checks of one route."""

    question: RouteQuery
    headline: str
    explanation: str
    tone: Tone
    groups: tuple[TokenGroup, ...] = ()
    unreadable: int = 0
    checks: tuple[RouteCheck, ...] = ()


# The query


def read(query: Query) -> Parsed[RouteQuery]:
    """Parse the query. Tokens are given by address or by a featured token's symbol, chains by ID or name.

    Problems and texts are by URL parameter. Without scripts, the form has a token list and a text field, `token_typed`,
    which takes precedence.
    """
    written = {name: last(query, f"{name}_typed") or last(query, name) for name in FIELDS}
    known = app.current().catalog.chains()

    def chain(word: str) -> int:
        problem = f"Unknown chain “{text.name(word).shown}”."
        return filters.required(filters.find_chain(word, known), problem)

    def token_of(side: str) -> Parser:
        """Return the parser of a token on this side's chain. An unknown chain has its own message."""
        chain_id = filters.find_chain(written[side], known)
        return lambda word: _token(word, chain_id) if chain_id else None

    parsers: dict[str, Parser] = {
        "from": chain,
        "token": token_of("from"),
        "to": chain,
        "for": token_of("to"),
        "owner": filters.address,
    }
    parsed = filters.parse({name: [value] for name, value in written.items()}, parsers, dict[str, Any])
    found, problems = parsed.filters, dict(parsed.problems)
    for side, name in (("from", "token"), ("to", "for")):
        if written[name] and not written[side]:
            problems[side] = "Select the chain of this token."
    question = RouteQuery(*(found.get(name) for name in FIELDS))
    if last(query, "show") == "all" and question.restriction:
        question = question.with_(show="all")
    if question.owner and not question.wanted and not problems:
        problems["owner"] = "Select a destination token to filter by owner."
    in_order = {name: problems[name] for name in FIELDS if name in problems}
    return Parsed(question, in_order, parsed.typed, parsed.choices)


def _token(written: str, chain_id: int) -> str:
    if _is_hex(written):
        return key(filters.address(written))
    catalog = app.current().catalog
    listed = catalog.tokens(chain_id)
    named = [token for token in listed if _folded(token.symbol) == _folded(written)]
    chosen = featured(named)
    if len(chosen) == 1:
        return key(chosen[0].address)
    if found := identifiers.only(written, identifiers.ADDRESSES):
        return key(found)
    chain, symbol = names.of_chain(chain_id, using=catalog), text.symbol(written).shown
    if chosen:
        problem = f"Several featured tokens on {chain} have the symbol {symbol}. Select one."
    elif named:
        problem = f"{symbol} is listed but not featured on {chain}. Enter its address."
    elif listed:
        problem = f"No token on {chain} has the symbol {symbol}. Enter a token address or a featured token's symbol."
    else:
        problem = f"Couldn't look up token names on {chain}. Enter the token address."
    raise InvalidParameter(problem, *(chosen or named)[:MAX_CHOICES])


def featured(listed: Sequence[TokenInfo]) -> list[TokenInfo]:
    """Return featured tokens in the service's order, most traded first."""
    return [token for token in listed if token.featured]


def _is_hex(written: str) -> bool:
    """Return whether the input looks like an address, valid or not."""
    return written[:2] in ("0x", "0X") or hashes.canonical_address(written) is not None


def _folded(symbol: str | None) -> str:
    return (symbol or "").strip().casefold()


# The form


def side(name: str, parsed: Parsed[RouteQuery]) -> SimpleNamespace:
    """Return one side of the form, by the URL parameter of its token.

    `typed` is the text in the field beside the list. `coin` and `chain` describe any token of a chain, or of all
    chains. `choices` are suggested tokens, with their queries.
    """
    catalog = app.current().catalog
    place = {"token": ("origin", "token"), "for": ("destination", "wanted")}[name]
    chain_id, address = (getattr(parsed.filters, each) for each in place)
    chain = names.of_chain(chain_id, using=catalog, unknown="any chain")
    offered = options(catalog.tokens(chain_id) if chain_id else (), address)
    is_offered = any(is_chosen for *_, is_chosen in offered)
    choices = []
    for token in parsed.choices.get(name, ()):
        shown = identity(token.chain_id, key(token.address), using=catalog, metadata=token)
        changed = dict(zip(place, (shown.chain_id, shown.address), strict=True))
        choices.append((shown, parsed.filters.with_(**changed).query))
    return SimpleNamespace(
        chain_id=chain_id,
        chain=chain,
        coin=TokenIcon("?", None, chain_icon(chain_id, chain) if chain_id else None),
        token=identity(chain_id, address, using=catalog) if address else None,
        featured=offered,
        typed="" if is_offered else hashes.checksum(address) if address else parsed.typed[name],
        choices=choices,
    )


def options(listed: Sequence[TokenInfo], chosen: str | None) -> list[tuple[str, str, bool]]:
    """Return value, label and whether it's selected of each featured token of a chain's list.

    The value is the token's symbol if that is unique on its chain, otherwise its address. `chosen`: a token's address,
    or the option selected on another chain, which selects its counterpart.
    """
    offered, found = featured(listed), []
    folded = [_folded(token.symbol) for token in offered]
    for token in offered:
        symbol = (token.symbol or "").strip()
        is_unique = symbol and folded.count(_folded(symbol)) == 1 and not _is_hex(symbol)
        value = symbol if is_unique else token.address
        label = f"{text.symbol(token.symbol).shown} · {text.name(token.name).shown}"
        found.append((value, label, chosen in (value, key(token.address))))
    return found


# Results


def listed_routes(question: RouteQuery) -> RouteAnswer:
    """Return the routes from a token, or those to one. Chains and tokens keep the service's order."""
    catalog, answer = app.current().catalog, _ask(question, question.kind)
    catalog.learn(token.chain_id for token in answer.tokens)
    by_chain: dict[int, dict[str, TokenInfo]] = {chain.id: {} for chain in catalog.chains()}
    for token in answer.tokens:
        by_chain.setdefault(token.chain_id, {}).setdefault(key(token.address), token)
    most = None if question.show else MAX_ALONE if question.restriction else MAX_EACH
    groups = []
    for chain_id, by_key in by_chain.items():
        if by_key:
            known = catalog.chain(chain_id)
            chain, shown = names.chain(chain_id, info=known), list(by_key.items())[:most]
            tokens = tuple(identity(chain_id, each, using=catalog, metadata=token) for each, token in shown)
            icon, is_known = chain_icon(chain_id, chain, known), known is not None
            groups.append(TokenGroup(chain_id, chain, icon, is_known, tokens, len(by_key)))
    unreadable = answer.unreadable_entries
    explanation = "Request a quote to confirm a route." if groups else NO_PROOF
    if groups and question.kind is RouteDirection.PAY and not question.owner:
        # Without an owner the service lists popular tokens only.
        explanation = f"Without an owner this lists common options only. {explanation}"
    headline = _headline(question, groups, is_readable=not unreadable)
    tone = Tone.GOOD if groups else Tone.ATTENTION if unreadable else Tone.NEUTRAL
    return RouteAnswer(question, headline, explanation, tone, tuple(groups), unreadable)


def _headline(question: RouteQuery, groups: Sequence[TokenGroup], *, is_readable: bool) -> str:
    if question.kind is RouteDirection.RECEIVE:
        which = f"reachable from {named(question.origin, question.token)}"
    else:
        which = f"with a route to {named(question.destination, question.wanted)}"
    if question.owner:
        which = f"held by {hashes.short_address(question.owner)} {which}"
    on = f" on {named(question.restriction, None)}" if question.restriction else ""
    if groups:
        counted = text.counted(sum(group.count for group in groups), "token")
        return f"{counted}{on or f' on {text.counted(len(groups), "chain")}'} {which}"
    if not is_readable:
        return f"Unknown: couldn't load the tokens{on} {which}"
    return f"No listed token{on} {which}"


def one_route(question: RouteQuery) -> RouteAnswer:
    """Return whether a route from one token to another is listed. Raises ServiceError only if both calls fail.

    The two calls can differ, because one fixes the amount spent and the other the amount received.
    """
    received, paid = app.current().service.threads.together(
        partial(_ask, question, RouteDirection.RECEIVE), partial(_ask, question, RouteDirection.PAY)
    )
    if isinstance(received, ServiceError) and isinstance(paid, ServiceError):
        raise received
    origin, destination = (question.origin, question.token), (question.destination, question.wanted)
    held = f" from tokens held by {hashes.short_address(question.owner)}" if question.owner else ""
    checks = (
        _check("to spend an exact amount", "GetExactInputRoutes", received, destination),
        _check(f"to receive an exact amount{held}", "GetExactOutputRoutes", paid, origin),
    )
    route = f"a route from {named(*origin)} to {named(*destination)}"
    verdicts = {check.verdict for check in checks} - {Verdict.FAILED}
    if Verdict.LISTED in verdicts:
        purpose = next(check.purpose for check in checks if check.verdict is Verdict.LISTED)
        yes = "Yes" if len(verdicts) == 1 else f"Yes, {purpose}"
        headline, tone = f"{yes}: {route} is listed", Tone.GOOD
        explanation = "Listed routes aren't guaranteed. Request a quote to confirm."
    elif Verdict.OTHER in verdicts:
        headline, tone = f"Possibly: the service listed other tokens for {route}", Tone.ATTENTION
        explanation = "Any token in the response means that there is a route. Request a quote to confirm."
    elif verdicts == {Verdict.NONE}:
        headline, explanation, tone = f"No listed {route.removeprefix('a ')}", NO_PROOF, Tone.NEUTRAL
    else:
        headline, tone = f"Unknown: couldn't check for {route}", Tone.ATTENTION
        explanation = "Couldn't load the listed routes. Request a quote to confirm."
    return RouteAnswer(question, headline, explanation, tone, checks=checks)


def _ask(question: RouteQuery, direction: RouteDirection) -> TokensAnswer:
    origin, destination = (question.origin, question.token), (question.destination, question.wanted)
    if direction is RouteDirection.RECEIVE:
        call = operations.get_exact_input_routes((origin[0] or 0, origin[1] or ""), destination=destination)
    else:
        wanted = (destination[0] or 0, destination[1] or "")
        call = operations.get_exact_output_routes(wanted, origin=origin, owner_address=question.owner)
    return app.current().service.ask(call)


def _check(
    purpose: str, operation: str, answer: TokensAnswer | ServiceError, wanted: tuple[int | None, str | None]
) -> RouteCheck:
    if isinstance(answer, ServiceError):
        return RouteCheck(purpose, operation, Verdict.FAILED, answer)
    listed = {(token.chain_id, key(token.address)) for token in answer.tokens}
    if wanted in listed:
        return RouteCheck(purpose, operation, Verdict.LISTED)
    otherwise = Verdict.UNREADABLE if answer.unreadable_entries else Verdict.NONE
    return RouteCheck(purpose, operation, Verdict.OTHER if listed else otherwise)


def named(chain_id: int | None, address: str | None) -> str:
    """Return `USDC on Base`, with the address of an unnamed token, or `Base` without a token."""
    catalog = app.current().catalog
    if not address:
        return names.of_chain(chain_id, using=catalog)
    token = identity(chain_id, address, using=catalog)
    symbol = hashes.short_address(address) if token.symbol == text.UNKNOWN else token.symbol
    return f"{symbol} on {token.chain}"


def title(question: RouteQuery) -> str:
    """Return `Routes from USDC on Base to Optimism`. The side with a token comes first."""
    ends = [("from", question.origin, question.token), ("to", question.destination, question.wanted)]
    if question.kind is RouteDirection.PAY:
        ends.reverse()
    words = [f"{word} {named(chain_id, address)}" for word, chain_id, address in ends if chain_id]
    is_one = question.kind in (RouteDirection.ONE, RouteDirection.SAME)
    return " ".join(["Route" if is_one else "Routes", *words])


# Views


@require_safe
def view(request: HttpRequest) -> HttpResponse:
    """Render the form, with the results below it, or why there are none."""
    parsed = read(dict(request.GET.lists()))
    question, catalog = parsed.filters, app.current().catalog
    found, error = None, None
    if not parsed.problems:
        url = cursors.address(reverse("routes"), query=question.query)
        if not cursors.is_at(request, url):
            return redirect(url)
        try:
            found = answer(question)
        except ServiceError as failure:
            error = failure
    catalog.learn((question.origin, question.destination))
    is_chain = found is not None and question.kind is RouteDirection.CHAIN
    own, providers = list[TokenInfo](), tuple[names.Provider, ...]()
    if is_chain:
        own = featured(catalog.tokens(question.origin or question.destination))
        origin, destination = catalog.chain(question.origin), catalog.chain(question.destination)
        if origin and destination and origin.is_testnet == destination.is_testnet:  # those of both chains
            served = catalog.chains_by_provider(names.KNOWN_PROVIDERS)
            providers = chains.between(origin.id, destination.id, served=served)
    context: dict[str, object] = {
        "parsed": parsed,
        "question": question,
        "title": title(question),
        "chains": [chains.of(each) for each in catalog.chains()],
        "origin": side("token", parsed),
        "destination": side("for", parsed),
        "can_quote": ENV.console == "write",
        "found": found,
        "own": [identity(each.chain_id, key(each.address), using=catalog, metadata=each) for each in own],
        "providers": providers,
        "error": error,
        "words": failures.words(error) if error else None,
    }
    status = HTTPStatus.BAD_REQUEST if parsed.problems else HTTPStatus.OK
    return render(request, "routes/routes.html", context, status=status, error=error)


def answer(question: RouteQuery) -> RouteAnswer | None:
    """Return the results. Raises ServiceError if all requests failed."""
    match question.kind:
        case RouteDirection.CHAIN:
            # The service lists routes of a token only, so these are the routes of the chain's native one.
            return listed_routes(question.with_token(hashes.ZERO_ADDRESS))
        case RouteDirection.RECEIVE | RouteDirection.PAY:
            return listed_routes(question)
        case RouteDirection.ONE:
            return one_route(question)
    return None


@require_safe
def tokens(request: HttpRequest) -> HttpResponse:
    """Render the token menu of one side after a chain change. Without JavaScript the whole form reloads."""
    query, catalog = dict(request.GET.lists()), app.current().catalog
    if not is_partial(request):
        whole = read(query)
        of = request.GET.urlencode() if whole.problems else whole.filters.query
        return redirect(cursors.address(reverse("routes"), query=of))
    side, name = ("to", "for") if "to" in query else ("from", "token")
    chain_id = filters.find_chain(last(query, side), catalog.chains())
    context = {
        "name": name,
        "featured": options(catalog.tokens(chain_id) if chain_id else (), request.GET.get(name)),
        "chain": names.of_chain(chain_id, using=catalog) if chain_id else None,
    }
    return render(request, "routes/featured_tokens.html", context)
