"""Lists for several surfaces: tokens that filters match, and routes. All functions raise ServiceError."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock

from cachetools import TTLCache, cached

from intents_ui import app
from intents_ui.catalog import token_list
from intents_ui.catalog.route_results import RouteAnswer, RouteSearch
from intents_ui.catalog.token_filters import Show, TokenFilters
from intents_ui.search.route_query import RouteDirection, RouteQuery
from intents_ui.service import operations
from intents_ui.service.catalog import Listed
from intents_ui.service.errors import ServiceError
from intents_ui.service.models import TokenInfo, TokensAnswer
from intents_ui.service.operations import ServiceCall
from intents_ui.tokens import names

SEARCH_LIMIT = 25  # default per chain: longer results call for a better search
ORDERS_HELD = 8
ORDERS_SECONDS = 60


@dataclass(frozen=True)
class FoundTokens:
    """The filtered tokens in order, with the results they are from. `cut`: chains whose results were limited."""

    tokens: Sequence[TokenInfo]
    found: Listed[TokenInfo]
    chains: int
    cut: Sequence[str] = ()


def find_tokens(filters: TokenFilters) -> FoundTokens:
    """Return the list. Raises ServiceError if every request failed."""
    catalog = app.current().catalog
    known = [chain.id for chain in catalog.listed_chains().entries] if not filters.chains else []
    chains = filters.chains or tuple(known)
    found = _ask(filters, chains)
    listed, _ = _in_order(tuple(found.entries), filters, tuple(chain.id for chain in catalog.chains()))
    # Of a chain with as many tokens as were requested, there may be more.
    is_limited = filters.words and not filters.limit
    counts = Counter(token.chain_id for token in found.entries if is_limited)
    cut = tuple(chain_id for chain_id, count in counts.items() if count >= SEARCH_LIMIT)
    return FoundTokens(listed, found, len(chains), [names.of_chain(each, using=catalog) for each in cut])


# Sort thousands of tokens once, not for each batch. The key uses object IDs, which stay unique while the cache holds
# the objects.
@cached(TTLCache(ORDERS_HELD, ORDERS_SECONDS), key=lambda tokens, *how: (tuple(map(id, tokens)), *how), lock=Lock())
def _in_order(
    tokens: tuple[TokenInfo, ...], filters: TokenFilters, chains: tuple[int, ...]
) -> tuple[Sequence[TokenInfo], tuple[TokenInfo, ...]]:
    """Return the filtered tokens in order, and all tokens, so that the cache keeps them alive."""
    return token_list.wanted(tokens, filters, chains=chains), tokens


def _ask(filters: TokenFilters, chains: Sequence[int]) -> Listed[TokenInfo]:
    if filters.words:
        answer = app.current().service.ask(
            operations.get_token_list(
                chains,
                search_query=None if filters.address else filters.words,
                token_address=filters.address,
                limit=filters.limit or SEARCH_LIMIT,
                exclude_tokens=filters.without,
            )
        )
        return Listed(answer.tokens, answer.unreadable_entries)
    match filters.show:
        case Show.FEATURED:
            return app.current().catalog.listed_featured(chains)
        case Show.LISTED:
            return app.current().catalog.listed_on(chains)
        case Show.EXTERNAL:
            return app.current().catalog.listed_on(chains, external=True)


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
