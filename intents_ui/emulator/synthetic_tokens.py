"""Synthetic tokens for long lists, with names that resemble common searches."""

from typing import Any, Final

from intents_ui.emulator import tables

_NAMES: Final = tables.read("synthetic_tokens.json")
# The lengths share no factor with each other or with usual numbers of chains, so every chain gets a mix.
_FIRST: Final[list[str]] = _NAMES["first"]
_SECOND: Final[list[tuple[str, str]]] = _NAMES["second"]
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
