"""Token identity for display: sanitized names, icon and warnings."""

from dataclasses import dataclass

from intents_ui.display.formatting import text
from intents_ui.display.tokens import icons, names, token_amounts, warnings
from intents_ui.display.tokens.icons import Coin
from intents_ui.display.tokens.names import Names
from intents_ui.display.tokens.warnings import Mark, Standing
from intents_ui.service.wire.models import TokenInfo, TokenMetadata


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
    symbol = token_amounts.symbol_of(chain_id, address, using=using, metadata=metadata)
    name = token_amounts.name_of(chain_id, address, using=using, metadata=metadata)
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
        decimals=token_amounts.decimals_of(chain_id, address, using=using, metadata=metadata),
        standing=standing,
        marks=marks,
        coin=icons.of_token(
            chain_id,
            address,
            symbol=shown,
            is_known=standing is not Standing.UNLISTED and not marks,
            chain=icons.of_chain(chain_id, chain, logo_uri=chain_info.logo_uri if chain_info else None),
            logo_uri=listed.logo_uri if listed else None,
        ),
    )
