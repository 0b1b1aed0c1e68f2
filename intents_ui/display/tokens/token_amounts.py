"""A token's identity for display, its amounts, and exact differences between two of them.

Decimals are never assumed. Those of the token list count before those that came with an amount, and amounts have a
warning if the two differ. Amounts of different tokens are never compared.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from intents_ui.display.formatting import amounts, hashes, text
from intents_ui.display.formatting.amounts import Amount
from intents_ui.display.formatting.sentences import Sentence
from intents_ui.display.tokens import icons, names, warnings
from intents_ui.display.tokens.names import Names
from intents_ui.display.tokens.warnings import Mark, TokenStanding
from intents_ui.service.models import BalanceGroup, TokenBalance, TokenInfo, TokenMetadata

MOST_IDENTITIES = 2048
LONGEST_KEY = 250  # characters of a token's address and names. Others can be as long as a response


@dataclass(frozen=True, slots=True)
class Money:
    """An amount of a token in base units. `metadata` is the receipt's description of the token.

    `decimals` came with the amount, for a token without another description.
    """

    value: int | None
    chain_id: int | None
    token_address: str | None
    metadata: TokenMetadata | TokenInfo | None = None
    decimals: int | None = None


def amount(money: Money, *, using: Names) -> Amount:
    symbol = symbol_of(money.chain_id, money.token_address, metadata=money.metadata, using=using)
    found = amounts.amount(money.value, decimals=decimals(money, using=using), symbol=symbol)
    warning = warnings.said(marks(money, using=using), money.token_address)
    return replace(found, warning=warning) if warning else found


def called(money: Money, *, using: Names) -> str:
    """Return the token's symbol with its warning, or "" without a symbol."""
    symbol = symbol_of(money.chain_id, money.token_address, metadata=money.metadata, using=using)
    warning = warnings.said(marks(money, using=using), money.token_address)
    return f"{text.symbol(symbol).shown}{f' ({warning})' if warning else ''}" if symbol else ""


def named(token: TokenInfo, *, using: Names) -> str:
    """Return a listed token by its symbol and warning, for texts that show its address."""
    warning = warnings.words(marks(money_of(token), using=using))
    return f"{text.symbol(token.symbol).shown}{f' ({warning})' if warning else ''}"


def money_of(token: TokenInfo) -> Money:
    """Return a listed token without an amount."""
    stated = TokenMetadata(chain_id=token.chain_id, token_address=token.address, symbol=token.symbol, name=token.name)
    return Money(None, token.chain_id, token.address, stated, token.decimals)


def marks(money: Money, *, using: Names) -> tuple[Mark, ...]:
    """Return the warnings of the token, and of an amount of it."""
    place, metadata = (money.chain_id, money.token_address), money.metadata
    symbol = symbol_of(*place, metadata=metadata, using=using)
    name = name_of(*place, metadata=metadata, using=using)
    named = warnings.marks(*place, symbol=symbol, name=name, using=using)
    return (*named, *_differing_decimals(money, using=using))


def decimals(money: Money, *, using: Names) -> int | None:
    """Return the decimals with which an amount is shown."""
    return next(_stated_decimals(money, using=using), None)


def _stated_decimals(money: Money, *, using: Names) -> Iterator[int]:
    """Yield the decimals that sources state, those that count first.

    The chain counts for its native token, then the token list, and last what came with the amount.
    """
    chain = using.chain(money.chain_id) if hashes.is_native(money.token_address) else None
    listed = using.token(money.chain_id, money.token_address)
    stated = (
        chain.native_decimals if chain else None,
        listed.decimals if listed else None,
        money.metadata.decimals if money.metadata else None,
        money.decimals,
    )
    return (each for each in stated if each is not None)


def _differing_decimals(money: Money, *, using: Names) -> tuple[Mark, ...]:
    return warnings.of_decimals(tuple(_stated_decimals(money, using=using)), value=money.value)


def key(address: str) -> str:
    """Return the canonical form of a token address. Addresses that aren't hex are case-sensitive."""
    return hashes.ZERO_ADDRESS if hashes.is_native(address) else hashes.canonical_address(address) or address


def held(token: TokenBalance, *, inside: BalanceGroup) -> Money:
    """Return an address's balance of a token. A chain of 0, or none, is that of the address."""
    chain_id = token.chain_id or inside.chain_id
    stated = TokenMetadata(
        chain_id=chain_id, token_address=token.contract_address, symbol=token.symbol, decimals=token.decimals
    )
    return Money(token.balance, chain_id, token.contract_address, stated)


def symbol_of(
    chain_id: int | None, address: str | None, *, using: Names, metadata: TokenMetadata | TokenInfo | None = None
) -> str | None:
    """Return the symbol as received, unsanitized."""
    listed = using.token(chain_id, address)
    named = (metadata and metadata.symbol) or (listed and listed.symbol)
    chain = using.chain(chain_id) if hashes.is_native(address) and not named else None
    return named or (chain.native_symbol if chain else None)


def name_of(
    chain_id: int | None, address: str | None, *, using: Names, metadata: TokenMetadata | TokenInfo | None = None
) -> str | None:
    """Return the name as received, unsanitized."""
    listed = using.token(chain_id, address)
    return (metadata and metadata.name) or (listed.name if listed else None)


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
    coin: "icons.TokenIcon"

    @property
    def is_native(self) -> bool:
        return hashes.is_native(self.address)


def identity(
    chain_id: int | None, address: str | None, *, using: Names, metadata: TokenMetadata | TokenInfo | None = None
) -> Identity:
    """Combine `metadata`, which came with the token, with the token list. The same object until a name changes."""
    derived = using.derived
    if derived is None:
        return _identity(chain_id, address, using, metadata)
    key = (chain_id, address, *((metadata.symbol, metadata.name, metadata.decimals) if metadata else ()))
    known: Identity | None = derived.get(key)
    if known is None:
        known = _identity(chain_id, address, using, metadata)
        if len(repr(key)) <= LONGEST_KEY:
            if len(derived) >= MOST_IDENTITIES:
                derived.clear()
            derived[key] = known
    return known


def identity_of(money: Money, *, using: Names) -> Identity:
    """Return the token of an amount, with the warning about its decimals."""
    token = identity(money.chain_id, money.token_address, metadata=money.metadata, using=using)
    differing = _differing_decimals(money, using=using)
    if differing:
        others = tuple(mark for mark in token.marks if mark.word != warnings.DECIMALS)
        token = replace(token, marks=(*others, *differing))
    known = decimals(money, using=using)
    return token if token.decimals == known else replace(token, decimals=known)


def _identity(
    chain_id: int | None, address: str | None, using: Names, metadata: TokenMetadata | TokenInfo | None
) -> Identity:
    listed, of = using.token(chain_id, address), Money(None, chain_id, address, metadata)
    symbol = symbol_of(chain_id, address, using=using, metadata=metadata)
    name = name_of(chain_id, address, using=using, metadata=metadata)
    chain_info = using.chain(chain_id)
    chain = names.chain(chain_id, info=chain_info)
    standing = warnings.standing(chain_id, address, using=using)
    marks = warnings.marks(chain_id, address, symbol=symbol, name=name, using=using, known=standing)
    shown = text.symbol(symbol).shown
    return Identity(
        chain_id=chain_id,
        address=address,
        symbol=shown,
        name=text.name(name).shown,
        chain=chain,
        decimals=decimals(of, using=using),
        standing=standing,
        marks=(*marks, *_differing_decimals(of, using=using)),
        coin=icons.of_token(
            chain_id,
            address,
            symbol=shown,
            is_known=standing is not TokenStanding.UNLISTED and not marks,
            chain=icons.of_chain(chain_id, chain, logo_uri=chain_info.logo_uri if chain_info else None),
            logo_uri=listed.logo_uri if listed else None,
        ),
    )


def compared(value: int, other: int, *, of: Money, than: str, using: Names) -> str:
    """Return `0.09 USDC less than quoted`, or "" if equal. Both are in base units of the token in `of`."""
    if value == other:
        return ""
    apart = amount(replace(of, value=abs(value - other)), using=using)
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


def is_same_asset(one: Money, other: Money, *, using: Names) -> bool:
    """Return whether both are one token, or what the service lists as one token on two chains."""
    if is_same_token(one, other):
        return True
    tokens = [identity(each.chain_id, each.token_address, metadata=each.metadata, using=using) for each in (one, other)]
    are_listed = all(each.standing in warnings.TRUSTED and not each.marks for each in tokens)
    return are_listed and len({(each.symbol, each.decimals) for each in tokens}) == 1


def is_other_address(one: str | None, other: str | None) -> bool:
    return _differ(_folded(one), _folded(other))


def _differ[T](one: T | None, other: T | None) -> bool:
    return one is not None and other is not None and one != other


def _folded(address: str | None) -> str | None:
    """Fold the case of hex addresses. Other kinds of addresses are case-sensitive."""
    return (hashes.canonical_address(address) or address) if address else None
