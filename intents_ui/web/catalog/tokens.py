"""Tokens that filters match."""

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock

from cachetools import TTLCache, cached

from intents_ui import wiring
from intents_ui.display.catalog import token_list
from intents_ui.display.catalog.token_filters import Show, TokenFilters
from intents_ui.display.tokens import names
from intents_ui.service.catalog.token_lists import TokenMatches
from intents_ui.service.models import TokenInfo

SEARCH_LIMIT = 25  # default per chain: longer results call for a better search
ORDERS_HELD = 8
ORDERS_SECONDS = 60


@dataclass(frozen=True)
class FoundTokens:
    """The filtered tokens in order, with the results they are from. `cut`: chains whose results were limited."""

    tokens: Sequence[TokenInfo]
    found: TokenMatches
    chains: int
    cut: Sequence[str] = ()


def find(filters: TokenFilters) -> FoundTokens:
    """Return the list. Raises ServiceError if every request failed."""
    catalog = wiring.catalog()
    known = [chain.id for chain in catalog.listed_chains().entries] if not filters.chains else []
    chains = filters.chains or tuple(known)
    found = _ask(filters, chains)
    listed, _ = _in_order(tuple(found.tokens), filters, tuple(chain.id for chain in catalog.chains()))
    cut = token_list.chains_cut(found.tokens, limit=SEARCH_LIMIT) if filters.words and not filters.limit else ()
    return FoundTokens(listed, found, len(chains), [names.of_chain(each, using=catalog) for each in cut])


# Sort thousands of tokens once, not for each batch. The key uses object IDs, which stay unique while the cache holds
# the objects.
@cached(TTLCache(ORDERS_HELD, ORDERS_SECONDS), key=lambda tokens, *how: (tuple(map(id, tokens)), *how), lock=Lock())
def _in_order(
    tokens: tuple[TokenInfo, ...], filters: TokenFilters, chains: tuple[int, ...]
) -> tuple[Sequence[TokenInfo], tuple[TokenInfo, ...]]:
    """Return the filtered tokens in order, and all tokens, so that the cache keeps them alive."""
    return token_list.wanted(tokens, filters, chains=chains), tokens


def _ask(filters: TokenFilters, chains: Sequence[int]) -> TokenMatches:
    lists = wiring.token_lists()
    if filters.words:
        return lists.search(
            chains,
            words=filters.words,
            address=filters.address,
            limit=filters.limit or SEARCH_LIMIT,
            without=filters.without,
        )
    match filters.show:
        case Show.FEATURED:
            return lists.featured(chains)
        case Show.LISTED:
            return lists.listed(chains)
        case Show.EXTERNAL:
            return lists.external(chains)
