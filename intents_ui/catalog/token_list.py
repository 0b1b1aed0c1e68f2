"""Token list: filters, in the service's order, and rows.

Facts about one token from the lists, the featured tokens with its symbol, and what matches the text in the search box.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from intents_ui.catalog.token_filters import Show, TokenFilters
from intents_ui.formatting import text
from intents_ui.search import explorers
from intents_ui.search.facts import chains_by_name
from intents_ui.service.models import ChainInfo, TokenInfo
from intents_ui.tokens import names
from intents_ui.tokens.names import Names, NoNames
from intents_ui.tokens.token_amounts import Identity, TokenStanding, identity, key

LAST = 10**9  # rank of a featured token without an index

type Where = tuple[int, str]


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


STANDINGS = {
    TokenStanding.FEATURED: "Featured",
    TokenStanding.NATIVE: "Native token",
    TokenStanding.LISTED: "Listed",
    TokenStanding.UNLISTED: "External list",
    TokenStanding.UNKNOWN: "unknown",
}


OF_LIST = {
    Show.FEATURED: "featured {tokens}",
    Show.LISTED: "listed {tokens}",
    Show.EXTERNAL: "{tokens} from the service's list and external lists",
}


class _Given(NoNames):
    """The catalog, with featured tokens that are already loaded and need no request."""

    def __init__(self, names: Names, tokens: Iterable[TokenInfo]) -> None:
        self._names = names
        self._featured = {place(token): token for token in tokens if token.featured}

    def chain(self, chain_id: int | None) -> ChainInfo | None:
        return self._names.chain(chain_id)

    def token(self, chain_id: int | None, address: str | None) -> TokenInfo | None:
        return self._given(chain_id, address) or self._names.token(chain_id, address)

    def lists(self, chain_id: int | None, address: str | None) -> bool | None:
        return True if self._given(chain_id, address) else self._names.lists(chain_id, address)

    def featured(self, chain_id: int | None) -> tuple[TokenInfo, ...]:
        return self._names.featured(chain_id)

    def _given(self, chain_id: int | None, address: str | None) -> TokenInfo | None:
        return self._featured.get((chain_id, key(address))) if chain_id and address else None


def place(token: TokenInfo) -> Where:
    """Return a token's key. Both placeholder addresses of a native token have the same."""
    return token.chain_id, key(token.address)


def wanted(tokens: Iterable[TokenInfo], filters: TokenFilters, *, chains: Sequence[int]) -> Sequence[TokenInfo]:
    """Return each token once, without excluded ones, at most `limit` per chain, in order."""
    once: dict[Where, TokenInfo] = {}
    for token in tokens:
        once.setdefault(place(token), token)
    left = [token for (_, address), token in once.items() if address not in filters.without]
    found, counts = [], Counter[int]()
    for token in _in_order(left, filters, chains=chains):
        counts[token.chain_id] += 1
        if filters.limit is None or counts[token.chain_id] <= filters.limit:
            found.append(token)
    return found


def _in_order(tokens: Iterable[TokenInfo], filters: TokenFilters, *, chains: Sequence[int]) -> list[TokenInfo]:
    """Sort featured tokens first, by index, then by name. In a search, the best match comes first."""
    places = {chain_id: number for number, chain_id in enumerate(chains)}
    words = filters.words.casefold()

    def order(token: TokenInfo) -> tuple[int, bool, int, str, int, str]:
        rank = LAST if token.feature_index is None else token.feature_index
        return (
            _rank(token, words) if words else 0,
            not token.featured,
            rank if token.featured else LAST,
            (token.name or "").casefold(),
            places.get(token.chain_id, LAST),
            token.address,
        )

    return sorted(tokens, key=order)


def _rank(token: TokenInfo, words: str) -> int:
    """Return how well a token matches a search. 0 is best."""
    symbol, name = (token.symbol or "").casefold(), (token.name or "").casefold()
    answers = (
        words in (symbol, token.address.casefold()),
        symbol.startswith(words) or name.startswith(words),
        words in symbol,
    )
    return answers.index(True) if True in answers else len(answers)


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


def sentence(count: int, filters: TokenFilters, *, chains: int) -> str:
    """Return `81 featured tokens on 24 chains, by rank and then by name.`"""
    where = f"on {text.counted(chains, 'chain')}"
    tokens = "token" if count == 1 else "tokens"
    if filters.words:
        return f"{count:,} {tokens} found {where}, best matches first."
    order = "by rank" if filters.show is Show.FEATURED else "featured first by rank, then by name"
    return f"{count:,} {OF_LIST[filters.show].format(tokens=tokens)} {where}, {order}."


class ListingStatus(StrEnum):
    """Listing of a token: its `TokenStanding`, refined by a search of all lists."""

    FEATURED = "Featured"
    NATIVE = "Native token"
    LISTED = "Listed"
    EXTERNAL = "External list"
    NOT_LISTED = "Not listed"
    UNKNOWN = "Unknown"

    @property
    def sentence(self) -> str:
        return SENTENCES[self]


SENTENCES = {
    ListingStatus.FEATURED: "Featured by the service.",
    ListingStatus.NATIVE: "Each chain has one. Not featured by the service.",
    ListingStatus.LISTED: "On the service's list, not featured.",
    ListingStatus.EXTERNAL: "From an external token list.",
    ListingStatus.NOT_LISTED: "On none of the service's token lists.",
    ListingStatus.UNKNOWN: "Couldn't load the service's lists.",
}


def listing(standing: TokenStanding, info: TokenInfo | None, *, is_searched: bool) -> ListingStatus:
    """`info`: the service's entry, from any list. `is_searched`: all lists were searched."""
    if standing in (TokenStanding.FEATURED, TokenStanding.NATIVE, TokenStanding.LISTED):
        return ListingStatus[standing.name]
    if info:
        if standing is TokenStanding.UNKNOWN and info.featured:  # the lists are unavailable, but the search found it
            return ListingStatus.FEATURED
        return ListingStatus.EXTERNAL if standing is TokenStanding.UNLISTED else ListingStatus.UNKNOWN
    return ListingStatus.NOT_LISTED if is_searched else ListingStatus.UNKNOWN


def namesakes(symbol: str | None, *, of: tuple[int, str], among: Iterable[TokenInfo]) -> tuple[TokenInfo, ...]:
    """Return featured tokens with the same symbol, those on its chain first."""
    wanted = (symbol or "").casefold()
    found = [
        token
        for token in among
        if token.featured and token.symbol and token.symbol.casefold() == wanted and place(token) != of
    ]
    return tuple(sorted(found, key=lambda token: token.chain_id != of[0]))


MAX_SUGGESTIONS = 8
MAX_CHAINS = 3


def matching_chains(words: str, known: Iterable[ChainInfo]) -> list[tuple[int, str]]:
    """Return the IDs and names of the best matches, in the service's order. A chain ID must be complete."""
    wanted = words.casefold()
    known = list(known)
    usual = chains_by_name(known).get(wanted)
    found = [
        (number, name)
        for number, name in names.by_id(known).items()
        if _matches(wanted, name, str(number)) or (usual and usual.id == number)
    ]
    return sorted(found, key=lambda chain: not chain[1].casefold().startswith(wanted))[:MAX_CHAINS]


def matching_tokens(words: str, listed: Sequence[TokenInfo], *, most: int, using: names.Names) -> tuple[TokenRow, ...]:
    """Return the best matches. Each word is part of the symbol, the name or the chain's name."""
    on = {chain_id: names.of_chain(chain_id, using=using) for chain_id in {t.chain_id for t in listed}}
    found = [
        token
        for token in listed
        if _matches(words.casefold(), f"{token.symbol or ''} {token.name or ''} {on[token.chain_id]}", token.address)
    ]
    best = wanted(found, TokenFilters(words=words), chains=tuple(on))[:most]
    return rows(best, using=using)


def _matches(words: str, text: str, identifier: str) -> bool:
    within = text.casefold()
    return words == identifier.casefold() or all(word in within for word in words.split())
