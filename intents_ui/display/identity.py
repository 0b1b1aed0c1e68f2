"""Token identity for display: sanitized names, icon and warnings."""

from dataclasses import dataclass

from intents_ui.display import coins, names, text, tokens, trust
from intents_ui.display.coins import Coin
from intents_ui.display.names import Names
from intents_ui.display.trust import Mark, Standing
from intents_ui.service.wire import TokenInfo, TokenMetadata


@dataclass(frozen=True)
class Identity:
    """A token. `symbol`, `name` and `chain` are sanitized, `address` is as received (None if unknown)."""

    chain_id: int | None
    address: str | None
    symbol: str
    name: str
    chain: str
    decimals: int | None
    standing: Standing
    marks: tuple[Mark, ...]
    coin: Coin

    @property
    def is_unlisted(self) -> bool:
        return self.standing is Standing.UNLISTED


def identity(
    chain_id: int | None, address: str | None, *, using: Names, metadata: TokenMetadata | TokenInfo | None = None
) -> Identity:
    """Combine `metadata`, which came with the token, with the token list."""
    listed = using.token(chain_id, address)
    symbol = tokens.symbol_of(chain_id, address, using=using, metadata=metadata)
    name = tokens.name_of(chain_id, address, using=using, metadata=metadata)
    chain_info = using.chain(chain_id)
    chain = names.chain(chain_id, info=chain_info)
    standing = trust.standing(chain_id, address, using=using)
    marks = trust.marks(chain_id, address, symbol=symbol, name=name, using=using, known=standing)
    shown = text.symbol(symbol).shown
    return Identity(
        chain_id=chain_id,
        address=address,
        symbol=shown,
        name=text.name(name).shown,
        chain=chain,
        decimals=tokens.decimals_of(chain_id, address, using=using, metadata=metadata),
        standing=standing,
        marks=marks,
        coin=coins.of_token(
            chain_id,
            address,
            symbol=shown,
            is_known=standing is not Standing.UNLISTED and not marks,
            chain=coins.of_chain(chain_id, chain, logo_uri=chain_info.logo_uri if chain_info else None),
            logo_uri=listed.logo_uri if listed else None,
        ),
    )
