"""The round picture beside a token or a chain.

Pictures of our own belong to chain ids and to addresses of tokens, never to names: anybody can call a token USDC. They
are in coins.json, for those that two public lists agree on, and drawn in static/img/coins.svg. What is on a testnet has
none, because it is worth nothing.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources

from intents_ui.display import text, tokens

_known = json.loads(resources.files(__package__).joinpath("coins.json").read_text("utf-8"))
CHAINS: Mapping[int, str] = {int(chain_id): picture for chain_id, picture in _known["chains"].items()}
TOKENS: Mapping[tuple[int, str], str] = {
    (int(chain_id), address): picture
    for chain_id, pictures in _known["tokens"].items()
    for address, picture in pictures.items()
}


@dataclass(frozen=True)
class Logo:
    """Where the service's list says that a token's logo is, or a chain's without an address."""

    chain_id: int
    address: str | None
    uri: str


@dataclass(frozen=True)
class Coin:
    """A picture over up to three characters on one of eight grounds, always the same for the same symbol.

    `picture`: one of our own, or empty. `logo`: a stranger's, where there is none of our own. `hue` None: a plain
    ground, for what is not to be taken for something known. `chain`: the small disc at its foot.
    """

    monogram: str
    hue: int | None
    chain: "Coin | None" = None
    picture: str = ""
    logo: Logo | None = None


def of_chain(chain_id: int | None, name: str, *, logo_uri: str | None = None) -> Coin:
    """`name` as it is shown, `logo_uri` as the service lists it."""
    picture = "" if chain_id is None else CHAINS.get(chain_id, "")
    return Coin(text.bare(name)[:1], _hue(name), picture=picture, logo=_logo(chain_id, None, logo_uri))


def of_token(
    chain_id: int | None,
    address: str | None,
    *,
    symbol: str,
    is_known: bool,
    chain: Coin | None,
    logo_uri: str | None = None,
) -> Coin:
    """`symbol` as it is shown, `logo_uri` as the service lists it.

    `is_known`: the service lists the token, or nobody can say that it does not, and no warning stands beside it. What
    is not known has letters on a plain ground, whatever its address."""
    monogram = "" if symbol == text.UNKNOWN else text.bare(symbol)[:3]
    if not is_known:
        return Coin(monogram, None, chain)
    picture = "" if chain_id is None or address is None else TOKENS.get((chain_id, tokens.key(address)), "")
    return Coin(monogram, _hue(symbol), chain, picture, _logo(chain_id, address, logo_uri))


def _hue(name: str) -> int:
    return sum(map(ord, name)) % 8


def _logo(chain_id: int | None, address: str | None, uri: str | None) -> Logo | None:
    return Logo(chain_id, address, uri) if chain_id is not None and uri else None
