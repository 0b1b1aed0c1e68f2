"""A token's identity for display with its icon, its amounts, and exact differences between two of them.

Decimals are never assumed. Those of the token list count before those that came with an amount, and amounts have a
warning if the two differ. Amounts of different tokens are never compared.

Bundled icons belong to chain IDs and token addresses, never to names, because anyone can call a token USDC.
icons.json lists those on which two public lists agree, and static/img/coins.svg has the images. Testnet tokens have
no icon, because they have no value.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from intents_ui import tables
from intents_ui.display.formatting import amounts, hashes, text
from intents_ui.display.formatting.amounts import Amount
from intents_ui.display.formatting.text import Sentence
from intents_ui.display.tokens import names, warnings
from intents_ui.display.tokens.names import Names
from intents_ui.display.tokens.warnings import Mark, TokenStanding
from intents_ui.service.models import ChainInfo, TokenInfo, TokenMetadata

MOST_IDENTITIES = 2048
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
    """An icon: a picture over up to three characters on one of eight backgrounds, the same for the same symbol.

    `picture`: a bundled icon or "". `logo_uri`: the listed one, from outside. `hue` None: plain background
    for unknown tokens. `chain`: the small chain icon at the corner.
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


def token_icon(
    chain_id: int | None,
    address: str | None,
    *,
    symbol: str,
    is_known: bool,
    chain: TokenIcon | None,
    logo_uri: str | None = None,
) -> TokenIcon:
    """Return a token's icon. `symbol` as shown, `logo_uri` as listed by the service.

    `is_known`: the token is listed, or its list is unavailable, and it has no warning. Unknown tokens have letters on
    a plain background, whatever their address.
    """
    monogram = "" if symbol == text.UNKNOWN else text.bare(symbol)[:3]
    if not is_known:
        return TokenIcon(monogram, None, chain)
    picture = "" if chain_id is None or address is None else TOKEN_PICTURES.get((chain_id, key(address)), "")
    return TokenIcon(monogram, _hue(symbol), chain, picture, logo_uri)


def _hue(name: str) -> int:
    return sum(map(ord, name)) % 8


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
        if differing := warnings.of_decimals(stated, value=self.value):
            others = tuple(mark for mark in token.marks if mark.word != warnings.DECIMALS)
            token = replace(token, marks=(*others, *differing))
        decimals = stated[0] if stated else None
        return token if token.decimals == decimals else replace(token, decimals=decimals)

    @cached_property
    def amount(self) -> Amount:
        """Return the amount as shown, with the token's warnings."""
        symbol = None if self.token.symbol == text.UNKNOWN else text.bare(self.token.symbol)
        found = amounts.amount(self.value, decimals=self.decimals, symbol=symbol)
        warning = warnings.said(self.marks, self.token_address)
        return replace(found, warning=warning) if warning else found

    @property
    def decimals(self) -> int | None:
        """Return the decimals with which the amount is shown."""
        return self.token.decimals

    @property
    def marks(self) -> tuple[Mark, ...]:
        """Return the warnings of the token, and of this amount of it."""
        return self.token.marks

    @property
    def symbol(self) -> str | None:
        """Return the symbol as received, unsanitized."""
        listed = self.names.token(self.chain_id, self.token_address)
        named = (self.metadata and self.metadata.symbol) or (listed and listed.symbol)
        chain = self._chain_of_native_token if not named else None
        return named or (chain.native_symbol if chain else None)

    @property
    def name(self) -> str | None:
        """Return the name as received, unsanitized."""
        listed = self.names.token(self.chain_id, self.token_address)
        return (self.metadata and self.metadata.name) or (listed.name if listed else None)

    @property
    def called(self) -> str:
        """Return the token's symbol with its warning, or "" without a symbol."""
        return self._named(warnings.said(self.marks, self.token_address))

    @property
    def named(self) -> str:
        """Return the same for texts that show the token's address."""
        return self._named(warnings.words(self.marks))

    def _named(self, warning: str) -> str:
        symbol = self.symbol
        return f"{text.symbol(symbol).shown}{f' ({warning})' if warning else ''}" if symbol else ""

    @property
    def _chain_of_native_token(self) -> ChainInfo | None:
        return self.names.chain(self.chain_id) if hashes.is_native(self.token_address) else None

    def _stated_decimals(self) -> Iterator[int]:
        """Yield the decimals that sources state, those that count first.

        The chain counts for its native token, then the token list, and last what came with the amount.
        """
        chain = self._chain_of_native_token
        listed = self.names.token(self.chain_id, self.token_address)
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
    marks: tuple[Mark, ...]
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
    key = (chain_id, address, *((metadata.symbol, metadata.name, metadata.decimals) if metadata else ()))
    known: Identity | None = derived.get(key)
    if known is None:
        known = _identity(Money(None, chain_id, address, metadata, names=using))
        if len(repr(key)) <= LONGEST_KEY:
            if len(derived) >= MOST_IDENTITIES:
                derived.clear()
            derived[key] = known
    return known


def _identity(of: Money) -> Identity:
    chain_id, address, using = of.chain_id, of.token_address, of.names
    listed, stated = using.token(chain_id, address), tuple(of._stated_decimals())
    chain_info = using.chain(chain_id)
    chain = names.chain(chain_id, info=chain_info)
    standing = warnings.standing(chain_id, address, using=using)
    marks = warnings.marks(chain_id, address, symbol=of.symbol, name=of.name, using=using, known=standing)
    shown = text.symbol(of.symbol).shown
    return Identity(
        chain_id=chain_id,
        address=address,
        symbol=shown,
        name=text.name(of.name).shown,
        chain=chain,
        decimals=stated[0] if stated else None,
        standing=standing,
        marks=(*marks, *warnings.of_decimals(stated, value=None)),
        coin=token_icon(
            chain_id,
            address,
            symbol=shown,
            is_known=standing is not TokenStanding.UNLISTED and not marks,
            chain=chain_icon(chain_id, chain, chain_info),
            logo_uri=listed.logo_uri if listed else None,
        ),
    )


def compared(value: int, other: int, *, of: Money, than: str) -> str:
    """Return `0.09 USDC less than quoted`, or "" if equal. Both are in base units of the token in `of`, whose warnings
    are beside the amounts.
    """
    if value == other:
        return ""
    apart = replace(replace(of, value=abs(value - other)).amount, warning="")
    return Sentence(apart.in_words, f" {'more' if value > other else 'less'} than {than}")


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
    are_listed = all(each.standing in warnings.TRUSTED and not each.marks for each in tokens)
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
