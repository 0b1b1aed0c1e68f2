"""Filters of the token list: parsed from a URL, validated before any request, written back as the canonical URL."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import ClassVar

from intents_ui.formatting import hashes, text
from intents_ui.search import identifiers, parameters
from intents_ui.search.parameters import Chip, InvalidParameter, Parsed, Query, UrlFilters
from intents_ui.service.models import ChainInfo
from intents_ui.tokens import names
from intents_ui.tokens.token_amounts import key

LONGEST_SEARCH = 100
MAX_LEFT_OUT = 50
LARGEST_LIMIT = 1000  # tokens per chain
MAX_NAMED = 2  # chains, in a filter's chip


class Show(StrEnum):
    """How much of the service's lists to show. Each value includes the previous one."""

    FEATURED = "featured"
    LISTED = "listed"
    EXTERNAL = "external"


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


SHOWN = {Show.FEATURED: "Featured", Show.LISTED: "All listed", Show.EXTERNAL: "With external lists"}


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
