"""Facts about one token from the service's lists, and the featured tokens with its symbol."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from intents_ui.display.catalog.token_list import place
from intents_ui.display.formatting import hashes, text
from intents_ui.display.search import explorers
from intents_ui.display.tokens.token_amounts import Identity
from intents_ui.display.tokens.warnings import TokenStanding
from intents_ui.service.models import ChainInfo, TokenInfo


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


@dataclass(frozen=True)
class TokenFacts:
    """`bridging` None: not reported. `link`: the contract in the chain's explorer."""

    listing: ListingStatus
    rank: int | None
    is_native: bool
    bridging: bool | None
    explorer: str
    link: str | None


def facts(token: Identity, info: TokenInfo | None, *, chain: ChainInfo | None, is_searched: bool) -> TokenFacts:
    """`info`: the service's entry, from any list. `is_searched`: all lists were searched."""
    return TokenFacts(
        listing=_listing(token.standing, info, is_searched=is_searched),
        rank=info.feature_index if info and info.featured else None,
        is_native=hashes.is_native(token.address),
        bridging=info.supports_bridging if info else None,
        explorer=text.name(chain.explorer_name).shown if chain and chain.explorer_name else "the chain's explorer",
        link=explorers.address_link(token.address, chain_id=token.chain_id, info=chain),
    )


def _listing(standing: TokenStanding, info: TokenInfo | None, *, is_searched: bool) -> ListingStatus:
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
