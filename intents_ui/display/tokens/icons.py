"""Icons of tokens and chains.

Bundled icons belong to chain IDs and token addresses, never to names, because anyone can call a token USDC.
icons.json lists those on which two public lists agree, and static/img/coins.svg has the images. Testnet tokens have
no icon, because they have no value.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from intents_ui import tables
from intents_ui.display.formatting import text
from intents_ui.display.tokens import token_amounts

_known = tables.read(__package__, "icons.json")
CHAINS: Mapping[int, str] = {int(chain_id): picture for chain_id, picture in _known["chains"].items()}
TOKENS: Mapping[tuple[int, str], str] = {
    (int(chain_id), address): picture
    for chain_id, pictures in _known["tokens"].items()
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


def of_chain(chain_id: int | None, name: str, *, logo_uri: str | None = None) -> TokenIcon:
    """Return a chain's icon. `name` as shown, `logo_uri` as listed by the service."""
    picture = "" if chain_id is None else CHAINS.get(chain_id, "")
    return TokenIcon(text.bare(name)[:1], _hue(name), picture=picture, logo_uri=logo_uri)


def of_token(
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
    picture = "" if chain_id is None or address is None else TOKENS.get((chain_id, token_amounts.key(address)), "")
    return TokenIcon(monogram, _hue(symbol), chain, picture, logo_uri)


def _hue(name: str) -> int:
    return sum(map(ord, name)) % 8
