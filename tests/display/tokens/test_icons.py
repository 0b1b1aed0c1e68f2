"""Icons: only for tokens that are known for certain, never for those that imitate them."""

import pytest

from intents_ui.display.tokens import icons, warnings
from intents_ui.display.tokens.icons import TokenIcon
from intents_ui.display.tokens.token_amounts import identity
from intents_ui.display.tokens.warnings import Mark
from intents_ui.service.wire.models import ChainInfo, TokenInfo, TokenMetadata
from tests.display.builders import ARBITRUM, BASE, CATALOGUE, USDC, USDC_ON_BASE, Catalogue, named

NATIVE = "0x" + "0" * 40
SPOOF = "0xef5753e624bb76c4daf0c837eff7ec1239cc8e7f"
# Icons whose name isn't the only symbol of their tokens.


def of_token(chain_id: int | None, address: str | None, *, symbol: str = "USDC", is_known: bool = True) -> TokenIcon:
    return icons.of_token(chain_id, address, symbol=symbol, is_known=is_known, chain=None)


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
    assert (coin.monogram, coin.hue, coin.picture, coin.logo) == ("USD", None, "", None)


class Logos(Catalogue):
    """Lists every chain and token with a logo."""

    def chain(self, chain_id: int | None) -> ChainInfo | None:
        return ChainInfo(id=chain_id or 0, name="Base", logo_uri="https://logos.example/chain.png")

    def token(self, chain_id: int | None, address: str | None) -> TokenInfo | None:
        return TokenInfo(chain_id=chain_id or 0, address=address or "", logo_uri="https://logos.example/token.png")


def test_the_logo_comes_from_the_services_list() -> None:
    coin = identity(BASE, USDC_ON_BASE, using=Logos()).coin
    assert coin.logo == icons.Logo(BASE, USDC_ON_BASE, "https://logos.example/token.png")
    assert coin.chain
    assert coin.chain.logo == icons.Logo(BASE, None, "https://logos.example/chain.png")


def test_a_token_with_a_warning_has_neither_icon_nor_logo(monkeypatch: pytest.MonkeyPatch) -> None:
    warning = Mark("lookalike letters", "It is not what it seems.")
    monkeypatch.setattr(warnings, "marks", lambda *token, **about: (warning,))
    coin = identity(BASE, USDC_ON_BASE, using=Logos()).coin
    assert (coin.hue, coin.picture, coin.logo) == (None, "", None)
