"""Facts about one token from the service's lists, and the featured tokens with its symbol."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from intents_ui.display.catalog.token_list import place
from intents_ui.display.formatting import hashes, text
from intents_ui.display.tokens.token_amounts import Identity
from intents_ui.display.tokens.warnings import Standing
from intents_ui.display.transfers.statuses import Tone
from intents_ui.service.wire.models import ChainInfo, TokenInfo


class Listing(StrEnum):
    """Listing of a token: its `Standing`, refined by a search of all lists."""

    FEATURED = "Featured"
    NATIVE = "Native token"
    LISTED = "Listed"
    EXTERNAL = "External list"
    NOT_LISTED = "Not listed"
    UNKNOWN = "Unknown"

    @property
    def sentence(self) -> str:
        return SENTENCES[self]

    @property
    def tone(self) -> Tone:
        return TONES.get(self, Tone.ATTENTION)


SENTENCES = {
    Listing.FEATURED: "Featured by the service.",
    Listing.NATIVE: "Each chain has one. Not featured by the service.",
    Listing.LISTED: "On the service's list, not featured.",
    Listing.EXTERNAL: "From an external token list.",
    Listing.NOT_LISTED: "On none of the service's token lists.",
    Listing.UNKNOWN: "Couldn't load the service's lists.",
}
TONES = {
    Listing.FEATURED: Tone.GOOD,
    Listing.NATIVE: Tone.GOOD,
    Listing.LISTED: Tone.NEUTRAL,
}


@dataclass(frozen=True)
class Facts:
    """`bridging` None: not reported. `link`: the contract in the chain's explorer."""

    listing: Listing
    rank: int | None
    is_native: bool
    bridging: bool | None
    explorer: str
    link: str | None


def facts(token: Identity, info: TokenInfo | None, *, chain: ChainInfo | None, is_searched: bool) -> Facts:
    """`info`: the service's entry, from any list. `is_searched`: all lists were searched."""
    return Facts(
        listing=_listing(token.standing, info, is_searched=is_searched),
        rank=info.feature_index if info and info.featured else None,
        is_native=hashes.is_native(token.address),
        bridging=info.supports_bridging if info else None,
        explorer=text.name(chain.explorer_name).shown if chain and chain.explorer_name else "the chain's explorer",
        link=_link(token.address, chain),
    )


def _listing(standing: Standing, info: TokenInfo | None, *, is_searched: bool) -> Listing:
    match standing:
        case Standing.FEATURED:
            return Listing.FEATURED
        case Standing.NATIVE:
            return Listing.NATIVE
        case Standing.LISTED:
            return Listing.LISTED
    if info:
        if standing is Standing.UNKNOWN and info.featured:  # the lists are unavailable, but the search found it
            return Listing.FEATURED
        return Listing.EXTERNAL if standing is Standing.UNLISTED else Listing.UNKNOWN
    return Listing.NOT_LISTED if is_searched else Listing.UNKNOWN


def _link(address: str | None, chain: ChainInfo | None) -> str | None:
    if address and hashes.is_solana_address(address):
        return hashes.solana_address_link(address)
    return hashes.address_link(chain.explorer_url if chain else None, address=address)


def namesakes(symbol: str | None, *, of: tuple[int, str], among: Iterable[TokenInfo]) -> tuple[TokenInfo, ...]:
    """Return featured tokens with the same symbol, those on its chain first."""
    wanted = (symbol or "").casefold()
    found = [
        token
        for token in among
        if token.featured and token.symbol and token.symbol.casefold() == wanted and place(token) != of
    ]
    return tuple(sorted(found, key=lambda token: token.chain_id != of[0]))
