"""A token's identity for display, and its amounts.

Decimals come from whichever source states them and are never assumed.
"""

from dataclasses import dataclass, replace

from intents_ui.display.formatting import amounts, hashes, text
from intents_ui.display.formatting.amounts import Amount
from intents_ui.display.tokens import icons, names, warnings
from intents_ui.display.tokens.names import Names
from intents_ui.display.tokens.warnings import Mark, TokenStanding
from intents_ui.service.wire.models import BalanceGroup, TokenBalance, TokenInfo, TokenMetadata


@dataclass(frozen=True)
class Money:
    """An amount of a token in base units. `metadata` is the receipt's description of the token.

    `decimals` came with the amount, for a token without another description.
    """

    value: int | None
    chain_id: int | None
    token_address: str | None
    metadata: TokenMetadata | None = None
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
    """Return the token's warnings."""
    place, metadata = (money.chain_id, money.token_address), money.metadata
    symbol = symbol_of(*place, metadata=metadata, using=using)
    return warnings.marks(*place, symbol=symbol, name=name_of(*place, metadata=metadata, using=using), using=using)


def decimals(money: Money, *, using: Names) -> int | None:
    """Return the known decimals of the token, otherwise those that came with the amount."""
    known = decimals_of(money.chain_id, money.token_address, metadata=money.metadata, using=using)
    return money.decimals if known is None else known


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
    return named or (_native_symbol(chain_id, using) if hashes.is_native(address) else None)


def decimals_of(
    chain_id: int | None, address: str | None, *, using: Names, metadata: TokenMetadata | TokenInfo | None = None
) -> int | None:
    listed = using.token(chain_id, address)
    for source in (metadata, listed):
        if source and source.decimals is not None:
            return source.decimals
    chain = using.chain(chain_id) if hashes.is_native(address) else None
    return chain.native_decimals if chain else None


def name_of(
    chain_id: int | None, address: str | None, *, using: Names, metadata: TokenMetadata | TokenInfo | None = None
) -> str | None:
    """Return the name as received, unsanitized."""
    listed = using.token(chain_id, address)
    return (metadata and metadata.name) or (listed.name if listed else None)


def _native_symbol(chain_id: int | None, using: Names) -> str | None:
    chain = using.chain(chain_id)
    return chain.native_symbol if chain else None


@dataclass(frozen=True)
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


def identity(
    chain_id: int | None, address: str | None, *, using: Names, metadata: TokenMetadata | TokenInfo | None = None
) -> Identity:
    """Combine `metadata`, which came with the token, with the token list."""
    listed = using.token(chain_id, address)
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
        decimals=decimals_of(chain_id, address, using=using, metadata=metadata),
        standing=standing,
        marks=marks,
        coin=icons.of_token(
            chain_id,
            address,
            symbol=shown,
            is_known=standing is not TokenStanding.UNLISTED and not marks,
            chain=icons.of_chain(chain_id, chain, logo_uri=chain_info.logo_uri if chain_info else None),
            logo_uri=listed.logo_uri if listed else None,
        ),
    )
