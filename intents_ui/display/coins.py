"""The round picture beside a token or a chain."""

from dataclasses import dataclass

from intents_ui.display import text


@dataclass(frozen=True)
class Coin:
    """Up to three characters on one of eight grounds, always the same for the same symbol.

    `hue` None: a plain ground, for what is not to be taken for something known. `chain`: the small disc at its foot.
    """

    monogram: str
    hue: int | None
    chain: "Coin | None" = None


def of_chain(chain_id: int | None, name: str) -> Coin:
    """`name` as it is shown."""
    return Coin(name[:1], sum(map(ord, name)) % 8)


def of_token(chain_id: int | None, address: str | None, *, symbol: str, is_known: bool, chain: Coin | None) -> Coin:
    """`symbol` as it is shown. `is_known`: the service lists the token, or nobody can say that it does not."""
    monogram = "" if symbol == text.UNKNOWN else symbol[:3]
    return Coin(monogram, sum(map(ord, symbol)) % 8 if is_known else None, chain)
