"""Icons: only for tokens that are known for certain, never for those that imitate them."""

import pytest

from intents_ui.service.models import TokenMetadata
from intents_ui.tokens import token_amounts
from intents_ui.tokens.token_amounts import TokenIcon, identity
from tests.transfers.builders import ARBITRUM, BASE, CATALOGUE, USDC, named

NATIVE = "0x" + "0" * 40
SPOOF = "0xef5753e624bb76c4daf0c837eff7ec1239cc8e7f"
# Icons whose name isn't the only symbol of their tokens.


def of_token(chain_id: int | None, address: str | None, *, symbol: str = "USDC", is_known: bool = True) -> TokenIcon:
    return token_amounts.token_icon(chain_id, address, symbol=symbol, is_known=is_known, chain=None)


@pytest.mark.parametrize(
    ("chain_id", "address", "picture"),
    named(
        ("as the list writes it", ARBITRUM, USDC, "usdc"),
        ("on another chain", BASE, USDC, ""),
        ("one digit beside it", ARBITRUM, USDC[:-1] + "2", ""),
        ("native", BASE, NATIVE, "ethereum"),
    ),
)
def test_an_icon_belongs_to_an_address(chain_id: int | None, address: str | None, picture: str) -> None:
    assert of_token(chain_id, address).picture == picture


def test_a_token_with_a_famous_name_alone_has_no_icon() -> None:
    spoof = TokenMetadata(chain_id=BASE, token_address=SPOOF, name="USD Coin", symbol="USDC", decimals=6)
    coin = identity(BASE, SPOOF, using=CATALOGUE, metadata=spoof).coin
    assert (coin.monogram, coin.hue, coin.picture, coin.logo_uri) == ("USD", None, "", None)
