"""A token's identity for display, with its warnings and icon, its amounts, and exact differences between two of them.

Warnings say whether the service lists a token, and why its name may mislead: anyone can call a token USDC.

Decimals are never assumed. Those of the token list count before those that came with an amount, and amounts have a
warning if the two differ. Amounts of different tokens are never compared.

Bundled icons belong to chain IDs and token addresses, never to names. icons.json lists those on which two public lists
agree. Images that most pages show are in static/icons.svg, each other one is a file of static/coins. Testnet
tokens have no icon, because they have no value.
"""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property, lru_cache

from confusable_homoglyphs.utils import load

from intents_ui import tables
from intents_ui.formatting import amounts, hashes, text
from intents_ui.formatting.amounts import Amount
from intents_ui.formatting.text import UNKNOWN, Sentence
from intents_ui.service.models import ChainInfo, TokenInfo, TokenMetadata
from intents_ui.tokens import names
from intents_ui.tokens.names import Names

UNLISTED = "unlisted"
HIDDEN = "hidden characters"
DECIMALS = "decimals differ"

MAX_NAMED = 3  # named characters and chains; the rest is counted
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
class TokenWarning:
    """A warning. `word` is shown next to the token everywhere, `reason` is its explanation.

    `units`: the amount in base units, if the warning casts doubt on the amount.
    """

    word: str
    reason: str
    units: str = ""


NOT_LISTED = TokenWarning(UNLISTED, "Not on the service's token list. Check the contract address.")


def _standing(of: "Money") -> TokenStanding:
    """Return the standing according to the currently cached list of the chain."""
    if of.listed and of.listed.featured:
        return TokenStanding.FEATURED
    if hashes.is_native(of.token_address):
        return TokenStanding.NATIVE
    is_listed = of.names.lists(of.chain_id, of.token_address)
    if is_listed is None:
        return TokenStanding.UNKNOWN
    return TokenStanding.LISTED if is_listed else TokenStanding.UNLISTED


def _marks(of: "Money", standing: TokenStanding) -> tuple[TokenWarning, ...]:
    """Return a token's warnings, most important first. A featured token's own names are never doubted."""
    listed = of.listed if standing is TokenStanding.FEATURED else None
    own = (listed.symbol, listed.name) if listed else ()
    symbol, name = (each[: text.LONGEST] if each and each not in own else "" for each in (of.symbol, of.name))
    found = list(_hidden(symbol, name))
    if of.token_address and standing in (TokenStanding.UNLISTED, TokenStanding.LISTED):
        like = _alike(of, symbol, name, is_listed=standing is TokenStanding.LISTED)
        found = [like, *found] if like else found
    return (*found, NOT_LISTED) if standing is TokenStanding.UNLISTED else tuple(found)


def warning_words(found: Sequence[TokenWarning]) -> str:
    """Return `looks like USDC, unlisted` or `decimals differ, 100,000,000 base units`, or "" without warnings."""
    return ", ".join(each for mark in found for each in (mark.word, mark.units) if each)


def of_decimals(stated: Sequence[int], *, value: int | None) -> tuple[TokenWarning, ...]:
    """Return the warning about different decimals of one token. The first of them count."""
    different = list(dict.fromkeys(stated))
    if len(different) < 2:
        return ()
    reason = (
        f"The service states {text.listed([str(each) for each in different])} decimals for this token."
        f" Amounts are shown with {different[0]}."
    )
    if value is None:
        return (TokenWarning(DECIMALS, reason),)
    units = f"{value:,} {amounts.BASE_UNITS}"
    return (TokenWarning(DECIMALS, f"{reason} The amount as received: {units}.", units),)


def with_address(found: Sequence[TokenWarning], address: str | None) -> str:
    """Return the warnings with the address to compare: `unlisted: 0x0709CF…B39Eb1`."""
    return f"{warning_words(found)}: {hashes.short_address(address)}" if found and address else warning_words(found)


# Other tokens of the same name


@lru_cache(CACHED)
def _looks(*names: str | None) -> frozenset[str]:
    """Return the readings of a featured token's names. Other tokens can't displace them from this cache."""
    return frozenset[str]().union(*(readings(name or "") for name in names))


def _alike(of: "Money", symbol: str, name: str, *, is_listed: bool) -> TokenWarning | None:
    """Return the warning about the featured tokens that it imitates.

    A listed token may have the symbol of one on another chain, as bridged tokens do, and the name of any.
    """
    here, anywhere = of.names.featured(of.chain_id), () if is_listed else of.names.featured(None)
    for tokens in (here, anywhere):
        for place, given in (("symbol", symbol), ("name", "" if is_listed else name)):
            # Of the whole text, and of its displayed part.
            looks = readings(given) | readings(given[: text.SYMBOL_CAP])
            others = [
                token
                for token in tokens
                if not looks.isdisjoint(_looks(token.symbol) if is_listed else _looks(token.symbol, token.name))
                and token.address.lower() != (of.token_address or "").lower()
            ]
            if others:
                like = text.symbol(others[0].symbol).shown
                called = like if place == "symbol" else f"that of {like}"
                reason = f"Its {place} looks like {called}, {_where(others, of)}. This is a different token."
                return TokenWarning(f"looks like {like}", reason)
    return None


def _where(others: Sequence[TokenInfo], of: "Money") -> str:
    """Return where the service features the first of these tokens, which `of` imitates."""
    other, using = others[0], of.names
    if other.chain_id != of.chain_id:
        chains = dict.fromkeys(token.chain_id for token in others)
        return f"which the service features on {_listed([names.of_chain(each, using=using) for each in chains])}"
    here, short = names.of_chain(of.chain_id, using=using), hashes.short_address(other.address)
    if hashes.is_native(other.address):
        return f"the native token of {here}"
    looks_the_same = short.lower() == hashes.short_address(of.token_address).lower()
    return f"which the service features on {here} at {hashes.checksum(other.address) if looks_the_same else short}"


def _listed(words: Sequence[str]) -> str:
    """Return the first of them, and the number of the others."""
    more = len(words) - MAX_NAMED
    return text.listed([*words[:MAX_NAMED], f"{more} more"] if more > 0 else words)


# Characters of a name


@lru_cache(CACHED)
def _hidden(*names: str) -> tuple[TokenWarning, ...]:
    """Return the warning about invisible characters, unless they are joiners of the letters or emoji around them."""
    found = dict[str, None]()
    for name in names:
        for before, at, after in zip(" " + name, name, name[1:] + " ", strict=False):
            is_joined = at in JOINERS and not (before.isascii() or after.isascii())
            if text.is_hidden(at) and not is_joined and not text.styles_emoji(before, at):
                found[at] = None
    if not found:
        return ()
    # Control characters have no Unicode names.
    named = [f"{unicodedata.name(each, 'a character without a name').lower()} (U+{ord(each):04X})" for each in found]
    what = "a character that cannot be seen" if len(found) == 1 else "characters that cannot be seen"
    return (TokenWarning(HIDDEN, f"It is written with {what}: {_listed(named)}."),)


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
    cases = (unicodedata.normalize("NFKD", each) for each in (name, name.casefold(), name.upper()))
    return frozenset(filter(None, ("".join(map(_plain, each)).strip(AROUND).translate(ALIKE) for each in cases)))


@lru_cache(CACHED_SKELETONS)
def _plain(character: str) -> str:
    """Return the text as it looks: without accents, with ASCII instead of its lookalikes."""
    if text.is_hidden(character) or character.isspace() or unicodedata.category(character) in text.MARKS:
        return ""
    if character.isascii():
        return character
    return HOMOGLYPHS.get(character, character)


MAX_IDENTITIES = 2048
LONGEST_KEY = 250  # characters of a token's address and names. Others can be as long as a response

_icons = tables.read(__package__, "icons.json")
CHAIN_PICTURES: Mapping[int, str] = {int(chain_id): picture for chain_id, picture in _icons["chains"].items()}
TOKEN_PICTURES: Mapping[tuple[int, str], str] = {
    (int(chain_id), address): picture
    for chain_id, pictures in _icons["tokens"].items()
    for address, picture in pictures.items()
}


@dataclass(frozen=True, slots=True)
class TokenIcon:
    """An icon: a picture over up to three characters on one of four backgrounds, the same for the same symbol.

    `picture`: the file and the name of a bundled icon, or "". `logo_uri`: the listed one, from outside. `hue` None:
    plain background for unknown tokens. `chain`: the small chain icon at the corner.
    """

    monogram: str
    hue: int | None
    chain: "TokenIcon | None" = None
    picture: str = ""
    logo_uri: str | None = None


def chain_icon(chain_id: int | None, name: str, info: ChainInfo | None = None) -> TokenIcon:
    """Return a chain's icon. `name` as shown, `info` as listed by the service."""
    picture = "" if chain_id is None else CHAIN_PICTURES.get(chain_id, "")
    return TokenIcon(text.bare(name)[:1], _hue(name), picture=picture, logo_uri=info.logo_uri if info else None)


def _hue(name: str) -> int:
    return sum(map(ord, name)) % 4


@dataclass(frozen=True)
class Money:
    """An amount of a token in base units. `metadata` is the receipt's description of the token.

    `own_decimals` came with the amount, for a token without another description.
    """

    value: int | None
    chain_id: int | None
    token_address: str | None
    metadata: TokenMetadata | TokenInfo | None = None
    own_decimals: int | None = None
    names: Names = field(kw_only=True, compare=False, repr=False)

    @cached_property
    def token(self) -> "Identity":
        """Return the token, with the warning about the decimals of this amount."""
        token = identity(self.chain_id, self.token_address, metadata=self.metadata, using=self.names)
        stated = tuple(self._stated_decimals())
        if differing := of_decimals(stated, value=self.value):
            others = tuple(mark for mark in token.marks if mark.word != DECIMALS)
            token = replace(token, marks=(*others, *differing))
        decimals = stated[0] if stated else None
        return token if token.decimals == decimals else replace(token, decimals=decimals)

    @cached_property
    def amount(self) -> Amount:
        """Return the amount as shown, with the token's warnings."""
        symbol = None if self.token.symbol == UNKNOWN else text.bare(self.token.symbol)
        found = amounts.amount(self.value, decimals=self.token.decimals, symbol=symbol)
        warning = with_address(self.token.marks, self.token_address)
        return replace(found, warning=warning) if warning else found

    def in_words(self, unknown: str = UNKNOWN) -> str:
        return unknown if self.value is None else self.amount.in_words

    @property
    def is_coin(self) -> bool:
        """Return whether it is a chain's native token, as far as that is known."""
        return self.token_address is None or hashes.is_native(self.token_address)

    @cached_property
    def listed(self) -> TokenInfo | None:
        """The service's entry. A featured one that came with the token needs no list of its chain."""
        given = self.metadata
        if isinstance(given, TokenInfo) and given.featured:
            return given
        return self.names.token(self.chain_id, self.token_address)

    @property
    def symbol(self) -> str | None:
        """Return the symbol as received, unsanitized."""
        listed, chain = self.listed, self._chain_of_native_token
        named = (self.metadata and self.metadata.symbol) or (listed and listed.symbol)
        return named or (chain.native_symbol if chain else None)

    @property
    def name(self) -> str | None:
        """Return the name as received, unsanitized."""
        return (self.metadata and self.metadata.name) or (self.listed.name if self.listed else None)

    @property
    def called(self) -> str:
        """Return the token's symbol with its warning, or "" without a symbol."""
        return self._named(with_address(self.token.marks, self.token_address))

    @property
    def named(self) -> str:
        """Return the same for texts that show the token's address."""
        return self._named(warning_words(self.token.marks))

    def _named(self, warning: str) -> str:
        symbol = "" if self.token.symbol == UNKNOWN else self.token.symbol
        return f"{symbol} ({warning})" if symbol and warning else symbol

    @property
    def _chain_of_native_token(self) -> ChainInfo | None:
        return self.names.chain(self.chain_id) if hashes.is_native(self.token_address) else None

    def _stated_decimals(self) -> Iterator[int]:
        """Yield the chain's decimals of its native token, the token list's, and those that came with the amount."""
        chain, listed = self._chain_of_native_token, self.listed
        stated = (
            chain.native_decimals if chain else None,
            listed.decimals if listed else None,
            self.metadata.decimals if self.metadata else None,
            self.own_decimals,
        )
        return (each for each in stated if each is not None)


def of_token(token: TokenInfo, *, using: Names) -> Money:
    """Return a listed token without an amount."""
    stated = TokenMetadata(chain_id=token.chain_id, token_address=token.address, symbol=token.symbol, name=token.name)
    return Money(None, token.chain_id, token.address, stated, token.decimals, names=using)


def key(address: str) -> str:
    """Return the canonical form of a token address. Addresses that aren't hex are case-sensitive."""
    return hashes.ZERO_ADDRESS if hashes.is_native(address) else hashes.canonical_address(address) or address


@dataclass(frozen=True, slots=True)
class Identity:
    """A token. `symbol`, `name` and `chain` are sanitized, `address` is as received (None if unknown)."""

    chain_id: int | None
    address: str | None
    symbol: str
    name: str
    chain: str
    decimals: int | None
    standing: TokenStanding
    marks: tuple[TokenWarning, ...]
    coin: TokenIcon

    @property
    def is_native(self) -> bool:
        return hashes.is_native(self.address)


def identity(
    chain_id: int | None, address: str | None, *, using: Names, metadata: TokenMetadata | TokenInfo | None = None
) -> Identity:
    """Combine `metadata`, which came with the token, with the token list. The same object until a name changes."""
    derived = using.derived
    if derived is None:
        return _identity(Money(None, chain_id, address, metadata, names=using))
    named = (metadata.symbol, metadata.name, metadata.decimals) if metadata else ()
    key = (chain_id, address, *named, isinstance(metadata, TokenInfo) and metadata.featured)
    known: Identity | None = derived.get(key)
    if known is None:
        known = _identity(Money(None, chain_id, address, metadata, names=using))
        if len(repr(key)) <= LONGEST_KEY:
            if len(derived) >= MAX_IDENTITIES:
                derived.clear()
            derived[key] = known
    return known


def _identity(of: Money) -> Identity:
    chain_id, address, using = of.chain_id, of.token_address, of.names
    stated, chain_info = tuple(of._stated_decimals()), using.chain(chain_id)
    chain, symbol = names.chain(chain_id, info=chain_info), text.symbol(of.symbol).shown
    standing = _standing(of)
    marks = _marks(of, standing)
    # What isn't listed, or has a warning, has letters on a plain background, whatever its address.
    letters = "" if symbol == UNKNOWN else text.bare(symbol)[:3]
    coin = TokenIcon(letters, None, chain_icon(chain_id, chain, chain_info))
    if standing is not TokenStanding.UNLISTED and not marks:
        picture = TOKEN_PICTURES.get((chain_id or 0, key(address or "")), "")
        coin = replace(coin, hue=_hue(symbol), picture=picture, logo_uri=of.listed.logo_uri if of.listed else None)
    return Identity(
        chain_id=chain_id,
        address=address,
        symbol=symbol,
        name=text.name(of.name).shown,
        chain=chain,
        decimals=stated[0] if stated else None,
        standing=standing,
        marks=(*marks, *of_decimals(stated, value=None)),
        coin=coin,
    )


def compared(value: int | None, other: Money, than: str) -> str:
    """Return `0.09 USDC less than quoted` without the token's warnings, or "" if equal or unknown."""
    if value is None or other.value is None or value == other.value:
        return ""
    apart = replace(other, value=abs(value - other.value)).amount.without_warning
    return Sentence(apart, f" {'more' if value > other.value else 'less'} than {than}")


def is_another_token(one: Money, other: Money) -> bool:
    """Return whether both tokens are known and differ. The native token has two addresses, which are equal."""
    if _differ(one.chain_id, other.chain_id):
        return True
    if hashes.is_native(one.token_address) and hashes.is_native(other.token_address):
        return False
    return _differ(_folded(one.token_address), _folded(other.token_address))


def is_same_token(one: Money, other: Money) -> bool:
    """Return whether both tokens are known and equal, including their chain."""
    named = all((one.token_address, other.token_address, one.chain_id is not None, other.chain_id is not None))
    return named and not is_another_token(one, other)


def is_same_asset(one: Money, other: Money) -> bool:
    """Return whether both are one token, or what the service lists as one token on two chains."""
    if is_same_token(one, other):
        return True
    tokens = [replace(each, own_decimals=None).token for each in (one, other)]
    are_listed = all(each.standing in TRUSTED and not each.marks for each in tokens)
    return are_listed and len({(each.symbol, each.decimals) for each in tokens}) == 1


def is_same_address(one: str | None, other: str | None) -> bool:
    return one is not None and _folded(one) == _folded(other)


def is_other_address(one: str | None, other: str | None) -> bool:
    return _differ(_folded(one), _folded(other))


def _differ[T](one: T | None, other: T | None) -> bool:
    return one is not None and other is not None and one != other


def _folded(address: str | None) -> str | None:
    """Fold the case of hex addresses. Other kinds of addresses are case-sensitive."""
    return (hashes.canonical_address(address) or address) if address else None
