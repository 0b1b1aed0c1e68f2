"""Synthetic tokens for long lists, with names that resemble common searches."""

from typing import Any, Final

# The lengths share no factor with each other or with usual numbers of chains, so every chain gets a mix.
_WORDS: Final = (
    "Amber Anchor Apex Arctic Aster Atlas Aurora Azure Basalt Beacon Birch Bolt Bronze Cedar Cinder Cobalt Comet"
    " Coral Copper Crystal Delta Drift Dusk Eagle Ember Falcon Fern Flint Frost Garnet Glacier Granite Harbor"
    " Hazel Helix Heron Indigo Iris Ivory Jade Juniper Kestrel Lagoon Lantern Linden Lotus Lunar Maple Marble"
    " Meadow Mint Nebula Nimbus Nova Ocean Olive Onyx Opal Orbit Orchid Otter Pearl Pine Quartz Raven Ridge River"
    " Ruby Saffron Sierra Solar Summit Tidal Topaz Umber Velvet Willow Zenith Zephyr ).split("
)
_FIRST: Final = _WORDS.split()
_SECOND: Final = (
    ("Dollar", "USD"),
    ("Euro", "EUR"),
    ("Staked Ether", "ETH"),
    ("Wrapped Bitcoin", "BTC"),
    ("Gold", "AU"),
    ("Silver", "AG"),
    ("Finance", "FI"),
    ("Protocol", "P"),
    ("Network", "N"),
    ("Governance", "GOV"),
    ("Swap", "SWAP"),
    ("Lend", "LEND"),
    ("Yield", "YLD"),
    ("Vault", "VLT"),
    ("Bridge", "BRG"),
    ("Perpetual", "PERP"),
    ("Index", "DEX"),
    ("Treasury Bill", "TB"),
    ("Storage", "STO"),
    ("Compute", "CMP"),
    ("Oracle", "ORC"),
    ("Game", "GG"),
    ("Music", "MUS"),
    ("Cat", "CAT"),
    ("Inu", "INU"),
    ("Frog", "FROG"),
    ("Credit", "CRD"),
    ("Energy", "NRG"),
    ("Carbon", "CO"),
    ("Coin", "C"),
    ("Points", "PTS"),
)
_DECIMALS: Final = (18, 6, 8)
_LETTERS: Final = 4


def fillers(count: int, chain_ids: tuple[int, ...]) -> list[dict[str, Any]]:
    """Return name, symbol, decimals and listing of each token. The catalog assigns the addresses."""
    return [_filler(number, chain_ids[number % len(chain_ids)]) for number in range(max(0, count))]


def _filler(number: int, chain_id: int) -> dict[str, Any]:
    """Return one token.

    Three in four are listed, the rest are on external lists. From the 2450th on, names are numbered.
    """
    first, (second, letters) = _FIRST[number % len(_FIRST)], _SECOND[number % len(_SECOND)]
    series = number // (len(_FIRST) * len(_SECOND))
    later = f" {series + 1}" if series else ""
    return {
        "chain_id": chain_id,
        "name": f"{first} {second}{later}",
        "symbol": f"{first[:_LETTERS].upper()}{letters}{later.strip()}",
        "decimals": _DECIMALS[number % len(_DECIMALS)],
        "listing": "listed" if number % 4 else "external",
    }
