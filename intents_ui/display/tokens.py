"""A token's name and decimals, and an amount of it. Decimals are taken from whoever states them, never assumed."""

from intents_ui.display import amounts, hashes
from intents_ui.display.amounts import Amount
from intents_ui.display.facts import Money
from intents_ui.display.names import Names
from intents_ui.service.wire import TokenMetadata


def amount(money: Money, *, using: Names) -> Amount:
    known = decimals_of(money.chain_id, money.token_address, metadata=money.metadata, using=using)
    decimals = money.decimals if known is None else known
    symbol = symbol_of(money.chain_id, money.token_address, metadata=money.metadata, using=using)
    return amounts.amount(money.value, decimals=decimals, symbol=symbol or money.symbol)


def symbol_of(
    chain_id: int | None, address: str | None, *, using: Names, metadata: TokenMetadata | None = None
) -> str | None:
    """As received: whoever shows it makes it visible."""
    listed = using.token(chain_id, address)
    named = (metadata and metadata.symbol) or (listed and listed.symbol)
    return named or (_native_symbol(chain_id, using) if hashes.is_native(address) else None)


def decimals_of(
    chain_id: int | None, address: str | None, *, using: Names, metadata: TokenMetadata | None = None
) -> int | None:
    listed = using.token(chain_id, address)
    for source in (metadata, listed):
        if source and source.decimals is not None:
            return source.decimals
    chain = using.chain(chain_id) if hashes.is_native(address) else None
    return chain.native_decimals if chain else None


def _native_symbol(chain_id: int | None, using: Names) -> str | None:
    chain = using.chain(chain_id)
    return chain.native_symbol if chain else None
