"""Token warnings: whether the service lists a token, and why its name may mislead. Anyone can name a token USDC."""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from threading import Lock

from cachetools import LRUCache, cached
from confusable_homoglyphs.utils import load

from intents_ui.display.formatting import amounts, hashes, text
from intents_ui.display.tokens import names
from intents_ui.display.tokens.names import Names
from intents_ui.service.models import TokenInfo

UNLISTED = "unlisted"
HIDDEN = "hidden characters"
DECIMALS = "decimals differ"

MOST_NAMED = 3  # named characters and chains; the rest is counted
CACHED = 2048


class TokenStanding(StrEnum):
    """Whether the service lists a token. NATIVE is the chain's native token, which lists may omit."""

    FEATURED = "featured"
    LISTED = "listed"
    NATIVE = "native"
    UNLISTED = "unlisted"
    UNKNOWN = "unknown"  # the chain's list is unavailable


TRUSTED = frozenset({TokenStanding.FEATURED, TokenStanding.LISTED, TokenStanding.NATIVE})


@dataclass(frozen=True, slots=True)
class Mark:
    """A warning. `word` is shown next to the token everywhere, `reason` is its explanation.

    `units`: the amount in base units, if the warning casts doubt on the amount.
    """

    word: str
    reason: str
    units: str = ""


NOT_LISTED = Mark(UNLISTED, "Not on the service's token list. Check the contract address.")


def standing(chain_id: int | None, address: str | None, *, using: Names) -> TokenStanding:
    """Return the standing according to the currently cached list of the chain."""
    listed = using.token(chain_id, address)
    if listed and listed.featured:
        return TokenStanding.FEATURED
    if hashes.is_native(address):
        return TokenStanding.NATIVE
    is_listed = using.lists(chain_id, address)
    if is_listed is None:
        return TokenStanding.UNKNOWN
    return TokenStanding.LISTED if is_listed else TokenStanding.UNLISTED


def marks(
    chain_id: int | None,
    address: str | None,
    *,
    symbol: str | None,
    name: str | None,
    using: Names,
    known: TokenStanding,
) -> tuple[Mark, ...]:
    """Return a token's warnings, most important first. `symbol` and `name` are as received.

    `known`: its standing. A featured token's own names are never doubted.
    """
    listed = using.token(chain_id, address) if known is TokenStanding.FEATURED else None
    own = (listed.symbol, listed.name) if listed else ()
    symbol, name = (each[: text.LONGEST] if each and each not in own else "" for each in (symbol, name))
    found = list[Mark]()
    if address and known in (TokenStanding.UNLISTED, TokenStanding.LISTED):
        is_listed = known is TokenStanding.LISTED
        found += _alike(chain_id, address, symbol, "" if is_listed else name, is_listed=is_listed, using=using)
    found += _hidden(symbol, name)
    return (*found, NOT_LISTED) if known is TokenStanding.UNLISTED else tuple(found)


def words(found: Sequence[Mark]) -> str:
    """Return `looks like USDC, unlisted` or `decimals differ, 100,000,000 base units`, or "" without warnings."""
    return ", ".join(each for mark in found for each in (mark.word, mark.units) if each)


def of_decimals(stated: Sequence[int], *, value: int | None) -> tuple[Mark, ...]:
    """Return the warning about different decimals of one token. The first of them count."""
    different = list(dict.fromkeys(stated))
    if len(different) < 2:
        return ()
    reason = (
        f"The service states {text.listed([str(each) for each in different])} decimals for this token."
        f" Amounts are shown with {different[0]}."
    )
    if value is None:
        return (Mark(DECIMALS, reason),)
    units = f"{amounts.grouped(value)} {amounts.BASE_UNITS}"
    return (Mark(DECIMALS, f"{reason} The amount as received: {units}.", units),)


def said(found: Sequence[Mark], address: str | None) -> str:
    """Return the warnings with the address to compare: `unlisted: 0x0709CF…B39Eb1`."""
    return f"{words(found)}: {hashes.short_address(address)}" if found and address else words(found)


# Other tokens of the same name


@dataclass(frozen=True)
class FeaturedNames:
    """Featured tokens by the readings of their symbols and names. `tokens` is stored because its identity is the
    cache key.
    """

    tokens: tuple[TokenInfo, ...]
    symbols: Mapping[str, Sequence[TokenInfo]]
    names: Mapping[str, Sequence[TokenInfo]]

    def read_as(self, name: str, *, also_by_name: bool) -> Sequence[TokenInfo]:
        sources = (self.symbols, self.names) if also_by_name else (self.symbols,)
        # Of the whole text, and of its displayed part.
        looks = readings(name) | readings(name[: text.SYMBOL_CAP])
        return next((found for by in sources for each in looks if (found := by.get(each))), ())


@cached(LRUCache(256), key=id, lock=Lock())
def _featured(tokens: tuple[TokenInfo, ...]) -> FeaturedNames:
    return FeaturedNames(
        tokens,
        _by_reading((token.symbol, token) for token in tokens),
        _by_reading((token.name, token) for token in tokens),
    )


def _by_reading(named: Iterator[tuple[str | None, TokenInfo]]) -> Mapping[str, Sequence[TokenInfo]]:
    found: dict[str, list[TokenInfo]] = {}
    for name, token in named:
        for reading in readings(name) if name else ():
            found.setdefault(reading, []).append(token)
    return found


def _alike(
    chain_id: int | None, address: str, symbol: str, name: str, *, is_listed: bool, using: Names
) -> Iterator[Mark]:
    """Return the featured tokens that it imitates. A listed token may share the name of one on another chain, as
    bridged tokens do.
    """
    wanted = (using.featured(chain_id),) if is_listed else (using.featured(chain_id), using.featured(None))
    for tokens in wanted:
        for place, given in (("symbol", symbol), ("name", name)):
            found = _featured(tokens).read_as(given, also_by_name=not is_listed) if given else ()
            others = [token for token in found if token.address.lower() != address.lower()]
            if others:
                yield _mark_of(others, place, chain_id, address, using=using)
                return


def _mark_of(others: Sequence[TokenInfo], place: str, chain_id: int | None, address: str, *, using: Names) -> Mark:
    other = others[0]
    symbol = text.symbol(other.symbol).shown
    like = symbol if place == "symbol" else f"that of {symbol}"
    reason = (
        f"Its {place} looks like {like}, {_where(others, chain_id, address, using=using)}. This is a different token."
    )
    return Mark(f"looks like {symbol}", reason)


def _where(others: Sequence[TokenInfo], chain_id: int | None, address: str, *, using: Names) -> str:
    other = others[0]
    if other.chain_id != chain_id:
        chains = dict.fromkeys(token.chain_id for token in others)
        return f"which the service features on {_listed([names.of_chain(each, using=using) for each in chains])}"
    here = names.of_chain(chain_id, using=using)
    if hashes.is_native(other.address):
        return f"the native token of {here}"
    short = hashes.short_address(other.address)
    looks_the_same = short.lower() == hashes.short_address(address).lower()
    return f"which the service features on {here} at {hashes.checksum(other.address) if looks_the_same else short}"


def _listed(words: Sequence[str]) -> str:
    """Return the first of them, and the number of the others."""
    more = len(words) - MOST_NAMED
    return text.listed([*words[:MOST_NAMED], f"{more} more"] if more > 0 else words)


# Characters of a name


@lru_cache(CACHED)
def _hidden(*written: str) -> tuple[Mark, ...]:
    found = list(dict.fromkeys(each for name in written for each in hidden(name)))
    if not found:
        return ()
    # Control characters have no Unicode names.
    named = [f"{unicodedata.name(each, 'a character without a name').lower()} (U+{ord(each):04X})" for each in found]
    what = "a character that cannot be seen" if len(found) == 1 else "characters that cannot be seen"
    return (Mark(HIDDEN, f"It is written with {what}: {_listed(named)}."),)


# Punctuation around a symbol.
AROUND = "$.,:;'\"`"
JOINERS = frozenset("\u200c\u200d")
# Characters with several ASCII lookalikes.
ALIKE = str.maketrans({"0": "O", "1": "l", "I": "l", "|": "l", "m": "rn"})
CACHED_SKELETONS = 4096


def _ascii_lookalikes() -> Iterator[tuple[str, str]]:
    """Return the letters that look like ASCII, apart from accents, with the ASCII characters.

    The package's own table has all lookalikes and the names of all characters, which takes 17 times the memory.
    """
    for letter, alike in load("confusables.json").items():
        bare = ("".join(c for c in each["c"] if unicodedata.category(c) not in text.MARKS) for each in alike)
        plain = [each for each in bare if each.isascii()]
        if plain and len(letter) == 1 and not letter.isascii():
            yield letter, plain[0]


HOMOGLYPHS = dict(_ascii_lookalikes())


@lru_cache(CACHED_SKELETONS)
def readings(name: str) -> frozenset[str]:
    """Return the readings of a name. Two names that share one look the same as written, lowercase or uppercase."""
    return frozenset(filter(None, map(_skeleton, (name, name.casefold(), name.upper()))))


def hidden(name: str) -> Iterator[str]:
    """Return the invisible characters, each once, without joiners that belong to the letters or emoji around them."""
    found: dict[str, None] = {}
    for before, at, after in zip(" " + name, name, name[1:] + " ", strict=False):
        is_joined = at in JOINERS and not (before.isascii() or after.isascii())
        if text.is_hidden(at) and not is_joined and not text.styles_emoji(before, at):
            found[at] = None
    yield from found


def _skeleton(name: str) -> str:
    return "".join(map(_plain, unicodedata.normalize("NFKD", name))).strip(AROUND).translate(ALIKE)


@lru_cache(CACHED_SKELETONS)
def _plain(character: str) -> str:
    """Return the text as it looks: without accents, with ASCII instead of its lookalikes."""
    if text.is_hidden(character) or character.isspace() or unicodedata.category(character) in text.MARKS:
        return ""
    if character.isascii():
        return character
    return HOMOGLYPHS.get(character, character)
