"""Icons: only for tokens that are known for certain, never for those that imitate them."""

from intents_ui.service.models import TokenMetadata
from intents_ui.tokens.names import NO_NAMES
from intents_ui.tokens.token_amounts import identity
from tests.transfers.builders import ARBITRUM, BASE, CATALOGUE, USDC

NATIVE = "0x" + "0" * 40
SPOOF = "0xef5753e624bb76c4daf0c837eff7ec1239cc8e7f"


def test_an_icon_belongs_to_an_address() -> None:
    usdc, ether = "icons#usdc", "icons#ethereum"
    pictures = {(ARBITRUM, USDC): usdc, (BASE, USDC): "", (ARBITRUM, USDC[:-1] + "2"): "", (BASE, NATIVE): ether}
    for place, picture in pictures.items():
        assert identity(*place, using=NO_NAMES).coin.picture == picture


def test_a_token_with_a_famous_name_alone_has_no_icon() -> None:
    spoof = TokenMetadata(chain_id=BASE, token_address=SPOOF, name="USD Coin", symbol="USDC", decimals=6)
    coin = identity(BASE, SPOOF, using=CATALOGUE, metadata=spoof).coin
    assert (coin.monogram, coin.hue, coin.picture, coin.logo_uri) == ("USD", None, "", None)
