"""Token list: filters, in the service's order, and rows."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from threading import Lock
from typing import ClassVar

from cachetools import TTLCache, cached

from intents_ui import app
from intents_ui.formatting import hashes, text
from intents_ui.search import explorers, identifiers
from intents_ui.search import filters as parameters
from intents_ui.search.filters import Chip, InvalidParameter, Parsed, Query, UrlFilters
from intents_ui.service import operations
from intents_ui.service.catalog import Listed
from intents_ui.service.models import ChainInfo, TokenInfo
from intents_ui.tokens import names
from intents_ui.tokens.names import Names
from intents_ui.tokens.token_amounts import Identity, TokenStanding, identity, key

LONGEST_SEARCH = 100
MAX_LEFT_OUT = 50
LARGEST_LIMIT = 1000  # tokens per chain
MAX_NAMED = 2  # chains, in a filter's chip
SEARCH_LIMIT = 25  # default per chain: longer results call for a better search
ORDERS_HELD = 8
ORDERS_SECONDS = 60
LAST = 10**9  # rank of a featured token without an index

type Where = tuple[int, str]


class Show(StrEnum):
    """How much of the service's lists to show. Each value includes the previous one."""

    FEATURED = "featured"
    LISTED = "listed"
    EXTERNAL = "external"


SHOWN = {Show.FEATURED: "Featured", Show.LISTED: "All listed", Show.EXTERNAL: "With external lists"}
OF_LIST = {
    Show.FEATURED: "featured {tokens}",
    Show.LISTED: "listed {tokens}",
    Show.EXTERNAL: "{tokens} from the service's list and external lists",
}
STANDINGS = {
    TokenStanding.FEATURED: "Featured",
    TokenStanding.NATIVE: "Native token",
    TokenStanding.LISTED: "Listed",
    TokenStanding.UNLISTED: "External list",
    TokenStanding.UNKNOWN: "unknown",
}


@dataclass(frozen=True)
class TokenFilters(UrlFilters):
    """Filters of the token list. Empty `chains` means all. `limit` is per chain. `without`: addresses on any chain."""

    PARAMETERS: ClassVar[Mapping[str, str]] = {"words": "q", "chains": "chain"}

    words: str = ""
    chains: tuple[int, ...] = ()
    show: Show = Show.FEATURED
    without: tuple[str, ...] = ()
    limit: int | None = None

    @property
    def address(self) -> str | None:
        """Return the search text if it is an address, which is matched exactly and not as a name."""
        return hashes.any_address(self.words)

    @property
    def narrows(self) -> bool:
        return self != type(self)(show=self.show)


def read(query: Query, *, chains: Sequence[ChainInfo] = ()) -> Parsed[TokenFilters]:
    """Parse a URL's query. Ignores other parameters."""
    return parameters.parse(
        query,
        {
            "words": _words,
            "chains": partial(_chains, chains=chains),
            "show": _show,
            "without": _without,
            "limit": _limit,
        },
        TokenFilters,
        called=TokenFilters.PARAMETERS,
        repeated=("chains", "without"),
    )


def _words(written: str) -> str:
    """Return the canonical form of an address: both native placeholders are one token."""
    if len(written) > LONGEST_SEARCH:
        raise InvalidParameter(f"Enter at most {LONGEST_SEARCH} characters.")
    found = identifiers.only(written, identifiers.ADDRESSES)
    return key(found) if found else re.sub(r"\s+", " ", written)


def _chains(written: str, *, chains: Sequence[ChainInfo]) -> tuple[int, ...]:
    """Return the chains in the service's order, empty for all of them."""
    found = {parameters.chain_id(word, chains) for word in written.split(",") if word.strip()}
    places = {chain.id: place for place, chain in enumerate(chains)}
    return () if found == places.keys() else tuple(sorted(found, key=lambda each: (places.get(each, 0), each)))


def _show(written: str) -> Show:
    try:
        return Show(written.lower())
    except ValueError:
        known = ", ".join(Show)
        raise InvalidParameter(f"Unknown list “{text.name(written).shown}”. Use one of {known}.") from None


def _without(written: str) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(key(parameters.address(word)) for word in parameters.words(written)))
    if len(found) > MAX_LEFT_OUT:
        raise InvalidParameter(f"Hide at most {MAX_LEFT_OUT} tokens.")
    return found


def _limit(written: str) -> int:
    if not (written.isascii() and written.isdigit() and len(written) <= 20 and 1 <= int(written) <= LARGEST_LIMIT):
        raise InvalidParameter(f"Enter a limit from 1 to {LARGEST_LIMIT:,} tokens per chain.")
    return int(written)


def chips(wanted: TokenFilters, *, chains: Mapping[int, str]) -> dict[str, Chip]:
    """Return the active filters by name, hidden tokens by their address."""
    found = {}
    if wanted.chains:  # `Base, Polygon` or `Base and 4 more`
        named = [chains.get(each) or names.chain(each, info=None) for each in wanted.chains]
        words = ", ".join(named) if len(named) <= MAX_NAMED else f"{named[0]} and {len(named) - 1} more"
        found["chains"] = Chip("chains", "", words, wanted.with_(chains=()).query)
    if wanted.limit:
        found["limit"] = Chip("limit", f"At most {wanted.limit} per chain", "", wanted.with_(limit=None).query)
    for address in wanted.without:
        others = wanted.with_(without=tuple(each for each in wanted.without if each != address))
        found[address] = Chip("without", "Hidden:", hashes.short_address(address), others.query)
    return found


def sentence(count: int, filters: TokenFilters, *, chains: int) -> str:
    """Return `81 featured tokens on 24 chains, by rank and then by name.`"""
    where = f"on {text.counted(chains, 'chain')}"
    tokens = "token" if count == 1 else "tokens"
    if filters.words:
        return f"{count:,} {tokens} found {where}, best matches first."
    order = "by rank" if filters.show is Show.FEATURED else "featured first by rank, then by name"
    return f"{count:,} {OF_LIST[filters.show].format(tokens=tokens)} {where}, {order}."


# The list, in order


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
    chains = filters.chains or tuple(chain.id for chain in catalog.listed_chains().entries)
    found = _listed(filters, chains)
    listed, _ = _in_order(tuple(found.entries), filters, tuple(chain.id for chain in catalog.chains()))
    # Of a chain with as many tokens as were requested, there may be more.
    is_limited = filters.words and not filters.limit
    counts = Counter(token.chain_id for token in found.entries if is_limited)
    cut = [names.of_chain(each, using=catalog) for each, count in counts.items() if count >= SEARCH_LIMIT]
    return FoundTokens(listed, found, len(chains), cut)


def _listed(filters: TokenFilters, chains: Sequence[int]) -> Listed[TokenInfo]:
    catalog = app.current().catalog
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
    if filters.show is Show.FEATURED:
        return catalog.listed_featured(chains)
    return catalog.listed_on(chains, external=filters.show is Show.EXTERNAL)


# Sort thousands of tokens once, not for each batch. The key uses object IDs, which stay unique while the cache holds
# the objects.
@cached(TTLCache(ORDERS_HELD, ORDERS_SECONDS), key=lambda tokens, *how: (tuple(map(id, tokens)), *how), lock=Lock())
def _in_order(
    tokens: tuple[TokenInfo, ...], filters: TokenFilters, chains: tuple[int, ...]
) -> tuple[Sequence[TokenInfo], tuple[TokenInfo, ...]]:
    """Return the filtered tokens in order, and all tokens, so that the cache keeps them alive."""
    return ordered(tokens, filters, chains=chains), tokens


def ordered(tokens: Iterable[TokenInfo], filters: TokenFilters, *, chains: Sequence[int]) -> Sequence[TokenInfo]:
    """Return each token once, without excluded ones, at most `limit` per chain.

    Featured tokens come first, by index, then the others by name. In a search, the best match comes first.
    """
    places = {chain_id: number for number, chain_id in enumerate(chains)}
    words = filters.words.casefold()

    def order(token: TokenInfo) -> tuple[int, bool, int, str, int, str]:
        rank = token.feature_index if token.featured and token.feature_index is not None else LAST
        name, chain = (token.name or "").casefold(), places.get(token.chain_id, LAST)
        return _mismatch(token, words) if words else 0, not token.featured, rank, name, chain, token.address

    once: dict[Where, TokenInfo] = {}
    for token in tokens:
        once.setdefault(place(token), token)
    found, counts = [], Counter[int]()
    for token in sorted((each for where, each in once.items() if where[1] not in filters.without), key=order):
        counts[token.chain_id] += 1
        if filters.limit is None or counts[token.chain_id] <= filters.limit:
            found.append(token)
    return found


def _mismatch(token: TokenInfo, words: str) -> int:
    """Return how far a token is from a search. 0 is best."""
    symbol, name = (token.symbol or "").casefold(), (token.name or "").casefold()
    if words in (symbol, token.address.casefold()):
        return 0
    if symbol.startswith(words) or name.startswith(words):
        return 1
    return 2 if words in symbol else 3


def place(token: TokenInfo) -> Where:
    """Return a token's key. Both placeholder addresses of a native token have the same."""
    return token.chain_id, key(token.address)


# Rows


@dataclass(frozen=True)
class TokenRow:
    """A token. `address` as in the URL of its page."""

    token: Identity
    address: str
    rank: int | None
    standing: str
    link: str | None

    @property
    def where(self) -> Where:
        return self.token.chain_id or 0, self.address


class _Given(Names):
    """The catalog, with featured tokens that are already loaded and need no request."""

    def __init__(self, names: Names, tokens: Iterable[TokenInfo]) -> None:
        self._names = names
        self._featured = {place(token): token for token in tokens if token.featured}

    def chain(self, chain_id: int | None) -> ChainInfo | None:
        return self._names.chain(chain_id)

    def featured(self, chain_id: int | None) -> tuple[TokenInfo, ...]:
        return self._names.featured(chain_id)

    def token(self, chain_id: int | None, address: str | None) -> TokenInfo | None:
        return self._given(chain_id, address) or self._names.token(chain_id, address)

    def lists(self, chain_id: int | None, address: str | None) -> bool | None:
        return True if self._given(chain_id, address) else self._names.lists(chain_id, address)

    def _given(self, chain_id: int | None, address: str | None) -> TokenInfo | None:
        return self._featured.get((chain_id, key(address))) if chain_id and address else None


def rows(tokens: Sequence[TokenInfo], *, using: Names) -> tuple[TokenRow, ...]:
    given, found = _Given(using, tokens), []
    for token in tokens:
        chain_id, address = place(token)
        known = identity(chain_id, address, using=given, metadata=token)
        row = TokenRow(
            token=known,
            address=address,
            rank=token.feature_index if token.featured else None,
            standing=STANDINGS[known.standing],
            link=explorers.address_link(address, chain_id=chain_id, info=using.chain(chain_id)),
        )
        found.append(row)
    return tuple(found)
