"""Icons: only for tokens that are known for certain, never for those that imitate them."""

import json
import re
from importlib import resources
from pathlib import Path

import pytest

from intents_ui.display.tokens import icons, warnings
from intents_ui.display.tokens.icons import TokenIcon
from intents_ui.display.tokens.token_amounts import identity
from intents_ui.display.tokens.warnings import Mark
from intents_ui.service.wire.models import ChainInfo, TokenInfo, TokenMetadata
from tests.display.builders import ARBITRUM, BASE, CATALOGUE, ETHEREUM, USDC, USDC_ON_BASE, Catalogue

SPRITE = (Path(__file__).parents[3] / "static" / "img" / "coins.svg").read_text()
DRAWN = dict(re.findall(r'<symbol id="([^"]+)"(.*?)</symbol>', SPRITE))
NATIVE = "0x" + "0" * 40
SEPOLIA = 11155111
SPOOF = "0xef5753e624bb76c4daf0c837eff7ec1239cc8e7f"
# Icons whose name isn't the only symbol of their tokens.
SYMBOLS = {
    "apechain": "APE",
    "arbitrum": "ARB",
    "avalanche": "AVAX",
    "berachain": "BERA",
    "ethereum": "ETH",
    "hyperevm": "HYPE",
    "katana": "KAT",
    "monad": "MON",
    "optimism": "OP",
    "polygon": "POL",
    "sonic": "S",
}


def of_token(chain_id: int | None, address: str | None, *, symbol: str = "USDC", is_known: bool = True) -> TokenIcon:
    return icons.of_token(chain_id, address, symbol=symbol, is_known=is_known, chain=None)


def test_the_sprite_has_exactly_the_used_icons() -> None:
    assert set(DRAWN) == {*icons.CHAINS.values(), *icons.TOKENS.values()}


@pytest.mark.parametrize("drawn", DRAWN.values(), ids=DRAWN)
def test_an_icon_is_small_and_of_plain_shapes(drawn: str) -> None:
    assert len(drawn) < 3000
    assert set(re.findall(r"<([^ >]+)", drawn)) == {"path"}
    attributes = dict(re.findall(r'([a-z-]+)="([^"]*)"', drawn, re.IGNORECASE))
    assert set(attributes) <= {"d", "fill", "fill-rule", "stroke", "stroke-width", "viewBox"}
    assert re.sub(r' ([a-z-]+)="([0-9A-Za-z# .,-]*)"|<path|/>|>', "", drawn, flags=re.IGNORECASE) == ""


def test_the_sprite_has_only_its_icons() -> None:
    rest = re.sub(r"<symbol .*?</symbol>\n", "", SPRITE)
    assert rest == '<svg xmlns="http://www.w3.org/2000/svg">\n</svg>\n'
    assert len(DRAWN) == SPRITE.count("<symbol ")


def test_every_icon_matches_the_symbol_at_its_address() -> None:
    emulated = json.loads(resources.files("intents_ui.emulator").joinpath("data/tokens.json").read_text("utf-8"))
    listed = {(token["chainId"], token["address"].lower()): token["symbol"] for token in emulated}
    wrong = {
        place: (picture, listed.get(place))
        for place, picture in icons.TOKENS.items()
        if (listed.get(place) or "").lower() != SYMBOLS.get(picture, picture).lower()
    }
    assert wrong == {}


@pytest.mark.parametrize(
    ("chain_id", "address", "picture"),
    [
        pytest.param(ARBITRUM, USDC, "usdc", id="as the list writes it"),
        pytest.param(ARBITRUM, USDC.upper().replace("X", "x", 1), "usdc", id="in capitals"),
        pytest.param(ARBITRUM, USDC[2:], "usdc", id="without 0x"),
        pytest.param(BASE, USDC, "", id="on another chain"),
        pytest.param(ARBITRUM, USDC[:-1] + "2", "", id="one digit beside it"),
        pytest.param(BASE, NATIVE, "ethereum", id="native"),
        pytest.param(BASE, "0x" + "Ee" * 20, "ethereum", id="native by its other name"),
        pytest.param(SEPOLIA, NATIVE, "", id="of a testnet"),
        pytest.param(None, USDC, "", id="on no chain"),
        pytest.param(ARBITRUM, None, "", id="at no address"),
        pytest.param(ARBITRUM, "", "", id="at an empty address"),
        pytest.param(0, NATIVE, "", id="on chain 0"),
    ],
)
def test_an_icon_belongs_to_an_address(chain_id: int | None, address: str | None, picture: str) -> None:
    assert of_token(chain_id, address).picture == picture


def test_unknown_tokens_have_letters_on_a_plain_background() -> None:
    assert of_token(ARBITRUM, USDC, is_known=False) == TokenIcon("USD", None)


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


def test_a_chain_icon_follows_its_id_not_its_name() -> None:
    assert icons.of_chain(ETHEREUM, "Something").picture == "ethereum"
    assert icons.of_chain(SEPOLIA, "Ethereum").picture == ""
    assert icons.of_chain(None, "Ethereum").picture == ""


def test_bridged_usdt_on_base_has_the_icon_of_usdt() -> None:
    assert of_token(BASE, "0xfde4c96c8593536e31f229ea8f37b2ada2699bb2", symbol="USDT").picture == "usdt"
