"""Filters of the token list: parsed from a URL, validated before any request, written back as the canonical URL."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, Self
from urllib.parse import urlencode

from intents_ui.display.formatting import hashes, text
from intents_ui.display.lists import filters
from intents_ui.display.lists.filters import FilterProblem, Query
from intents_ui.display.search import input_errors
from intents_ui.display.tokens import names
from intents_ui.display.tokens.token_amounts import key
from intents_ui.service.wire.models import ChainInfo

LONGEST_SEARCH = 100
MOST_LEFT_OUT = 50
LARGEST_LIMIT = 1000  # tokens per chain
MOST_NAMED = 2  # chains, in a filter's chip


class Show(StrEnum):
    """How much of the service's lists to show. Each value includes the previous one."""

    FEATURED = "featured"
    LISTED = "listed"
    EXTERNAL = "external"


@dataclass(frozen=True)
class TokenFilters:
    """Filters of the token list. Empty `chains` means all. `limit` is per chain. `without`: addresses on any chain."""

    words: str = ""
    chains: tuple[int, ...] = ()
    show: Show = Show.FEATURED
    without: tuple[str, ...] = ()
    limit: int | None = None

    @cached_property
    def query(self) -> str:
        """Return the canonical query string, without defaults."""
        return urlencode(list(self._written()))

    def with_(self, **changes: Any) -> Self:
        return replace(self, **changes)

    @property
    def address(self) -> str | None:
        """Return the search text if it is an address, which is matched exactly and not as a name."""
        return self.words if hashes.is_solana_address(self.words) else hashes.canonical_address(self.words)

    @property
    def narrows(self) -> bool:
        return self != type(self)(show=self.show)

    def _written(self) -> Iterator[tuple[str, str]]:
        if self.words:
            yield "q", self.words
        yield from (("chain", str(chain_id)) for chain_id in self.chains)
        if self.show is not Show.FEATURED:
            yield "show", self.show
        yield from (("without", address) for address in self.without)
        if self.limit is not None:
            yield "limit", str(self.limit)


@dataclass(frozen=True)
class TokenQuery:
    """Filters as entered: `problems` by filter name, `typed` is the text to show again in the fields."""

    filters: TokenFilters
    problems: Mapping[str, str]
    typed: Mapping[str, str]


def read(query: Query, *, chains: Sequence[ChainInfo] = ()) -> TokenQuery:
    """Parse a URL's query. Ignores other parameters."""
    found: dict[str, Any] = {}
    problems: dict[str, str] = {}
    typed: dict[str, str] = {}
    for name, (written_as, parse) in _parsers(chains).items():
        written = [word.strip() for word in query.get(written_as, ()) if word.strip()]
        if not written:
            continue
        typed[name] = text.visible(written[-1])[: filters.LONGEST_ECHO]
        try:
            found[name] = parse(written)
        except FilterProblem as problem:
            problems[name] = str(problem)
    return TokenQuery(TokenFilters(**found), problems, typed)


def _parsers(chains: Sequence[ChainInfo]) -> dict[str, tuple[str, Callable[[list[str]], Any]]]:
    return {
        "words": ("q", lambda written: _words(written[-1])),
        "chains": ("chain", lambda written: _chains(written, chains)),
        "show": ("show", lambda written: _show(written[-1])),
        "without": ("without", _without),
        "limit": ("limit", lambda written: _limit(written[-1])),
    }


def _words(written: str) -> str:
    """Return the canonical form of an address: both native placeholders are one token."""
    if len(written) > LONGEST_SEARCH:
        raise FilterProblem(f"Enter at most {LONGEST_SEARCH} characters.")
    words = re.sub(r"\s+", " ", written)
    return key(words) if hashes.canonical_address(words) else words


def _chains(written: list[str], chains: Sequence[ChainInfo]) -> tuple[int, ...]:
    """Return the chains in the service's order, empty for all of them."""
    found = {filters.chain_id(word, chains) for each in written for word in each.split(",") if word.strip()}
    places = {chain.id: place for place, chain in enumerate(chains)}
    return () if found == places.keys() else tuple(sorted(found, key=lambda each: (places.get(each, 0), each)))


def _show(written: str) -> Show:
    try:
        return Show(written.lower())
    except ValueError:
        known = ", ".join(Show)
        raise FilterProblem(f"Unknown list “{text.name(written).shown}”. Use one of {known}.") from None


def _without(written: list[str]) -> tuple[str, ...]:
    words = [word for each in written for word in re.split(r"[,\s]+", each) if word]
    found = tuple(dict.fromkeys(_address(word) for word in words))
    if len(found) > MOST_LEFT_OUT:
        raise FilterProblem(f"Hide at most {MOST_LEFT_OUT} tokens.")
    return found


def _address(written: str) -> str:
    if not hashes.is_solana_address(written) and hashes.canonical_address(written) is None:
        raise FilterProblem(input_errors.of_address(written))
    return key(written)


def _limit(written: str) -> int:
    if not (written.isascii() and written.isdigit() and len(written) <= 20 and 1 <= int(written) <= LARGEST_LIMIT):
        raise FilterProblem(f"Enter a limit from 1 to {LARGEST_LIMIT:,} tokens per chain.")
    return int(written)


# Labels


@dataclass(frozen=True)
class TokenChip:
    """An active filter. `without` is the page's query without it."""

    text: str
    without: str


@dataclass(frozen=True)
class TokenChoice:
    """An option, as a link."""

    word: str
    query: str
    is_chosen: bool


SHOWN = {Show.FEATURED: "Featured", Show.LISTED: "All listed", Show.EXTERNAL: "With external lists"}


def chain_chip(wanted: TokenFilters, *, chains: Mapping[int, str]) -> TokenChip | None:
    """Return `Base, Polygon` or `Base and 4 more`."""
    if not wanted.chains:
        return None
    named = [chains.get(each) or names.chain(each, info=None) for each in wanted.chains]
    words = ", ".join(named) if len(named) <= MOST_NAMED else f"{named[0]} and {len(named) - 1} more"
    return TokenChip(words, wanted.with_(chains=()).query)


def limit_chip(wanted: TokenFilters) -> TokenChip | None:
    return TokenChip(f"At most {wanted.limit} per chain", wanted.with_(limit=None).query) if wanted.limit else None


def left_out_chips(wanted: TokenFilters) -> tuple[TokenChip, ...]:
    return tuple(
        TokenChip(f"Hidden: {hashes.short_address(each)}", wanted.with_(without=_others(wanted.without, each)).query)
        for each in wanted.without
    )


def _others(all_of: Iterable[str], one: str) -> tuple[str, ...]:
    return tuple(each for each in all_of if each != one)


def choices(wanted: TokenFilters) -> tuple[TokenChoice, ...]:
    return tuple(TokenChoice(word, wanted.with_(show=show).query, show is wanted.show) for show, word in SHOWN.items())
